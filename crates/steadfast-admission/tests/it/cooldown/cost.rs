use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Waker};

use steadfast_admission::Scope;
use steadfast_admission::cooldown::CooldownFuture;
use tower::{Service, service_fn};

use super::*;

/// Allocations of a call like others before it.
fn allocations<S>(mut service: S, request: Request<()>) -> u64
where
    S: Service<Request<()>>,
{
    let mut cx = Context::from_waker(Waker::noop());
    let mut call = |request| {
        let call = pin!(service.call(request));
        assert!(Future::poll(call, &mut cx).is_ready());
    };
    call(request.clone());
    let counted = allocation_counter::measure(move || call(request));
    counted.count_total
}

fn answering(
    status: u16,
) -> impl Service<Request<()>, Response = Response<()>, Error = Infallible, Future: Send> + Clone {
    service_fn(move |_| {
        let mut answer = Response::new(());
        *answer.status_mut() = StatusCode::from_u16(status).unwrap();
        ready(Ok(answer))
    })
}

// No runtime is here: nothing takes a timer.
#[test]
fn an_idle_layer_allocates_nothing() {
    for scope in [Scope::Destination, Scope::Layer] {
        let config = CooldownConfig::new().with_scope(scope);
        for config in [config.clone(), config.with_observer(())] {
            let layer = CooldownLayer::new(config);
            for status in [200, 503] {
                let service = layer.layer(answering(status));
                assert_eq!(allocations(service, get("a.example")), 0, "{scope:?}");
            }
        }
    }
}

#[test]
fn a_refusal_allocates_its_error_alone() {
    let layer = CooldownLayer::default();
    layer.handle().cool("a.example", SECOND);
    let service = layer.layer(answering(200));
    assert_eq!(allocations(service, get("a.example")), 1);
}

#[test]
fn the_future_stays_small() {
    type Inner = Ready<Result<(), Infallible>>;
    let own = size_of::<CooldownFuture<Inner>>() - size_of::<Inner>();
    assert!(own <= 96, "{own} bytes beside the inner future");
}
