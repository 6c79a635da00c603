//! A real tonic server whose answers are a script.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use steadfast_greeter::greeter_server::{Greeter, GreeterServer};
use steadfast_greeter::{HelloReply, HelloRequest};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};

/// What one call is answered with; the last goes on for ever.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    Hello,
    /// A status, with metadata.
    No(Code, Vec<(&'static str, &'static str)>),
    /// These details, with UNAVAILABLE.
    Details(Vec<u8>),
    /// Nothing, for ever.
    Nothing,
}

impl Says {
    pub(crate) fn no(code: Code) -> Self {
        Self::No(code, Vec::new())
    }

    pub(crate) fn unavailable(metadata: &[(&'static str, &'static str)]) -> Self {
        Self::No(Code::Unavailable, metadata.to_vec())
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Script(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    answers: VecDeque<Says>,
    seen: Vec<MetadataMap>,
    names: Vec<String>,
}

pub(crate) struct Running {
    pub(crate) script: Script,
    pub(crate) uri: String,
    serving: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Running {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Says>) -> Self {
        let script = Script::default();
        script.0.lock().unwrap().answers.extend(answers);
        let service = GreeterServer::new(script.clone());
        let (uri, serving) = serve(|incoming| async move {
            let mut server = Server::builder();
            server
                .add_service(service)
                .serve_with_incoming(incoming)
                .await
        })
        .await;
        Self {
            script,
            uri,
            serving,
        }
    }

    pub(crate) fn channel(&self) -> Channel {
        channel(&self.uri)
    }

    pub(crate) fn calls(&self) -> usize {
        self.script.0.lock().unwrap().seen.len()
    }

    /// What each call said in this header.
    pub(crate) fn told(&self, name: &str) -> Vec<Option<String>> {
        let inner = self.script.0.lock().unwrap();
        let value = |seen: &MetadataMap| Some(seen.get(name)?.to_str().unwrap().to_owned());
        inner.seen.iter().map(value).collect()
    }

    /// What each call said in this binary header.
    pub(crate) fn binary(&self, name: &str) -> Vec<Option<Vec<u8>>> {
        let inner = self.script.0.lock().unwrap();
        let value = |seen: &MetadataMap| Some(seen.get_bin(name)?.to_bytes().unwrap().to_vec());
        inner.seen.iter().map(value).collect()
    }

    /// The names that were asked for, each stream's together.
    pub(crate) fn names(&self) -> Vec<String> {
        self.script.0.lock().unwrap().names.clone()
    }
}

/// Serves on a free port of the loopback interface.
pub(crate) async fn serve<F>(run: impl FnOnce(TcpListenerStream) -> F) -> (String, JoinHandle<()>)
where
    F: Future<Output = Result<(), tonic::transport::Error>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap());
    let running = run(TcpListenerStream::new(listener));
    let serving = tokio::spawn(async move { running.await.unwrap() });
    (uri, serving)
}

pub(crate) fn channel(uri: &str) -> Channel {
    Endpoint::from_shared(uri.to_owned())
        .unwrap()
        .connect_lazy()
}

impl Script {
    fn next(&self, seen: &MetadataMap) -> Says {
        let mut inner = self.0.lock().unwrap();
        inner.seen.push(seen.clone());
        match inner.answers.len() {
            1 => inner.answers[0].clone(),
            _ => inner.answers.pop_front().unwrap(),
        }
    }

    async fn answer(&self, seen: &MetadataMap, name: String) -> Result<HelloReply, Status> {
        let says = self.next(seen);
        self.0.lock().unwrap().names.push(name.clone());
        match says {
            Says::Hello => Ok(HelloReply {
                text: format!("hello, {name}"),
            }),
            Says::No(code, lines) => {
                let mut metadata = MetadataMap::new();
                for (name, value) in lines {
                    metadata.append(name, value.parse().unwrap());
                }
                Err(Status::with_metadata(code, "as scripted", metadata))
            }
            Says::Details(details) => Err(Status::with_details(
                Code::Unavailable,
                "as scripted",
                details.into(),
            )),
            Says::Nothing => std::future::pending().await,
        }
    }
}

type Replies = Pin<Box<dyn Stream<Item = Result<HelloReply, Status>> + Send>>;

#[tonic::async_trait]
impl Greeter for Script {
    async fn say_hello(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloReply>, Status> {
        let (metadata, _, HelloRequest { name }) = request.into_parts();
        self.answer(&metadata, name).await.map(Response::new)
    }

    type ListHellosStream = Replies;

    /// Two messages before each hello. A failure is a stream that begins and ends with trailers;
    /// a name of `late` puts it after the two messages.
    async fn list_hellos(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<Replies>, Status> {
        let (metadata, _, HelloRequest { name }) = request.into_parts();
        let last = self.answer(&metadata, name.clone()).await;
        let two = [1, 2].map(|n| {
            Ok(HelloReply {
                text: n.to_string(),
            })
        });
        let before = if last.is_ok() || name == "late" { 2 } else { 0 };
        let all: Vec<_> = two.into_iter().take(before).chain([last]).collect();
        Ok(Response::new(Box::pin(tokio_stream::iter(all))))
    }

    async fn collect(
        &self,
        request: Request<Streaming<HelloRequest>>,
    ) -> Result<Response<HelloReply>, Status> {
        let (metadata, _, mut questions) = request.into_parts();
        let mut names = Vec::new();
        while let Some(question) = questions.next().await {
            names.push(question?.name);
        }
        self.answer(&metadata, names.join("+"))
            .await
            .map(Response::new)
    }

    type ChatStream = Replies;

    async fn chat(
        &self,
        request: Request<Streaming<HelloRequest>>,
    ) -> Result<Response<Replies>, Status> {
        let (metadata, _, mut questions) = request.into_parts();
        let first = questions.next().await.transpose()?.unwrap_or_default();
        let first = self.answer(&metadata, first.name).await?;
        let rest = questions.map(|question| {
            let HelloRequest { name } = question?;
            Ok(HelloReply {
                text: format!("hello, {name}"),
            })
        });
        Ok(Response::new(Box::pin(
            tokio_stream::once(Ok(first)).chain(rest),
        )))
    }
}
