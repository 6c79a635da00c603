use std::sync::Arc;

use http::{HeaderMap, Request};
use steadfast_core::{AttemptHeader, grpc};

use super::count::Counter;

/// What tells a [`BudgetLayer`](super::BudgetLayer) which attempt of its call a request is.
///
/// A header is to be declared only where the loop whose attempts pass here writes it: the same
/// header, forwarded from one's own caller, counts somebody else's attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptMark {
    /// The counter that a [`CountAttemptsLayer`](super::CountAttemptsLayer) above the loop puts
    /// into the extensions.
    #[default]
    Counter,
    /// `x-envoy-attempt-count`: from 1, as Envoy writes it to upstreams
    /// (`include_request_attempt_count`). Absent, zero or unreadable is no mark.
    EnvoyAttemptCount,
    /// `grpc-previous-rpc-attempts` (gRFC A6): absent on the first attempt, so that its absence
    /// is a mark too. An unreadable one is none.
    GrpcPreviousAttempts,
    /// `amz-sdk-request`: `attempt=N` among its parameters, from 1, as AWS's SDKs write it.
    AmzSdkRequest,
}

/// Which attempt a request is, as far as can be known.
pub(super) enum Place {
    First(Option<Arc<Counter>>),
    Later(Option<Arc<Counter>>),
    Unmarked,
}

impl AttemptMark {
    /// Counts the attempt, where counting is up to us.
    pub(super) fn place_of<B>(self, request: &Request<B>) -> Place {
        let number = match self {
            Self::Counter => {
                return match Counter::of(request.extensions()) {
                    None => Place::Unmarked,
                    Some(counter) if counter.count_one() => Place::First(Some(counter)),
                    Some(counter) => Place::Later(Some(counter)),
                };
            }
            Self::EnvoyAttemptCount => AttemptHeader::Envoy.read(request.headers()),
            Self::GrpcPreviousAttempts => grpc_attempt(request.headers()),
            Self::AmzSdkRequest => AttemptHeader::Amz.read(request.headers()),
        };
        match number {
            None | Some(0) => Place::Unmarked,
            Some(1) => Place::First(None),
            Some(_) => Place::Later(None),
        }
    }
}

fn grpc_attempt(headers: &HeaderMap) -> Option<u32> {
    match headers.contains_key(grpc::PREVIOUS_ATTEMPTS) {
        true => AttemptHeader::Grpc.read(headers),
        false => Some(1),
    }
}
