//! Services in a row on real sockets: the time of the first caller rules the last server.

use std::future::{Future, pending};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request as Inbound;
use axum::http::StatusCode;
use axum::middleware::map_request;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer};
use steadfast::deadline::{AttemptTimeoutLayer, PropagateLayer};
use steadfast::retry::RetryLayer;
use steadfast::{Event, in_current_context, without_context};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tower::{ServiceBuilder, ServiceExt};

use crate::stack::{config, hyper};

const ENVOY: &str = "x-envoy-expected-rq-timeout-ms";
const MS: Duration = Duration::from_millis(1);

/// What a slow machine may add to a wait, and what would still be far less than a hang.
const SLACK: Duration = Duration::from_secs(1);

/// A service in the row, and what was seen of its requests.
struct Hop {
    url: String,
    seen: Arc<Seen>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    /// The milliseconds that each request brought, as it arrived.
    told: Mutex<Vec<Option<u64>>>,
    /// When each handler began, and how long it lived.
    runs: Mutex<Vec<(Instant, Duration)>>,
    started: AtomicUsize,
    refused: AtomicUsize,
    expired: AtomicUsize,
}

/// One handler at work, until it ends or is dropped.
struct Run(Arc<Seen>, Instant);

impl Drop for Run {
    fn drop(&mut self) {
        self.0.runs.lock().unwrap().push((self.1, self.1.elapsed()));
    }
}

impl Hop {
    async fn start<F>(
        config: InboundConfig,
        handler: impl Fn() -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = StatusCode> + Send + 'static,
    {
        let seen = Arc::new(Seen::default());
        let (counts, events, arrivals) = (seen.clone(), seen.clone(), seen.clone());
        let config = config.with_observer(move |event: &Event<'_>| {
            match event {
                Event::DeadlineRefused(_) => events.refused.fetch_add(1, Ordering::Relaxed),
                Event::DeadlineExpired(_) => events.expired.fetch_add(1, Ordering::Relaxed),
                _ => 0,
            };
        });
        let work = move || {
            counts.started.fetch_add(1, Ordering::Relaxed);
            let run = Run(counts.clone(), Instant::now());
            let work = handler();
            async move {
                let _run = run;
                work.await
            }
        };
        let app = Router::new()
            .fallback(work)
            .layer(InboundDeadlineLayer::new(config))
            .layer(map_request(move |request: Inbound| {
                let told = request.headers().get(ENVOY);
                let told = told.map(|told| told.to_str().unwrap().parse().unwrap());
                arrivals.told.lock().unwrap().push(told);
                async { request }
            }));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, seen, serving }
    }

    fn told(&self) -> Vec<Option<u64>> {
        self.seen.told.lock().unwrap().clone()
    }

    fn started(&self) -> usize {
        self.seen.started.load(Ordering::Relaxed)
    }

    fn runs(&self) -> Vec<(Instant, Duration)> {
        self.seen.runs.lock().unwrap().clone()
    }
}

impl Drop for Hop {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// What a handler does to call the next service: nothing about time.
async fn ask(url: String, attempt: Duration) -> StatusCode {
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(config()))
        .layer(AttemptTimeoutLayer::new(attempt))
        .layer(PropagateLayer::default())
        .service(hyper::<Full<Bytes>>());
    let request = Request::get(url).body(Full::default()).unwrap();
    client
        .oneshot(request)
        .await
        .map_or(StatusCode::BAD_GATEWAY, |answer| answer.status())
}

/// The first caller, who waits so long and says so.
async fn edge(url: &str, waits: u64) -> (StatusCode, Bytes, Duration) {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let request = Request::get(url)
        .header(ENVOY, waits)
        .body(Full::default())
        .unwrap();
    let before = Instant::now();
    let answer = timeout(10 * SLACK, client.request(request))
        .await
        .unwrap()
        .unwrap();
    let after = before.elapsed();
    let (parts, body) = answer.into_parts();
    (
        parts.status,
        body.collect().await.unwrap().to_bytes(),
        after,
    )
}

/// Waits, within bounds, until this holds.
async fn eventually(holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            sleep(5 * MS).await;
        }
    };
    timeout(10 * SLACK, wait).await.unwrap();
}

#[tokio::test]
async fn each_hop_and_each_attempt_is_told_less_than_the_one_before() {
    let tries = Arc::new(AtomicUsize::new(0));
    let last = Hop::start(InboundConfig::new(), move || {
        let number = tries.fetch_add(1, Ordering::Relaxed);
        async move {
            sleep(5 * MS).await;
            if number == 0 {
                StatusCode::SERVICE_UNAVAILABLE
            } else {
                StatusCode::OK
            }
        }
    })
    .await;
    let (to_last, patient) = (last.url.clone(), Duration::from_secs(10));
    let middle = Hop::start(InboundConfig::new(), move || ask(to_last.clone(), patient)).await;
    let to_middle = middle.url.clone();
    let first = Hop::start(InboundConfig::new(), move || {
        ask(to_middle.clone(), patient)
    })
    .await;

    let (status, _, _) = edge(&first.url, 300).await;
    assert_eq!(status, StatusCode::OK);
    let told = [first.told(), middle.told(), last.told()];
    assert_eq!(told.each_ref().map(Vec::len), [1, 1, 2], "{told:?}");
    let told: Vec<_> = told.concat().into_iter().map(Option::unwrap).collect();
    assert_eq!(told[0], 300);
    // Each hop keeps 10 ms for its answer; each attempt took 5 ms and more.
    assert!(told[1] <= 290 && told[2] <= 280, "{told:?}");
    assert!(told.is_sorted_by(|one, next| one > next), "{told:?}");
}

