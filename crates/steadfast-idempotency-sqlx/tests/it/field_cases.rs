//! The field cases that concern stored records, through the layer, on each store.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use steadfast_idempotency::conformance::TxSubject;
use steadfast_idempotency::server::{
    IdempotencyConfig, IdempotencyLayer, Operation, ResponseBody, TransactionSlot, TxStore,
};
use steadfast_idempotency::{IDEMPOTENCY_KEY, Key, OperationKey};
use steadfast_servers::Postgres;
use tokio::sync::{Notify, Semaphore};
use tower::util::BoxCloneSyncService;
use tower::{Layer, ServiceExt, service_fn};

use crate::ledger::Ledger;
use crate::pg::PgLedger;

type Req = Request<Full<Bytes>>;
type Res = Response<Full<Bytes>>;

/// Runs a case on SQLite and, where it is installed, on PostgreSQL.
macro_rules! on_each_store {
    ($case:ident) => {
        $case(Arc::new(Ledger::new().await)).await;
        if let Some(server) = Postgres::shared() {
            $case(Arc::new(PgLedger::on(server).await)).await;
        }
    };
}

#[derive(Clone)]
struct Caller(&'static str);

/// A protected handler that has one effect, named after the caller, and then does what `finish`
/// says; and how often it ran.
struct Server {
    service: BoxCloneSyncService<Req, Response<Bytes>, Infallible>,
    runs: Arc<AtomicUsize>,
}

impl Server {
    async fn over<S, H, F>(subject: &Arc<S>, finish: H) -> Self
    where
        S: TxSubject + 'static,
        H: Fn(Parts) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Res> + Send + 'static,
    {
        let runs = Arc::new(AtomicUsize::new(0));
        let (counter, at) = (Arc::clone(&runs), Arc::clone(subject));
        let handler = service_fn(move |request: Req| {
            counter.fetch_add(1, Ordering::SeqCst);
            let (at, finish) = (Arc::clone(&at), finish.clone());
            async move {
                let parts = request.into_parts().0;
                let slot = parts
                    .extensions
                    .get::<TransactionSlot<<S::Store as TxStore>::Tx>>();
                if let Some(slot) = slot {
                    let caller = parts.extensions.get::<Caller>().unwrap().0;
                    let mut tx = slot.take().unwrap();
                    at.write(&mut tx, caller).await.unwrap();
                }
                Ok::<_, Infallible>(finish(parts).await)
            }
        });
        let config = IdempotencyConfig::new(|parts: &Parts| {
            parts.extensions.get::<Caller>().map(|caller| caller.0)
        });
        let layer = IdempotencyLayer::new(subject.open().await, config);
        let service =
            layer
                .layer(handler)
                .and_then(async |response: Response<ResponseBody<Full<Bytes>>>| {
                    let (parts, body) = response.into_parts();
                    let body = body.collect().await.unwrap().to_bytes();
                    Ok(Response::from_parts(parts, body))
                });
        Self {
            service: BoxCloneSyncService::new(service),
            runs,
        }
    }

    async fn send(&self, request: Req) -> Response<Bytes> {
        self.service.clone().oneshot(request).await.unwrap()
    }

    async fn status(&self, request: Req) -> u16 {
        self.send(request).await.status().as_u16()
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

fn post(caller: &'static str, path: &str, key: &str, body: &'static str) -> Req {
    Request::post(path)
        .header(IDEMPOTENCY_KEY, format!("\"{key}\""))
        .extension(Caller(caller))
        .body(Full::from(body))
        .unwrap()
}

fn answer(status: u16) -> Res {
    let response = Response::builder().status(status);
    response.body(Full::from("receipt")).unwrap()
}

async fn created(_: Parts) -> Res {
    answer(201)
}

/// O-35: the key that a client persisted names one record for all its repeats, and the next
/// operation's another.
#[tokio::test]
async fn a_persisted_key_names_one_record() {
    async fn case<S: TxSubject + 'static>(subject: Arc<S>) {
        let server = Server::over(&subject, created).await;
        for key in [OperationKey::random(), OperationKey::random()] {
            for _ in 0..3 {
                let request = post("a", "/charges", key.as_str(), "x");
                assert_eq!(server.status(request).await, 201);
            }
        }
        assert_eq!(subject.effects().await, ["a", "a"]);
    }
    on_each_store!(case);
}

/// O-36 and O-38: the client hangs up mid-handler; a repeat meets a 409 while the first one runs,
/// and its stored answer afterwards.
#[tokio::test]
async fn a_client_that_hangs_up_finds_its_answer() {
    async fn case<S: TxSubject + 'static>(subject: Arc<S>) {
        let (entered, gate) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
        let (tell, wait) = (Arc::clone(&entered), Arc::clone(&gate));
        let server = Server::over(&subject, move |parts| {
            let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
            async move {
                tell.notify_one();
                let _open = wait.acquire().await.unwrap();
                created(parts).await
            }
        })
        .await;
        let mut first = Box::pin(server.send(post("a", "/", "k", "x")));
        tokio::select! {
            _ = &mut first => panic!("it answers before it may"),
            () = entered.notified() => {}
        }
        drop(first);
        let meanwhile = server.send(post("a", "/", "k", "x")).await;
        assert_eq!(meanwhile.status(), 409);
        assert!(meanwhile.headers().contains_key("retry-after"));
        gate.add_permits(1);
        let settled = async {
            while server.status(post("a", "/", "k", "x")).await == 409 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), settled)
            .await
            .unwrap();
        let again = server.send(post("a", "/", "k", "x")).await;
        assert_eq!(
            (again.status().as_u16(), &again.body()[..]),
            (201, &b"receipt"[..])
        );
        assert_eq!((server.runs(), subject.effects().await.len()), (1, 1));
    }
    on_each_store!(case);
}

