//! The server's layer of steadfast-deadline under tonic's server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use steadfast_core::CallContext;
use steadfast_deadline::server::{InboundConfig, InboundDeadlineLayer};
use steadfast_greeter::greeter_client::GreeterClient;
use steadfast_greeter::greeter_server::{Greeter, GreeterServer};
use steadfast_greeter::{HelloReply, HelloRequest};
use tokio::task::JoinHandle;
use tokio_stream::Empty;
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::greeter::{channel, serve};
use crate::peer::*;

/// Notes what its context says, and hangs where the name is `hang`.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<Option<Duration>>>>);

#[tonic::async_trait]
impl Greeter for Noting {
    async fn say_hello(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloReply>, Status> {
        let now = tokio::time::Instant::now().into_std();
        let left = CallContext::current().deadline().left(now);
        self.0.lock().unwrap().push(left);
        let HelloRequest { name } = request.into_inner();
        if name == "hang" {
            std::future::pending::<()>().await;
        }
        Ok(Response::new(HelloReply { text: name }))
    }

    type ListHellosStream = Empty<Result<HelloReply, Status>>;

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

async fn start() -> (Noting, String, JoinHandle<()>) {
    let noting = Noting::default();
    let service = GreeterServer::new(noting.clone());
    let (uri, serving) = serve(|incoming| async move {
        Server::builder()
            .layer(InboundDeadlineLayer::new(InboundConfig::default()))
            .add_service(service)
            .serve_with_incoming(incoming)
            .await
    })
    .await;
    (noting, uri, serving)
}

#[tokio::test]
async fn a_handler_knows_its_callers_deadline() {
    let (noting, uri, serving) = start().await;
    let mut request = hello();
    request.set_timeout(Duration::from_secs(2));
    GreeterClient::new(channel(&uri))
        .say_hello(request)
        .await
        .unwrap();
    let left = noting.0.lock().unwrap()[0].unwrap();
    assert!(
        left <= Duration::from_secs(2) && left > Duration::from_secs(1),
        "{left:?}"
    );
    serving.abort();
}

#[tokio::test]
async fn expired_work_is_refused_before_the_handler() {
    let (noting, uri, serving) = start().await;
    let mut request = hello();
    request
        .metadata_mut()
        .insert("grpc-timeout", "1n".parse().unwrap());
    let status = raw(&uri, request).await;
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert!(
        noting.0.lock().unwrap().is_empty(),
        "the handler was not called"
    );
    serving.abort();
}

#[tokio::test]
async fn a_handler_that_hangs_is_ended_with_deadline_exceeded() {
    let (noting, uri, serving) = start().await;
    let mut request = hello();
    request.get_mut().name = "hang".to_owned();
    request
        .metadata_mut()
        .insert("grpc-timeout", "100m".parse().unwrap());
    let status = raw(&uri, request).await;
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(noting.0.lock().unwrap().len(), 1);
    serving.abort();
}

/// tonic's channel would end the call itself by the header, so it goes around that.
async fn raw(uri: &str, request: Request<HelloRequest>) -> Status {
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let mut client = GreeterClient::with_origin(client, uri.parse().unwrap());
    client.say_hello(request).await.unwrap_err()
}