#[tokio::test]
async fn the_edge_answers_504_in_time_with_the_margin_left() {
    let last = Hop::start(InboundConfig::new(), pending).await;
    let (to_last, patient) = (last.url.clone(), Duration::from_secs(10));
    let middle = Hop::start(InboundConfig::new(), move || ask(to_last.clone(), patient)).await;
    let to_middle = middle.url.clone();
    // This handler never makes anything of the failure: the layer has to.
    let margin = InboundConfig::new().with_answer_margin(150 * MS);
    let first = Hop::start(margin, move || {
        let asked = ask(to_middle.clone(), patient);
        async {
            asked.await;
            pending().await
        }
    })
    .await;

    let (status, body, after) = edge(&first.url, 300).await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    assert!(
        body.windows(17).any(|it| it == b"deadline-exceeded"),
        "{body:?}"
    );
    assert!((150 * MS..300 * MS).contains(&after), "{after:?}");
    assert_eq!(first.seen.expired.load(Ordering::Relaxed), 1);
    // Nobody downstream works on for long.
    eventually(|| last.runs().len() == last.started()).await;
    eventually(|| middle.runs().len() == middle.started()).await;
    assert!(
        last.runs()
            .iter()
            .all(|(_, lived)| *lived < 150 * MS + SLACK)
    );
}

#[tokio::test]
async fn handlers_of_expired_work_never_start() {
    let last = Hop::start(InboundConfig::new(), async || StatusCode::OK).await;
    let to_last = last.url.clone();
    let late = Arc::new(Mutex::new(Vec::new()));
    let sink = late.clone();
    let first = Hop::start(InboundConfig::new(), move || {
        let (ask, again) = (ask(to_last.clone(), SLACK), ask(to_last.clone(), SLACK));
        let sink = sink.clone();
        let work = async move {
            // Longer than anybody waits.
            sleep(150 * MS).await;
            let asked = ask.await;
            let background = without_context(again).await;
            sink.lock().unwrap().push((asked, background));
        };
        tokio::spawn(in_current_context(work));
        async { StatusCode::ACCEPTED }
    })
    .await;

    // Expired on arrival: the handler does not start.
    for _ in 0..5 {
        let (status, body, _) = edge(&first.url, 0).await;
        assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
        assert!(
            body.windows(16).any(|it| it == b"deadline-expired"),
            "{body:?}"
        );
    }
    assert_eq!(
        (first.started(), first.seen.refused.load(Ordering::Relaxed)),
        (0, 5)
    );

    // Expired in the middle: its outbound call is not sent, and that of background work is.
    let (status, _, _) = edge(&first.url, 100).await;
    assert_eq!((status, first.started()), (StatusCode::ACCEPTED, 1));
    eventually(|| !late.lock().unwrap().is_empty()).await;
    assert_eq!(
        *late.lock().unwrap(),
        [(StatusCode::BAD_GATEWAY, StatusCode::OK)]
    );
    assert_eq!((last.told(), last.started()), (vec![None], 1));
}

#[tokio::test]
async fn a_handler_that_hangs_up_late_wastes_no_more_than_one_attempts_time_downstream() {
    let attempt = 100 * MS;
    let last = Hop::start(InboundConfig::new(), pending).await;
    let to_last = last.url.clone();
    // Spawned, so that the work goes on although its caller has gone.
    let first = Hop::start(InboundConfig::new(), move || {
        let work = tokio::spawn(in_current_context(ask(to_last.clone(), attempt)));
        async { work.await.unwrap() }
    })
    .await;

    let begun = Instant::now();
    let caller = edge(&first.url, 300);
    tokio::select! {
        answered = caller => panic!("{answered:?}"),
        () = eventually(|| last.started() > 0) => {}
    }
    // The call's end, and time for what is under way to end.
    sleep(300 * MS).await;
    eventually(|| last.runs().len() == last.started()).await;
    let (started, told) = (last.started(), last.told());
    assert!((1..=3).contains(&started), "{started}");
    assert!(told.iter().all(|told| told.unwrap() <= 300), "{told:?}");
    for (start, lived) in last.runs() {
        assert!(lived < attempt + SLACK, "{lived:?}");
        assert!(start - begun < 300 * MS + SLACK, "{:?}", start - begun);
    }
    // Nothing is begun after that.
    sleep(100 * MS).await;
    assert_eq!(last.started(), started);
}