/// O-37 and O-39: a panic and a 5xx leave nothing, and the key is free at once.
#[tokio::test]
async fn neither_a_panic_nor_a_failure_is_pinned_to_its_key() {
    async fn case<S: TxSubject + 'static>(subject: Arc<S>) {
        let turn = Arc::new(AtomicUsize::new(0));
        let server = Server::over(&subject, move |_| {
            let turn = turn.fetch_add(1, Ordering::SeqCst);
            async move {
                match turn {
                    0 => panic!("the handler's own"),
                    1 => answer(503),
                    _ => answer(200),
                }
            }
        })
        .await;
        for (status, effects) in [(500, 0), (503, 0), (200, 1), (200, 1)] {
            assert_eq!(server.status(post("a", "/", "k", "x")).await, status);
            assert_eq!(subject.effects().await.len(), effects);
        }
        assert_eq!(server.runs(), 3);
    }
    on_each_store!(case);
}

/// O-40: callers never meet, nor do pairs that look alike when they are joined; another route is
/// refused.
#[tokio::test]
async fn callers_with_the_same_key_never_meet_in_the_table() {
    async fn case<S: TxSubject + 'static>(subject: Arc<S>) {
        let server = Server::over(&subject, created).await;
        for (caller, key) in [("a", "b_c"), ("a_b", "c"), ("b", "b_c"), ("A", "b_c")] {
            for _ in 0..2 {
                assert_eq!(server.status(post(caller, "/", key, "x")).await, 201);
            }
        }
        assert_eq!((server.runs(), subject.effects().await.len()), (4, 4));
        for path in ["/other", "/?dry-run=1"] {
            let refused = server.send(post("a", path, "b_c", "x")).await;
            assert_eq!(refused.status(), 422);
            assert!(!refused.body().windows(7).any(|bytes| bytes == b"receipt"));
        }
        assert_eq!((server.runs(), subject.effects().await.len()), (4, 4));
    }
    on_each_store!(case);
}

