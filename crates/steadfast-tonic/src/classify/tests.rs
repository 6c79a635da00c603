use std::io;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use steadfast_core::{BoxError, Reason};

use super::*;

const UNSENT: Verdict = Verdict::Transient(Delivery::Unsent);
const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);

fn caused(mut status: Status, cause: impl Into<BoxError>) -> Status {
    status.set_source(Arc::from(cause.into()));
    status
}

#[test]
fn a_status_means_its_code_unless_its_cause_knows_more() {
    let refused = || ConnectError(io::Error::from(io::ErrorKind::ConnectionRefused).into());
    let certificate = || ConnectError(io::Error::from(io::ErrorKind::InvalidData).into());
    let open = || Rejected::new(Reason::CircuitOpen);
    let cases: [(Status, Verdict); 8] = [
        (Status::unavailable("x"), UNKNOWN),
        (Status::aborted("x"), Verdict::Permanent(Delivery::Answered)),
        (Status::internal("x"), Verdict::Permanent(Delivery::Unknown)),
        (Status::ok("x"), Verdict::Permanent(Delivery::Unknown)),
        (caused(Status::unavailable("x"), refused()), UNSENT),
        (
            caused(Status::unavailable("x"), certificate()),
            Verdict::Permanent(Delivery::Unsent),
        ),
        (
            caused(Status::unavailable("x"), open()),
            Verdict::Rejected(Reason::CircuitOpen),
        ),
        (
            caused(Status::cancelled("x"), io::Error::other("reset")),
            Verdict::Permanent(Delivery::Unknown),
        ),
    ];
    for (status, want) in cases {
        let classify = TonicClassify::default();
        assert_eq!(classify.error(&status), want, "{status:?}");
        let deep = io::Error::other(io::Error::other(status));
        assert_eq!(classify.error(&deep), want, "{deep:?}, wrapped twice");
    }
    let ours = TonicClassify::new(RetryableCodes::NONE.with(Code::Aborted));
    assert_eq!(ours.error(&Status::aborted("x")), UNKNOWN);
    assert_eq!(TonicClassify::default().error(&TimeoutExpired(())), UNKNOWN);
}

fn answer(status: u16, kind: &'static str) -> Verdict {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let status = StatusCode::from_u16(status).unwrap();
    TonicClassify::default().answer(&Answer::new(status, &headers))
}

#[test]
fn an_answer_that_is_no_grpc_means_the_code_of_its_status() {
    for (status, want) in [
        (200, Verdict::Permanent(Delivery::Unknown)),
        (400, Verdict::Permanent(Delivery::Answered)),
        (404, Verdict::Permanent(Delivery::Answered)),
        (408, Verdict::Permanent(Delivery::Unknown)),
        (429, Verdict::Transient(Delivery::Unprocessed)),
        (500, Verdict::Permanent(Delivery::Unknown)),
        (502, UNKNOWN),
        (503, UNKNOWN),
        (504, UNKNOWN),
    ] {
        assert_eq!(answer(status, "text/html"), want, "{status}");
    }
    assert_eq!(answer(200, "application/grpc"), Verdict::Success);
}
