//! By when must this request be answered?

use http::{Extensions, HeaderMap};
use steadfast_core::grpc::Transport;
use steadfast_core::{CallContext, CallState, Deadline};

/// The earlier of the deadline that travels with the request and that of the request being served.
#[inline]
pub(crate) fn due(extensions: &Extensions) -> Deadline {
    let stated = CallState::of(extensions).map_or(Deadline::NONE, CallState::deadline);
    stated.earliest(CallContext::current_deadline())
}

/// Whether these are the headers of a gRPC message; gRPC-Web carries the same timeout.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    Transport::of(headers).is_some()
}
