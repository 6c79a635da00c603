//! Calls through a bulkhead.

use std::num::NonZeroU32;

use http::{Request, Response};
use steadfast_admission::bulkhead::{Bulkhead, BulkheadBody, BulkheadConfig, BulkheadFuture};
use steadfast_core::{BoxError, CallContext, Criticality, Reason, Rejected};
use steadfast_kit::{Answering, Chunks, Probe, Step};
use tokio_test::task::{Spawn, spawn};
use tokio_test::{assert_ready, assert_ready_ok};
use tower::Service;

mod contract;
mod cost;
mod destinations;
mod drops;
mod permits;
mod queue;
mod reload;
mod shadow;
mod threads;
mod waits;

type Inner = Probe<Request<()>, Response<Chunks>>;
type BulkheadCall = Spawn<BulkheadFuture<Inner, Answering<Request<()>, Response<Chunks>>, ()>>;
type Answered = Result<Response<BulkheadBody<Chunks>>, BoxError>;

fn limit(limit: u32) -> BulkheadConfig {
    BulkheadConfig::new().with_limit(NonZeroU32::new(limit).unwrap())
}

fn get(destination: &str) -> Request<()> {
    let uri = format!("http://{destination}/path?query");
    Request::get(uri).body(()).unwrap()
}

/// An answer without a body.
fn empty() -> Response<Chunks> {
    Response::new(Chunks::new([]).with_exact_size())
}

fn never() -> Step<Request<()>, Response<Chunks>> {
    Step::never()
}

fn answers(count: usize) -> impl Iterator<Item = Step<Request<()>, Response<Chunks>>> {
    (0..count).map(|_| Step::answer(empty()))
}

/// A call of a clone, which is ready at once.
fn call(service: &Bulkhead<Inner>, request: Request<()>) -> BulkheadCall {
    let mut service = service.clone();
    assert_ready_ok!(spawn(()).enter(|cx, _| service.poll_ready(cx)));
    spawn(service.call(request))
}

fn call_that_matters(
    service: &Bulkhead<Inner>,
    criticality: Criticality,
    request: Request<()>,
) -> BulkheadCall {
    let context = CallContext::new().with_criticality(criticality);
    context.run(|| call(service, request))
}

/// Why nothing was sent.
fn reason(answered: Answered) -> Reason {
    let error = answered.err().unwrap();
    Rejected::find(&*error).unwrap().reason()
}

/// The reason of a call that is refused at its first poll.
fn refused(mut call: BulkheadCall) -> Reason {
    reason(assert_ready!(call.poll()))
}

#[test]
fn a_layer_and_its_parts_are_what_they_are_documented_to_be() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug>() {}
    fn sent<T: Send>() {}
    shared::<steadfast_admission::BulkheadLayer>();
    shared::<steadfast_admission::bulkhead::BulkheadHandle>();
    shared::<BulkheadConfig>();
    sent::<Bulkhead<Inner>>();
    sent::<BulkheadCall>();
    fn unpin<T: Unpin>() {}
    unpin::<BulkheadBody<Chunks>>();
}
