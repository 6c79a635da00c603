use std::sync::Arc;

use http::{HeaderMap, Request};
use steadfast_core::grpc;

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
            Self::EnvoyAttemptCount => envoy(request.headers()),
            Self::GrpcPreviousAttempts => grpc_attempt(request.headers()),
            Self::AmzSdkRequest => amz(request.headers()),
        };
        match number {
            None | Some(0) => Place::Unmarked,
            Some(1) => Place::First(None),
            Some(_) => Place::Later(None),
        }
    }
}

fn envoy(headers: &HeaderMap) -> Option<u32> {
    let value = headers.get("x-envoy-attempt-count")?;
    value.to_str().ok()?.trim().parse().ok()
}

fn grpc_attempt(headers: &HeaderMap) -> Option<u32> {
    if !headers.contains_key(grpc::PREVIOUS_ATTEMPTS) {
        return Some(1);
    }
    Some(grpc::previous_attempts(headers)?.saturating_add(1))
}

/// `attempt=1; max=3`, in any order, also with `ttl`.
fn amz(headers: &HeaderMap) -> Option<u32> {
    let value = headers.get("amz-sdk-request")?.to_str().ok()?;
    value.split(';').find_map(|parameter| {
        let (name, number) = parameter.split_once('=')?;
        let is_attempt = name.trim().eq_ignore_ascii_case("attempt");
        is_attempt.then(|| number.trim().parse().ok())?
    })
}
