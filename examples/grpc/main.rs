//! A generated client over the whole stack, told by a service config what it may repeat, and a
//! tonic server that knows how long its callers wait.
//!
//! `cargo run --example grpc` starts a server on the loopback interface, calls it a few times,
//! prints what came of it, and ends.

use std::time::Duration;

use steadfast::client::{Budgets, Draft, Profile, Standard, StandardLayer};
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer};
use steadfast::retry::RetryConfig;
use steadfast::tonic::{
    DestinationLayer, Leaf, LeafLayer, NamedDestination, ServiceConfig, ServiceConfigLayer,
    StatusLayer, TonicClassify, WithServiceConfig, WithStatus,
};
use steadfast::{BoxError, Failure};
use steadfast_greeter::HelloRequest;
use steadfast_greeter::greeter_client::GreeterClient;
use steadfast_greeter::greeter_server::GreeterServer;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Status};
use tower::ServiceBuilder;

mod server;

/// A stack has a name, so a client can stand in a struct.
type Greeter =
    GreeterClient<WithStatus<NamedDestination<WithServiceConfig<Standard<Leaf<Channel>>>>>>;

fn client(channel: Channel) -> Result<Greeter, BoxError> {
    let service = ServiceConfig::from_json(include_str!("service_config.json"))?;
    // What the owner says of all methods: throttling, RetryInfo.
    let retry = service.retry_config(RetryConfig::new());
    let mut draft = Draft::of(Profile::InteractiveRead).with_retry(retry);
    if let Some(budgets) = service.budgets() {
        draft = draft.with_budgets(Budgets::handle(budgets));
    }
    let standard = StandardLayer::new(draft.check()?).with_classify(TonicClassify::default());
    let stack = ServiceBuilder::new()
        .layer(StatusLayer::new())
        .layer(DestinationLayer::new("greeter.example"))
        .layer(ServiceConfigLayer::new(service))
        .layer(standard)
        .layer(LeafLayer::new())
        .service(channel);
    Ok(GreeterClient::new(stack))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let uri = format!("http://{}", listener.local_addr()?);
    let serving = tokio::spawn(
        Server::builder()
            .layer(InboundDeadlineLayer::new(InboundConfig::default()))
            .add_service(GreeterServer::new(server::Moody::default()))
            .serve_with_incoming(TcpListenerStream::new(listener)),
    );
    let mut greeter = client(Endpoint::from_shared(uri)?.connect_lazy())?;

    for name in [
        "is unavailable twice",
        "asks for 200 ms",
        "never wants it again",
        "takes it for a bad argument",
        "hangs",
    ] {
        let began = Instant::now();
        let request = Request::new(HelloRequest {
            name: name.to_owned(),
        });
        let answer = greeter.say_hello(request).await;
        show(
            "SayHello",
            name,
            answer.map(|answer| answer.into_inner().text),
            began.elapsed(),
        );
    }
    // No retryPolicy: nobody said that it may be repeated.
    let began = Instant::now();
    let request = tokio_stream::iter([HelloRequest {
        name: "is unavailable twice".to_owned(),
    }]);
    let answer = greeter.collect(request).await;
    show(
        "Collect",
        "is unavailable twice",
        answer.map(|answer| answer.into_inner().text),
        began.elapsed(),
    );

    let refused = ServiceConfig::from_json(
        r#"{ "methodConfig": [{ "name": [{}], "retryPolicy": { "maxAttempts": 1 } }] }"#,
    );
    if let Err(error) = refused {
        println!("\na config that breaks a rule says which:\n  {error}");
    }
    serving.abort();
    Ok(())
}

fn show(method: &str, name: &str, answer: Result<String, Status>, took: Duration) {
    println!("\n{method}, a server that {name}: {} ms", took.as_millis());
    match answer {
        Ok(text) => println!("  OK: {text}"),
        Err(status) => {
            println!("  {:?}: {}", status.code(), status.message());
            if let Some(failure) = Failure::find(&status) {
                let report = failure.report();
                let reason = report.reason.map_or("-", |reason| reason.as_str());
                let outcome = report.outcome.as_str();
                println!(
                    "  {} attempts, {reason}, outcome {outcome}",
                    report.attempts
                );
            }
        }
    }
}
