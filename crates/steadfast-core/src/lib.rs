#![doc = include_str!("../README.md")]

mod attempt_header;
pub mod backoff;
pub mod budget;
mod call_state;
mod chain;
mod classify;
mod context;
mod deadline;
pub mod decide;
mod delivery;
mod destination_key;
mod elapsed;
mod endpoint;
mod event;
mod failure;
pub mod grpc;
pub mod hint;
pub mod keyed;
pub mod order;
mod owner;
mod owner_mark;
mod precondition;
mod random;
mod ratio;
mod reading;
mod reason;
mod rejected;
mod report;
mod rule;
mod safety;
mod sync;
mod verdict;
pub mod window;
mod wire_timeout;

pub use attempt_header::{AttemptHeader, STEADFAST_ATTEMPT};
pub use backoff::{Backoff, Jitter};
pub use budget::Budget;
pub use call_state::{Attempt, CallKey, CallState, destination, destination_of};
pub use chain::{Chain, chain, downcast_ref};
pub use classify::{Answer, Classify, DefaultClassify, delivery_of_status};
pub use context::{
    CallContext, Criticality, InContext, in_context, in_current_context, without_context,
};
pub use deadline::Deadline;
pub use delivery::Delivery;
pub use destination_key::DestinationKey;
pub use elapsed::{Cut, Elapsed};
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use event::{
    AdmissionRefused, AttemptResult, Attempted, CircuitChanged, CircuitState, CooldownBegan, Ended,
    Event, FellBack, IgnoredHeader, Inbound, Observe, Subject,
};
pub use failure::Failure;
pub use hint::{Hint, HintSource, Hints, ResetUnit};
pub use order::{LayerKind, Misordered};
pub use owner::{Owned, is_owned, own};
pub use owner_mark::{Allowance, Owner, OwnerMark};
pub use precondition::Preconditions;
pub use random::{Draws, Random};
pub use ratio::{InvalidRatio, Ratio};
pub use reading::{at_once, now_or, reading};
pub use reason::Reason;
pub use rejected::Rejected;
pub use report::{Outcome, Report};
pub use rule::RouteRule;
pub use safety::{Safety, SafetySources};
pub use verdict::Verdict;
pub use wire_timeout::{Announced, InvalidTimeout, TimeoutFormat, TimeoutHeader};

/// An error of any type, as tower boxes it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
