//! A breaker over hyper-util's client, and a server that goes away and comes back.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use steadfast::admission::breaker::{BreakerConfig, BreakerLayer, Window};
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::admission::{BulkheadLayer, CooldownLayer};
use steadfast::backoff::Jitter;
use steadfast::hyper::HyperClassify;
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{Backoff, CircuitState, Failure, Reason};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::{ServiceBuilder, ServiceExt, service_fn};

const MS: Duration = Duration::from_millis(1);

/// Answers "hi" until it is aborted.
async fn serve(at: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(at).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = service_fn(async |_: Request<hyper::body::Incoming>| {
                Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("hi")))
            });
            let service = TowerToHyperService::new(answer);
            let mut http = http1::Builder::new();
            // Each call needs a connection of its own, so that it sees whether there is a server.
            let connection = http
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service);
            // A client that went away ends its connection.
            let _ = connection.await;
        }
    });
    (addr, task)
}

#[tokio::test]
async fn a_server_that_is_gone_is_left_alone_and_found_again() {
    let (addr, server) = serve((Ipv4Addr::LOCALHOST, 0).into()).await;
    let few = Window::default().with_minimum(NonZeroU32::new(4).unwrap());
    let open = Backoff::default()
        .with_base(1_000 * MS)
        .with_cap(1_000 * MS);
    let config = BreakerConfig::default()
        .with_window(few.unwrap())
        .with_open(open.with_jitter(Jitter::None))
        .with_classify(HyperClassify);
    let breaker = BreakerLayer::new(config);
    let bulkhead = BulkheadLayer::new(BulkheadConfig::default());
    let quickly = Backoff::default().with_base(MS).with_cap(MS);
    let retry = RetryConfig::new()
        .with_backoff(quickly)
        .with_classify(HyperClassify);
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(retry))
        .layer(CooldownLayer::default())
        .layer(bulkhead.clone())
        .layer(breaker.clone())
        .service(Client::builder(TokioExecutor::new()).build_http());
    let destination = addr.to_string();
    let state = || breaker.handle().state(&destination);
    let call = async || {
        let request = Request::get(format!("http://{addr}/")).body(Full::<Bytes>::default());
        client.clone().oneshot(request.unwrap()).await
    };

    let answer = call().await.unwrap();
    assert_eq!(
        bulkhead.handle().in_flight(&destination),
        1,
        "its body is not read"
    );
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "hi");
    assert_eq!(bulkhead.handle().in_flight(&destination), 0);

    server.abort();
    let _ = server.await;
    let mut reasons = Vec::new();
    while state() == CircuitState::Closed {
        assert!(reasons.len() < 50, "{reasons:?}");
        let error = call().await.unwrap_err();
        reasons.push(Failure::find(&*error).unwrap().report().reason);
    }
    let refused = call().await.unwrap_err();
    let report = *Failure::find(&*refused).unwrap().report();
    assert_eq!(
        (report.attempts, report.reason),
        (0, Some(Reason::CircuitOpen))
    );

    let (_, server) = serve(addr).await;
    let mut calls = 0;
    let answer = loop {
        match call().await {
            Ok(answer) => break answer,
            Err(_) => tokio::time::sleep(5 * MS).await,
        }
        calls += 1;
        assert!(calls < 2_000, "it is not found");
    };
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "hi");
    assert_eq!(state(), CircuitState::Closed);
    server.abort();
}