/// O-41 and O-49: a record, and so a replay, holds what describes the answer, and nothing secret
/// of the request or of the first caller's session.
#[tokio::test]
async fn a_record_holds_what_describes_the_answer_and_no_secrets() {
    const SECRETS: [&str; 5] = ["pw0", "token0", "bearer0", "cookie0", "challenge0"];
    async fn case<S: TxSubject + 'static>(subject: Arc<S>) {
        let server = Server::over(&subject, async |_| {
            let mut response = answer(201);
            let headers = response.headers_mut();
            for (name, value) in [
                ("content-type", "text/plain"),
                ("location", "/charges/1"),
                ("etag", "\"1\""),
                ("set-cookie", "s=cookie0"),
                ("www-authenticate", "challenge0"),
                ("date", "Thu, 01 Jan 1970 00:00:00 GMT"),
                ("x-request-id", "cookie0"),
                ("ratelimit", "cookie0"),
                ("connection", "close"),
            ] {
                headers.insert(name, value.parse().unwrap());
            }
            response
        })
        .await;
        let request = || {
            let mut request = post(
                "a",
                "https://u:pw0@h.example/p?token=token0",
                "k",
                "bearer0",
            );
            let headers = request.headers_mut();
            headers.insert("authorization", "bearer0".parse().unwrap());
            headers.insert("cookie", "cookie0".parse().unwrap());
            request
        };
        let first = server.send(request()).await;
        let again = server.send(request()).await;
        assert_eq!(
            (again.status(), again.body()),
            (first.status(), first.body())
        );
        let mut expected = HeaderMap::new();
        for name in ["content-type", "location", "etag"] {
            expected.insert(name, first.headers()[name].clone());
        }
        expected.insert("idempotent-replayed", "true".parse().unwrap());
        let mut seen = again.headers().clone();
        // Of every answer, not of this one.
        seen.remove("idempotency-key-lifetime");
        assert_eq!(seen, expected);

        let key = Key::parse("k").unwrap();
        let operation = Operation::new("default", "a", &key);
        let record = subject.open().await.find(&operation).await.unwrap();
        let answer = record.unwrap().answer;
        let (method, path) = answer.origin.clone().unwrap();
        assert_eq!((method.as_str(), &path[..]), ("POST", "/p"));
        let headers = String::from_utf8(answer.encode_headers()).unwrap();
        let kept = format!("{headers} {path} {:?}", answer.body);
        for secret in SECRETS {
            assert!(!kept.contains(secret), "{secret} is kept: {kept}");
        }
    }
    on_each_store!(case);
}

/// O-42 and O-43: another payload is refused without a run; a malformed key and a safe method leave
/// no trace in the table.
#[tokio::test]
async fn what_is_refused_or_ignored_is_not_stored() {
    async fn case<S: TxSubject + 'static>(subject: Arc<S>) {
        let server = Server::over(&subject, created).await;
        assert_eq!(server.status(post("a", "/", "k", "[1,2]")).await, 201);
        for body in ["[2,1]", "[1, 2]", ""] {
            assert_eq!(server.status(post("a", "/", "k", body)).await, 422);
        }
        let long = "k".repeat(256);
        for field in [
            "",
            "\"\"",
            "\"  \"",
            &format!("\"{long}\"")[..],
            "\"a",
            "a, b",
        ] {
            let mut request = post("a", "/", "k", "x");
            let value = field.parse().unwrap();
            request.headers_mut().insert(IDEMPOTENCY_KEY, value);
            assert_eq!(server.status(request).await, 400, "{field}");
        }
        assert_eq!((server.runs(), subject.effects().await.len()), (1, 1));
        let longest = "k".repeat(255);
        assert_eq!(server.status(post("a", "/", &longest, "x")).await, 201);
        for method in ["GET", "HEAD", "OPTIONS"] {
            let mut request = post("a", "/", "safe", "");
            *request.method_mut() = method.parse().unwrap();
            assert_eq!(server.status(request).await, 201);
        }
        let key = Key::parse("safe").unwrap();
        let safe = Operation::new("default", "a", &key);
        assert_eq!(subject.open().await.find(&safe).await.unwrap(), None);
        assert_eq!(subject.effects().await.len(), 2);
    }
    on_each_store!(case);
}
