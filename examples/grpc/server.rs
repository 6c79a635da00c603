//! A service of many moods.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use steadfast::CallContext;
use steadfast_greeter::greeter_server::Greeter;
use steadfast_greeter::{HelloReply, HelloRequest};
use tokio_stream::{Stream, StreamExt};
use tonic::metadata::MetadataMap;
use tonic::{Code, Request, Response, Status, Streaming};

/// Behaves as it is called: the name of a request is a mood.
#[derive(Clone, Default)]
pub(crate) struct Moody {
    failures: Arc<Mutex<u32>>,
}

impl Moody {
    async fn answer(&self, name: &str, metadata: &MetadataMap) -> Result<HelloReply, Status> {
        let before = metadata.get("grpc-previous-rpc-attempts");
        let before = before.and_then(|value| value.to_str().ok()).unwrap_or("0");
        let now = tokio::time::Instant::now().into_std();
        // What the layer around the service read; calls of this handler's own inherit it.
        let left = CallContext::current()
            .deadline()
            .left(now)
            .unwrap_or_default();
        println!(
            "    server: attempts before this one: {before}, {} ms left",
            left.as_millis()
        );
        match name {
            "is unavailable twice" if self.fails(2) => Err(Status::unavailable("restarting")),
            "asks for 200 ms" if self.fails(1) => Err(pushback("200")),
            "never wants it again" => Err(pushback("-1")),
            "takes it for a bad argument" => Err(Status::invalid_argument("no")),
            "hangs" => std::future::pending().await,
            name => Ok(HelloReply {
                text: format!("hello, {name}"),
            }),
        }
    }

    /// So many times in a row, and then once not.
    fn fails(&self, times: u32) -> bool {
        let mut failures = self
            .failures
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *failures = if *failures == times { 0 } else { *failures + 1 };
        *failures != 0
    }
}

/// When to come back, by the server's own word (gRFC A6).
fn pushback(milliseconds: &'static str) -> Status {
    let mut metadata = MetadataMap::new();
    metadata.insert(
        "grpc-retry-pushback-ms",
        milliseconds.parse().expect("it is text"),
    );
    Status::with_metadata(Code::Unavailable, "busy", metadata)
}

type Replies = Pin<Box<dyn Stream<Item = Result<HelloReply, Status>> + Send>>;

#[tonic::async_trait]
impl Greeter for Moody {
    async fn say_hello(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloReply>, Status> {
        let (metadata, _, request) = request.into_parts();
        self.answer(&request.name, &metadata)
            .await
            .map(Response::new)
    }

    async fn collect(
        &self,
        request: Request<Streaming<HelloRequest>>,
    ) -> Result<Response<HelloReply>, Status> {
        let (metadata, _, mut requests) = request.into_parts();
        let first = requests.next().await.transpose()?.unwrap_or_default();
        self.answer(&first.name, &metadata).await.map(Response::new)
    }

    type ListHellosStream = Replies;

    async fn list_hellos(&self, _: Request<HelloRequest>) -> Result<Response<Replies>, Status> {
        Err(Status::unimplemented("not in this story"))
    }

    type ChatStream = Replies;

    async fn chat(&self, _: Request<Streaming<HelloRequest>>) -> Result<Response<Replies>, Status> {
        Err(Status::unimplemented("not in this story"))
    }
}
