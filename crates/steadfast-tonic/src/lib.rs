#![doc = include_str!("../README.md")]

mod classify;
mod clock;
mod destination;
mod http_status;
mod leaf;
mod retry_info;
mod service_config;
mod status;

pub use classify::TonicClassify;
pub use destination::{DestinationLayer, NamedDestination};
pub use http_status::{NotGrpc, code_of_http};
pub use leaf::{Leaf, LeafLayer};
pub use retry_info::{MAX_DETAILS, RetryInfo, STATUS_DETAILS, UnreadableDetails, hints};
pub use service_config::{
    InvalidServiceConfig, MAX_ATTEMPTS, MethodConfig, RetryPolicy, RetryThrottling, ServiceConfig,
    ServiceConfigLayer, WithServiceConfig,
};
pub use status::{StatusBody, StatusFuture, StatusLayer, WithStatus, status_of};
