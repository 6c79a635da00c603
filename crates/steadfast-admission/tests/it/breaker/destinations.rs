//! Whose circuit it is.

use std::future::ready;

use http::{Request, Response};
use http_body_util::Empty;
use steadfast_admission::Scope;
use steadfast_core::BoxError;
use tower::{Service, service_fn};

use super::*;

#[tokio::test(start_paused = true)]
async fn one_failing_destination_leaves_the_others_alone() {
    let stack = Stack::new(config());
    stack.open().await;
    let other = stack
        .service()
        .oneshot(to("b.example", Does::Status(200)))
        .await;
    assert_eq!(other.unwrap().status(), 200);
    let upper = stack
        .service()
        .oneshot(to("A.EXAMPLE", Does::Status(200)))
        .await;
    assert!(upper.is_err(), "hosts are the same in any case");
    assert_eq!(stack.handle().circuits(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_circuit_for_all_where_that_is_wanted() {
    let stack = Stack::new(config().with_scope(Scope::Layer));
    stack.open().await;
    let other = stack
        .service()
        .oneshot(to("b.example", Does::Status(200)))
        .await;
    assert!(other.is_err());
    assert_eq!(stack.handle().circuits(), 1);
}

/// Two stacks of one layer, as a router makes them, one for each route.
#[tokio::test(start_paused = true)]
async fn the_circuits_belong_to_the_layer() {
    let stack = Stack::new(config());
    let other = stack.layer.clone().layer(stack.peer.clone());
    stack.open().await;
    assert!(other.oneshot(to(HOST, Does::Status(200))).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn to_ask_for_a_state_makes_no_circuit_and_forgets_none() {
    let stack = Stack::new(config().with_max_keys(count(1)));
    stack.open().await;
    for nth in 0..100 {
        let state = stack.handle().state(&format!("{nth}.example"));
        assert_eq!(state, CircuitState::Closed);
    }
    assert_eq!(stack.handle().circuits(), 1);
    assert_eq!(stack.state(), CircuitState::Open);
}

/// As the crate's page says: no more than so many bytes, whoever chooses the names.
#[tokio::test(start_paused = true)]
async fn a_million_destinations_take_no_more_than_ten_thousand() {
    let layer = BreakerLayer::new(config());
    let answer = |_| ready(Ok::<_, BoxError>(Response::new(Empty::<&[u8]>::new())));
    let mut service = layer.layer(service_fn(answer));
    let memory = allocation_counter::measure(|| {
        for nth in 0..1_000_000 {
            let request = Request::get(format!("http://host-{nth}.example/"));
            drop(service.call(request.body(()).unwrap()));
        }
    });
    assert_eq!(layer.handle().circuits(), 10_000);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let shards = threads.next_power_of_two().min(8) as u64;
    let each = memory.bytes_current as u64 / 10_000;
    assert!(
        each <= 700 + 256 * shards,
        "{each} bytes each, {shards} shards"
    );
}
