use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Waker;

use super::*;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn named(name: &str) -> CallContext {
    CallContext::new().with_operation(name)
}

fn current() -> Option<String> {
    CallContext::current().operation().map(str::to_owned)
}

#[test]
fn scopes_nest_and_end_with_each_poll() {
    let mut outer = pin!(in_context(named("outer"), async {
        assert_eq!(current().as_deref(), Some("outer"));
        in_context(named("inner"), async {
            assert_eq!(current().as_deref(), Some("inner"));
            assert_eq!(without_context(async { current() }).await, None);
            let mut first = true;
            std::future::poll_fn(|_| match std::mem::take(&mut first) {
                true => Poll::Pending,
                false => Poll::Ready(()),
            })
            .await;
            assert_eq!(current().as_deref(), Some("inner"));
        })
        .await;
        assert_eq!(current().as_deref(), Some("outer"));
    }));
    assert!(poll(outer.as_mut()).is_pending());
    assert_eq!(current(), None);
    assert!(poll(outer.as_mut()).is_ready());
    assert_eq!(current(), None);
}

#[test]
fn work_that_waits_for_nothing_runs_in_a_context_too() {
    let outer = named("outer");
    let seen = outer.run(|| (named("inner").run(current), current()));
    assert_eq!(seen, (Some("inner".into()), Some("outer".into())));
    assert_eq!(current(), None);
}

#[test]
fn a_panic_leaves_no_context_behind() {
    let mut future = pin!(in_context(named("doomed"), async { panic!("inside") }));
    let caught = catch_unwind(AssertUnwindSafe(|| poll(future.as_mut())));
    assert!(caught.is_err());
    assert_eq!(current(), None);
}

#[test]
fn spawned_work_keeps_the_context_it_was_made_in() {
    let mut spawned = None;
    let mut outer = pin!(in_context(named("served"), async {
        spawned = Some(in_current_context(async { current() }));
    }));
    assert!(poll(outer.as_mut()).is_ready());
    let mut spawned = pin!(spawned.unwrap());
    assert_eq!(
        poll(spawned.as_mut()),
        Poll::Ready(Some("served".to_owned()))
    );
    let mut idle = pin!(without_context(pending::<()>()));
    assert!(poll(idle.as_mut()).is_pending());
    assert_eq!(poll(pin!(ready(1))), Poll::Ready(1));
}
