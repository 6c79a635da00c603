//! Our server before grpcio's client: it prints its port, and behaves as a request's name says.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use steadfast::{BoxError, CallContext, server};
use steadfast_greeter::greeter_server::{Greeter, GreeterServer};
use steadfast_greeter::{HelloReply, HelloRequest};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};

/// What each name's calls said: attempts before them, milliseconds left.
type Told = HashMap<String, Vec<(String, u128)>>;

#[derive(Clone, Default)]
struct Moody(Arc<Mutex<Told>>);

#[tonic::async_trait]
impl Greeter for Moody {
    async fn say_hello(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloReply>, Status> {
        let (metadata, _, HelloRequest { name }) = request.into_parts();
        if let Some(of) = name.strip_prefix("told:") {
            return reply(self.told(of));
        }
        let before = self.note(&name, &metadata);
        match name.split_once(':').unwrap_or((&name, "")) {
            ("unavailable", times) if times.parse().is_ok_and(|times: usize| before < times) => {
                Err(Status::unavailable("restarting"))
            }
            ("pushback", value) if before == 0 => {
                let value: MetadataValue<_> = value.parse().map_err(|_| Status::internal("?"))?;
                let mut metadata = MetadataMap::new();
                metadata.insert("grpc-retry-pushback-ms", value);
                Err(Status::with_metadata(Code::Unavailable, "busy", metadata))
            }
            ("hang", _) => std::future::pending().await,
            _ => reply(format!("hello after {before}")),
        }
    }

    type ListHellosStream = tokio_stream::Empty<Result<HelloReply, Status>>;

    async fn list_hellos(
        &self,
        _: Request<HelloRequest>,
    ) -> Result<Response<Self::ListHellosStream>, Status> {
        Err(Status::unimplemented("not here"))
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

impl Moody {
    /// Notes a call; says how many of this name came before it.
    fn note(&self, name: &str, metadata: &MetadataMap) -> usize {
        let now = tokio::time::Instant::now().into_std();
        let left = CallContext::current().deadline().left(now);
        let previous = metadata.get("grpc-previous-rpc-attempts");
        let previous = previous.and_then(|value| value.to_str().ok());
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = told.entry(name.to_owned()).or_default();
        let left = left.unwrap_or(Duration::MAX).as_millis();
        calls.push((previous.unwrap_or("-").to_owned(), left));
        calls.len() - 1
    }

    fn told(&self, name: &str) -> String {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = told.get(name).map_or(&[][..], Vec::as_slice);
        let previous: Vec<_> = calls
            .iter()
            .map(|(previous, _)| previous.as_str())
            .collect();
        let left: Vec<_> = calls.iter().map(|(_, left)| left.to_string()).collect();
        format!("{} {}", previous.join(","), left.join(","))
    }
}

fn reply(text: String) -> Result<Response<HelloReply>, Status> {
    Ok(Response::new(HelloReply { text }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let serving = Server::builder()
        .layer(server::StandardLayer::default())
        .add_service(GreeterServer::new(Moody::default()))
        .serve_with_incoming(TcpListenerStream::new(listener));
    // Whoever started it may be gone.
    tokio::select! {
        served = serving => served?,
        () = tokio::time::sleep(Duration::from_secs(120)) => {}
    }
    Ok(())
}
