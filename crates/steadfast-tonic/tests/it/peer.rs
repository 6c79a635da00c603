//! The client's side: stacks and what came of a call.

use std::time::Duration;

use steadfast_core::{Backoff, CallState, Failure, Reason, Report, Safety};
use steadfast_greeter::HelloRequest;
use steadfast_greeter::greeter_client::GreeterClient;
use steadfast_retry::{Retry, RetryConfig, RetryLayer};
use steadfast_tonic::{
    DestinationLayer, Leaf, LeafLayer, NamedDestination, ServiceConfig, ServiceConfigLayer,
    StatusLayer, TonicClassify, WithServiceConfig, WithStatus,
};
use tonic::transport::Channel;
use tonic::{Request, Status};
use tower::ServiceBuilder;

pub(crate) type Stack = WithStatus<NamedDestination<WithServiceConfig<Retry<Leaf<Channel>>>>>;
pub(crate) type Client = GreeterClient<Stack>;

pub(crate) const QUICK: Duration = Duration::from_millis(1);

/// Quick, so that a real clock is soon done.
pub(crate) fn config() -> RetryConfig {
    RetryConfig::new()
        .with_backoff(
            Backoff::default()
                .with_base(QUICK)
                .with_throttled_base(QUICK),
        )
        .with_budget(plenty())
        .with_classify(TonicClassify::default())
        .with_hints(steadfast_tonic::hints())
}

/// A budget that refuses nobody here.
pub(crate) fn plenty() -> steadfast_core::budget::RatioBudget {
    let ratio = steadfast_core::Ratio::percent(10_000).unwrap();
    steadfast_core::budget::RatioBudget::new(ratio)
}

pub(crate) fn stack(channel: Channel, service: ServiceConfig, retry: RetryConfig) -> Stack {
    ServiceBuilder::new()
        .layer(StatusLayer::new())
        .layer(DestinationLayer::new("greeter.example"))
        .layer(ServiceConfigLayer::new(service))
        .layer(RetryLayer::new(retry))
        .layer(LeafLayer::new())
        .service(channel)
}

/// Without a service config.
pub(crate) fn client(channel: Channel, retry: RetryConfig) -> Client {
    GreeterClient::new(stack(channel, ServiceConfig::default(), retry))
}

/// With this service config, as its owner wants it.
pub(crate) fn configured(channel: Channel, json: &str) -> Client {
    let service = ServiceConfig::from_json(json).unwrap();
    let retry = service.retry_config(config());
    GreeterClient::new(stack(channel, service, retry))
}

/// A policy for all methods: attempts, codes, whatever else.
pub(crate) fn policy(attempts: u32, codes: &str, more: &str) -> String {
    format!(
        r#"{{ "methodConfig": [{{ "name": [{{}}], "retryPolicy": {{
            "maxAttempts": {attempts}, "initialBackoff": "0.001s", "maxBackoff": "0.002s",
            "backoffMultiplier": 2, "retryableStatusCodes": [{codes}] }} }}] {more} }}"#
    )
}

pub(crate) fn hello() -> Request<HelloRequest> {
    Request::new(HelloRequest {
        name: "you".to_owned(),
    })
}

/// A call that may be repeated, as its caller says.
pub(crate) fn idempotent() -> Request<HelloRequest> {
    let mut request = hello();
    let extensions = request.extensions_mut();
    let mut state = CallState::new();
    state.set_safety(Safety::Idempotent);
    extensions.insert(state);
    request
}

pub(crate) fn report(status: &Status) -> &Report {
    Failure::find(status).expect("a report").report()
}

pub(crate) fn reason(status: &Status) -> Option<Reason> {
    report(status).reason
}
