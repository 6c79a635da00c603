//! Generated clients over the whole client stack, tonic's server under the whole server stack.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use steadfast::client::{Budgets, Draft, Profile, StandardLayer};
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer};
use steadfast::retry::RetryConfig;
use steadfast::tonic::{
    DestinationLayer, LeafLayer, ServiceConfig, ServiceConfigLayer, StatusLayer, TonicClassify,
};
use steadfast::{Failure, Reason, Rejected, server};
use steadfast_greeter::greeter_client::GreeterClient;
use steadfast_greeter::greeter_server::{Greeter, GreeterServer};
use steadfast_greeter::{HelloReply, HelloRequest};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::client::GrpcService;
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};
use tower::ServiceBuilder;

const SECOND: Duration = Duration::from_secs(1);

/// Answers `unavailable` so many times, hangs, says hello, or asks the next one.
#[derive(Clone, Default)]
struct Scripted {
    failures: Arc<Mutex<u32>>,
    told: Arc<Mutex<Vec<Duration>>>,
    next: Option<Channel>,
}

impl Scripted {
    fn failing(times: u32) -> Self {
        let this = Self::default();
        *this.failures.lock().unwrap() = times;
        this
    }

    fn calls(&self) -> usize {
        self.told.lock().unwrap().len()
    }
}

#[tonic::async_trait]
impl Greeter for Scripted {
    async fn say_hello(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloReply>, Status> {
        let told = request.metadata().get("grpc-timeout");
        let told = told.map_or(Duration::ZERO, |told| time(told.to_str().unwrap()));
        self.told.lock().unwrap().push(told);
        if let Some(next) = &self.next {
            return standard(next.clone(), "{}").say_hello(hello()).await;
        }
        let fails = {
            let mut failures = self.failures.lock().unwrap();
            let fails = *failures > 0;
            *failures = failures.saturating_sub(1);
            fails
        };
        match (fails, &*request.get_ref().name) {
            (true, _) => Err(Status::unavailable("restarting")),
            (false, "hang") => std::future::pending().await,
            (false, name) => Ok(Response::new(HelloReply {
                text: name.to_owned(),
            })),
        }
    }

    type ListHellosStream = tokio_stream::Empty<Result<HelloReply, Status>>;

    async fn list_hellos(
        &self,
        _: Request<HelloRequest>,
    ) -> Result<Response<Self::ListHellosStream>, Status> {
        Ok(Response::new(tokio_stream::empty()))
    }

    async fn collect(
        &self,
        _: Request<Streaming<HelloRequest>>,
    ) -> Result<Response<HelloReply>, Status> {
        Err(Status::unimplemented("not here"))
    }

    type ChatStream = Self::ListHellosStream;

    async fn chat(
        &self,
        _: Request<Streaming<HelloRequest>>,
    ) -> Result<Response<Self::ChatStream>, Status> {
        Err(Status::unimplemented("not here"))
    }
}

fn time(told: &str) -> Duration {
    let (number, unit) = told.split_at(told.len() - 1);
    let number = number.parse().unwrap();
    match unit {
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        other => panic!("{other}"),
    }
}

fn hello() -> Request<HelloRequest> {
    Request::new(HelloRequest {
        name: "you".to_owned(),
    })
}

const POLICY: &str = r#"{ "methodConfig": [{
    "name": [{ "service": "greeter.v1.Greeter" }],
    "retryPolicy": { "maxAttempts": 3, "initialBackoff": "0.001s", "maxBackoff": "0.002s",
        "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"] } }],
    "retryThrottling": { "maxTokens": 100, "tokenRatio": 0.1 } }"#;

/// A whole stack whose circuit opens at the third failure in a row.
fn standard(
    channel: Channel,
    config: &str,
) -> GreeterClient<
    impl GrpcService<
        tonic::body::Body,
        Error = Status,
        Future: Send,
        ResponseBody: http_body::Body<Data = bytes::Bytes, Error = Status> + Send + 'static,
    > + Clone,
