use std::convert::Infallible;
use std::future::{pending, ready};
use std::io;

use http::Uri;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use steadfast_core::{Classify, Cut, DefaultClassify, Delivery, Elapsed, Verdict};
use steadfast_kit::Chunks;
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use tokio::time::Instant;
use tower::{ServiceExt, service_fn};

use super::*;
use crate::{HyperClassify, LeafBody};

const MS: Duration = Duration::from_millis(1);
const UNSENT: Verdict = Verdict::Transient(Delivery::Unsent);

type Never = Result<TokioIo<tokio::net::TcpStream>, io::Error>;

#[tokio::test(start_paused = true)]
async fn a_connection_that_does_not_come_was_not_sent() {
    let hangs = service_fn(|_: Uri| pending::<Never>());
    let start = Instant::now();
    let connector = ConnectTimeoutLayer::new(100 * MS).layer(hangs);
    let error = connector
        .oneshot(Uri::from_static("http://a.example"))
        .await
        .unwrap_err();
    assert_eq!(start.elapsed(), 100 * MS);
    assert_eq!(
        Elapsed::find(&*error),
        Some(&Elapsed::new(100 * MS, Cut::Connect))
    );
    assert_eq!(DefaultClassify.error(&*error), UNSENT);
    assert_eq!(HyperClassify.error(&*error), UNSENT);
}

#[tokio::test(start_paused = true)]
async fn hyper_utils_client_takes_it_for_a_connect_error() {
    let connector = ConnectTimeout::new(service_fn(|_: Uri| pending::<Never>()), 100 * MS);
    let client: Client<_, LeafBody> = Client::builder(TokioExecutor::new()).build(connector);
    let error = client
        .get(Uri::from_static("http://a.example"))
        .await
        .unwrap_err();
    assert!(error.is_connect());
    assert_eq!(HyperClassify.error(&error), UNSENT);
    assert_eq!(Elapsed::find(&error).map(Elapsed::cut), Some(Cut::Connect));
}

#[tokio::test(start_paused = true)]
async fn a_connection_in_time_passes_and_so_does_the_connectors_error() {
    for (after, limit, comes) in [
        (0, Duration::ZERO, true),
        (99, 100 * MS, true),
        (100, 100 * MS, true),
        (101, 100 * MS, false),
        (1_000_000, Duration::MAX, true),
        (1_000_000, Duration::from_secs(u64::MAX), true),
    ] {
        let connector = service_fn(move |()| async move {
            if after > 0 {
                tokio::time::sleep(after * MS).await;
            }
            Ok::<_, Infallible>(after)
        });
        let connected = ConnectTimeout::new(connector, limit).oneshot(()).await;
        assert_eq!(connected.is_ok(), comes, "{after} {limit:?}");
    }
    let refused = service_fn(|()| {
        ready(Err::<(), _>(io::Error::from(
            io::ErrorKind::ConnectionRefused,
        )))
    });
    let error = ConnectTimeout::new(refused, MS)
        .oneshot(())
        .await
        .unwrap_err();
    assert!(error.is::<io::Error>());
}

// No runtime is here: a timer would panic.
#[test]
fn a_connection_at_once_takes_no_timer_and_no_allocation() {
    let mut connector = ConnectTimeout::new(service_fn(|()| ready(Ok::<_, Infallible>(7))), MS);
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let counted = allocation_counter::measure(|| {
        let connected = std::pin::pin!(connector.call(()));
        assert!(Future::poll(connected, &mut cx).is_ready());
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn the_connector_of_hyper_util_fits() {
    fn all<T: Clone + Send + Sync>(_: &T) {}
    all(&ConnectTimeoutLayer::default().layer(HttpConnector::new()));
    assert_eq!(
        ConnectTimeoutLayer::default().limit(),
        Duration::from_secs(5)
    );
}

struct Connecting;

impl Subject for Connecting {
    type Sent = Chunks;
    type Answer = Chunks;
    type Service = ConnectTimeout<Inner<Chunks>>;
    type Layer = ConnectTimeoutLayer;

    fn layer(&self) -> ConnectTimeoutLayer {
        ConnectTimeoutLayer::default()
    }

    fn extremes(&self) -> Vec<ConnectTimeoutLayer> {
        [Duration::ZERO, Duration::from_nanos(1), Duration::MAX]
            .map(ConnectTimeoutLayer::new)
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_connect_timeout_keeps_every_promise_of_a_layer() {
    assert_contract(&Connecting).await;
}
