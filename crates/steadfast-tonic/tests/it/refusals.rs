//! Refusals of ours and errors of the transport, as a caller sees them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use steadfast_core::{BoxError, Cut, Elapsed, Failure, Outcome, Reason, Rejected, Report};
use steadfast_greeter::greeter_client::GreeterClient;
use steadfast_tonic::{StatusLayer, status_of};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, service_fn};

use crate::greeter::channel;
use crate::peer::*;

/// Through the generated client, which sees nothing but the status.
async fn seen(make: impl Fn() -> BoxError + Clone + Send + 'static) -> Status {
    let service = service_fn(move |_: Request<Body>| {
        let error = make();
        async move { Err::<Response<Body>, BoxError>(error) }
    });
    let mut client = GreeterClient::new(StatusLayer::new().layer(service));
    client.say_hello(hello()).await.unwrap_err()
}

#[tokio::test]
async fn each_refusal_has_its_code_and_is_found_by_type() {
    for reason in Reason::ALL {
        let status = seen(move || Rejected::new(reason).into()).await;
        let code = match reason {
            Reason::Deadline => Code::DeadlineExceeded,
            Reason::BulkheadFull | Reason::BudgetExhausted => Code::ResourceExhausted,
            Reason::KeyRequired | Reason::KeyExpired => Code::FailedPrecondition,
            Reason::Cancelled => Code::Cancelled,
            _ => Code::Unavailable,
        };
        assert_eq!(status.code(), code, "{reason}");
        assert_eq!(Rejected::find(&status).map(Rejected::reason), Some(reason));
    }
}

#[tokio::test]
async fn time_that_ran_out_is_deadline_exceeded_but_for_connecting() {
    for cut in [
        Cut::AttemptTimeout,
        Cut::Deadline,
        Cut::BodyIdle,
        Cut::BodyTotal,
        Cut::Connect,
    ] {
        let elapsed = move || Elapsed::new(Duration::from_secs(1), cut);
        let report = Report::new(2, Duration::ZERO, Some(Reason::Deadline), Outcome::Unknown);
        let status = seen(move || Failure::new(report, elapsed()).into()).await;
        let code = match cut {
            Cut::Connect => Code::Unavailable,
            _ => Code::DeadlineExceeded,
        };
        assert_eq!(status.code(), code, "{cut:?}");
        assert_eq!(Elapsed::find(&status), Some(&elapsed()));
        assert_eq!(Failure::find(&status).unwrap().report().attempts, 2);
    }
}

#[test]
fn a_status_below_a_report_keeps_its_words() {
    let report = Report::new(
        3,
        Duration::ZERO,
        Some(Reason::AttemptsExhausted),
        Outcome::Unknown,
    );
    let mut below = Status::with_details(Code::Aborted, "conflict", b"why".to_vec().into());
    below.metadata_mut().insert("x-shard", "7".parse().unwrap());
    let status = status_of(Failure::new(report, below).into());
    assert_eq!(
        (status.code(), status.message()),
        (Code::Aborted, "conflict")
    );
    assert_eq!(
        (status.details(), status.metadata().len()),
        (&b"why"[..], 1)
    );
    assert_eq!(reason(&status), Some(Reason::AttemptsExhausted));
}

#[test]
fn a_connection_that_broke_is_unavailable_and_an_unknown_error_is_unknown() {
    let broke = status_of(io::Error::from(io::ErrorKind::ConnectionReset).into());
    assert_eq!(broke.code(), Code::Unavailable);
    let odd = status_of("peek-a-boo".into());
    assert_eq!((odd.code(), odd.message()), (Code::Unknown, "peek-a-boo"));
    let shared: Arc<str> = "one".into();
    assert_eq!(status_of(BoxError::from(&*shared)).code(), Code::Unknown);
}

/// O-12: nothing was sent, so any method is tried again.
#[tokio::test]
async fn a_refused_connection_is_tried_again_whatever_the_method() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let mut client = client(channel(&uri), config());
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    let report = report(&status);
    assert_eq!(
        (report.attempts, report.reason),
        (3, Some(Reason::AttemptsExhausted))
    );
    assert_eq!(report.outcome, Outcome::NotApplied);
}