> {
    let service = ServiceConfig::from_json(config).unwrap();
    let draft = Draft::of(Profile::Default);
    let three = 3.try_into().unwrap();
    let breaker = draft.breaker().clone().with_consecutive_failures(three);
    let retry = service.retry_config(RetryConfig::new());
    let mut draft = draft.with_retry(retry).with_breaker(breaker);
    if let Some(budgets) = service.budgets() {
        draft = draft.with_budgets(Budgets::handle(budgets));
    }
    let layer = StandardLayer::new(draft.check().unwrap());
    let stack = ServiceBuilder::new()
        .layer(StatusLayer::new())
        .layer(DestinationLayer::new("greeter.example"))
        .layer(ServiceConfigLayer::new(service))
        .layer(layer.with_classify(TonicClassify::default()))
        .layer(LeafLayer::new())
        .service(channel);
    GreeterClient::new(stack)
}

async fn listen() -> (TcpListenerStream, Channel) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    let channel = Endpoint::from_shared(uri).unwrap().connect_lazy();
    (TcpListenerStream::new(listener), channel)
}

/// Under the deadline layer.
async fn serve(scripted: Scripted) -> (Channel, JoinHandle<()>) {
    let (incoming, channel) = listen().await;
    let serving = tokio::spawn(async move {
        let mut server =
            Server::builder().layer(InboundDeadlineLayer::new(InboundConfig::default()));
        let server = server.add_service(GreeterServer::new(scripted));
        server.serve_with_incoming(incoming).await.unwrap();
    });
    (channel, serving)
}

#[tokio::test]
async fn a_generated_client_over_the_standard_stack_repeats_what_its_config_declares() {
    let scripted = Scripted::failing(2);
    let (channel, serving) = serve(scripted.clone()).await;
    let answer = standard(channel, POLICY).say_hello(hello()).await.unwrap();
    assert_eq!((&*answer.into_inner().text, scripted.calls()), ("you", 3));
    let told = scripted.told.lock().unwrap().clone();
    assert!(
        told.iter().all(|told| *told > SECOND),
        "each is told its time: {told:?}"
    );
    serving.abort();
}

#[tokio::test]
async fn an_open_circuit_of_the_named_destination_is_unavailable_and_says_so_by_type() {
    let scripted = Scripted::failing(9);
    let (channel, serving) = serve(scripted.clone()).await;
    let mut client = standard(channel, POLICY);
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!((status.code(), scripted.calls()), (Code::Unavailable, 3));
    let refused = client.say_hello(hello()).await.unwrap_err();
    assert_eq!((refused.code(), scripted.calls()), (Code::Unavailable, 3));
    let rejected = Rejected::find(&refused).map(Rejected::reason);
    assert_eq!(rejected, Some(Reason::CircuitOpen));
    assert!(Failure::find(&refused).is_some());
    serving.abort();
}

/// What a handler calls inherits the time that its own caller waits.
#[tokio::test]
async fn a_handlers_calls_are_told_less_than_the_handler_was() {
    let behind = Scripted::default();
    let (next, serving_behind) = serve(behind.clone()).await;
    let front = Scripted {
        next: Some(next),
        ..Scripted::default()
    };
    let (channel, serving_front) = serve(front.clone()).await;
    let mut request = hello();
    request.set_timeout(2 * SECOND);
    standard(channel, "{}").say_hello(request).await.unwrap();
    let (front, behind) = (
        front.told.lock().unwrap()[0],
        behind.told.lock().unwrap()[0],
    );
    assert!(front <= 2 * SECOND, "{front:?}");
    assert!(behind < front && behind > SECOND, "{behind:?} of {front:?}");
    serving_front.abort();
    serving_behind.abort();
}

/// The server's whole stack around tonic's routes.
#[tokio::test]
async fn the_servers_standard_stack_serves_tonics_routes() {
    let scripted = Scripted::default();
    let (incoming, channel) = listen().await;
    let service = GreeterServer::new(scripted.clone());
    let serving = tokio::spawn(async move {
        let layer = server::StandardLayer::default();
        let mut server = Server::builder().layer(layer);
        server
            .add_routes(Routes::new(service))
            .serve_with_incoming(incoming)
            .await
            .unwrap();
    });
    let mut client = standard(channel, "{}");
    let answer = client.say_hello(hello()).await.unwrap();
    assert_eq!(answer.into_inner().text, "you");
    let mut hanging = Request::new(HelloRequest {
        name: "hang".to_owned(),
    });
    hanging.set_timeout(SECOND / 10);
    let status = client.say_hello(hanging).await.unwrap_err();
    assert_eq!(
        (status.code(), scripted.calls()),
        (Code::DeadlineExceeded, 2)
    );
    serving.abort();
}
