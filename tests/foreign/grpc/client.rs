//! Our client before grpcio's server: every line that it prints held.

use std::time::{Duration, Instant};

use steadfast::retry::RetryConfig;
use steadfast::retry::{Retry, RetryLayer};
use steadfast::tonic::{
    DestinationLayer, Leaf, LeafLayer, NamedDestination, ServiceConfig, ServiceConfigLayer,
    StatusLayer, TonicClassify, WithServiceConfig, WithStatus,
};
use steadfast::{Backoff, BoxError, CallState, Failure, Reason, Safety};
use steadfast_greeter::HelloRequest;
use steadfast_greeter::greeter_client::GreeterClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tower::ServiceBuilder;

type Greeter = GreeterClient<WithStatus<NamedDestination<WithServiceConfig<Retry<Leaf<Channel>>>>>>;

const POLICY: &str = r#"{ "methodConfig": [{ "name": [{ "service": "greeter.v1.Greeter" }],
    "retryPolicy": { "maxAttempts": 4, "initialBackoff": "0.01s", "maxBackoff": "0.02s",
        "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"] } }],
    "retryThrottling": { "maxTokens": 1000, "tokenRatio": 1 } }"#;

fn client(channel: &Channel, service: &str) -> Result<Greeter, BoxError> {
    let service = ServiceConfig::from_json(service)?;
    let retry = RetryConfig::new()
        .with_backoff(Backoff::default().with_base(Duration::from_millis(10)))
        .with_classify(TonicClassify::default());
    let stack = ServiceBuilder::new()
        .layer(StatusLayer::new())
        .layer(DestinationLayer::new("grpcio"))
        .layer(ServiceConfigLayer::new(service.clone()))
        .layer(RetryLayer::new(service.retry_config(retry)))
        .layer(LeafLayer::new())
        .service(channel.clone());
    Ok(GreeterClient::new(stack))
}

async fn say(client: &mut Greeter, name: &str) -> Result<String, Status> {
    let mut request = Request::new(HelloRequest {
        name: name.to_owned(),
    });
    let mut state = CallState::new();
    state.set_safety(Safety::Idempotent);
    request.extensions_mut().insert(state);
    let answer = client.say_hello(request).await?;
    Ok(answer.into_inner().text)
}

fn reason(status: &Status) -> Option<Reason> {
    Failure::find(status)?.report().reason
}

#[tokio::main(flavor = "current_thread")]
#[allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test, with another process and its clock on the other side"
)]
async fn main() -> Result<(), BoxError> {
    let port = std::env::args().nth(1).ok_or("the port of the server")?;
    let channel = Endpoint::from_shared(format!("http://127.0.0.1:{port}"))?.connect_lazy();
    let mut configured = client(&channel, POLICY)?;

    // A status in the head, three times: grpcio's `abort` before anything was sent.
    assert_eq!(
        say(&mut configured, "unavailable:3").await?,
        "hello after 3"
    );
    assert_eq!(
        say(&mut configured, "told:unavailable:3").await?,
        "4 -,1,2,3"
    );
    println!("UNAVAILABLE three times is cured by the fourth attempt, each with its number");

    let status = say(&mut configured, "unavailable:9").await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unavailable, "restarting")
    );
    assert_eq!(reason(&status), Some(Reason::AttemptsExhausted));
    println!("after four attempts the last status comes back");

    for (pushback, want) in [("300", true), ("0", true), ("-1", false), ("soon", false)] {
        let began = Instant::now();
        let name = format!("pushback:{pushback}");
        let answered = say(&mut configured, &name).await;
        let took = began.elapsed();
        match (answered, want) {
            (Ok(text), true) => assert_eq!(text, "hello after 1"),
            (Err(status), false) => assert_eq!(reason(&status), Some(Reason::PeerSaidNo)),
            (answered, _) => return Err(format!("{name}: {answered:?}").into()),
        }
        assert!(
            pushback != "300" || took >= Duration::from_millis(300),
            "{took:?}"
        );
        println!(
            "pushback {pushback}: {}",
            if want {
                "repeated then"
            } else {
                "not repeated"
            }
        );
    }

    let status = say(&mut configured, "invalid").await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(say(&mut configured, "told:invalid").await?, "1 -");
    println!("INVALID_ARGUMENT is final");

    let late = say(&mut configured, "late:config").await.unwrap_err();
    assert_eq!(late.code(), Code::Unavailable);
    assert_eq!(say(&mut configured, "told:late:config").await?, "1 -");
    let mut plain = client(&channel, "{}")?;
    assert_eq!(say(&mut plain, "late:plain").await?, "hello after 1");
    println!("late trailers: final under a service config, repeated without one");
    Ok(())
}
