//! What a stranger's request says of its call: it can shorten its own time, and nothing else.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use steadfast::admission::Mode;
use steadfast::client::{Draft, Profile, StandardLayer};
use steadfast::retry::ReplayBody;
use steadfast::{BoxError, server};
use tower::{Layer, Service, ServiceExt, service_fn};

type Sent = Request<ReplayBody<Full<Bytes>>>;
type Answer = Response<Full<Bytes>>;

/// The peer of the served handler: fails once for each request, and keeps the heads.
#[derive(Clone, Default)]
struct Below {
    calls: Arc<AtomicU32>,
    heads: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Below {
    fn service(
        &self,
    ) -> impl Service<Sent, Response = Answer, Error = BoxError, Future: Send>
    + Clone
    + Send
    + Sync
    + use<> {
        let below = self.clone();
        service_fn(move |request: Sent| {
            below.heads.lock().unwrap().push(request.headers().clone());
            let nth = below.calls.fetch_add(1, Ordering::Relaxed);
            async move {
                let mut answer = Answer::default();
                if nth % 2 == 0 {
                    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                }
                Ok::<_, BoxError>(answer)
            }
        })
    }
}

/// A server with the standard stack whose handler calls `below` through the standard stack.
fn served(
    below: &Below,
    policy: server::Policy,
) -> impl Service<
    Request<()>,
    Response = Response<server::ResponseBody<Full<Bytes>>>,
    Error = Infallible,
> + Clone {
    let plenty = steadfast::client::Budgets::handle(Arc::new(steadfast::budget::RatioBudget::new(
        steadfast::Ratio::ONE,
    )) as Arc<dyn steadfast::Budget>);
    let draft = Draft::of(Profile::Default).with_budgets(plenty);
    // Half of the attempts fail here by design.
    let breaker = draft.breaker().clone().with_mode(Mode::Off);
    let draft = draft.with_breaker(breaker);
    let client = StandardLayer::new(draft.check().unwrap()).layer(below.service());
    let handler = service_fn(move |_: Request<()>| {
        let client = client.clone();
        async move {
            let call = Request::get("http://below.example/").body(Full::default());
            let status = match client.oneshot(call.unwrap()).await {
                Ok(answer) => answer.status(),
                Err(_) => StatusCode::BAD_GATEWAY,
            };
            let mut answer = Answer::default();
            *answer.status_mut() = status;
            Ok::<_, Infallible>(answer)
        }
    });
    server::StandardLayer::new(policy).layer(handler)
}

const HOSTILE: [(&str, &str); 16] = [
    ("x-envoy-expected-rq-timeout-ms", "18446744073709551615"),
    ("x-envoy-expected-rq-timeout-ms", "-1"),
    ("x-envoy-expected-rq-timeout-ms", "1e9"),
    ("connect-timeout-ms", "9999999999"),
    ("grpc-timeout", "99999999H"),
    ("grpc-timeout", "99999999999999999999S"),
    ("steadfast-attempt", "1/4294967295"),
    ("steadfast-attempt", "4294967295/4294967295"),
    ("steadfast-attempt", "0/0"),
    ("steadfast-attempt", "1/2;left=4294967295;share=100"),
    ("steadfast-attempt", "1/2;left=1;share=0"),
    ("grpc-previous-rpc-attempts", "18446744073709551615"),
    ("x-envoy-attempt-count", "99999999999999999999"),
    ("amz-sdk-request", "attempt=4294967295; max=1"),
    ("idempotency-key", "\"forged\""),
    ("x-request-id", "x"),
];

#[tokio::test(start_paused = true)]
async fn a_strangers_words_neither_lengthen_nor_disable_anything() {
    let below = Below::default();
    let policy = server::Draft::new()
        .with_maximum(Duration::from_secs(2))
        .check()
        .unwrap();
    let server = served(&below, policy);
    for (name, value) in HOSTILE {
        let (calls, heads) = (
            below.calls.load(Ordering::Relaxed),
            below.heads.lock().unwrap().len(),
        );
        let request = Request::get("/").header(name, value).body(()).unwrap();
        let answer = server.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{name}: {value}");
        let made = below.calls.load(Ordering::Relaxed) - calls;
        assert_eq!(
            made, 2,
            "{name}: {value} took the repeat away, or added one"
        );
        for head in &below.heads.lock().unwrap()[heads..] {
            let told = head["x-envoy-expected-rq-timeout-ms"].to_str().unwrap();
            let told: u64 = told.parse().unwrap();
            assert!(told <= 1_990, "{name}: {value}: told {told}");
            assert!(!head.contains_key("idempotency-key"));
            assert!(!head.contains_key("steadfast-attempt"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_marks_retries_has_no_first_attempt_refused() {
    let below = Below::default();
    let server = served(&below, server::Policy::default());
    for _ in 0..200 {
        let marked = Request::get("/").header("steadfast-attempt", "2/2");
        let _ = server.clone().oneshot(marked.body(()).unwrap()).await;
    }
    for _ in 0..50 {
        let first = server.clone().oneshot(Request::new(())).await.unwrap();
        assert_eq!(first.status(), StatusCode::OK);
    }
}

/// Destinations that a caller chooses: what is remembered of them is bounded.
#[tokio::test(start_paused = true)]
async fn destinations_that_a_caller_makes_up_are_forgotten() {
    const BOUND: usize = 10_000;
    let layer = StandardLayer::default();
    let ok = service_fn(async |_: Sent| Ok::<_, BoxError>(Answer::default()));
    let client = layer.layer(ok);
    for nth in 0..3 * BOUND {
        let uri = format!("http://h{nth}.example/");
        let call = Request::get(uri).body(Full::default()).unwrap();
        assert!(client.clone().oneshot(call).await.is_ok());
    }
    let circuits = layer.handle().breaker().circuits();
    assert!((BOUND / 2..=BOUND).contains(&circuits), "{circuits}");
}
