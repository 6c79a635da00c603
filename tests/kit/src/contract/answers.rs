//! What the inner service answered, and what the layer makes of it.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode, Version};
use http_body::Body;

use super::rig::{call, frames, service};
use super::{Inner, Subject};
use crate::{BoxError, Chunks, Probe, Schedule, Step};

/// What the inner service puts beside its answer.
#[derive(Clone, Debug, PartialEq)]
struct Beside(&'static str);

/// One answer of the inner service, as it comes through the layer.
async fn through<S: Subject>(subject: &S, answer: Response<Chunks>) -> Response<S::Answer> {
    let inner: Inner<S::Sent> = Probe::script([Step::answer(answer)]);
    let answer: Result<_, BoxError> = call(subject, &mut service(subject, &inner)).await;
    answer.unwrap_or_else(|error| panic!("an answer became an error: {error:?}"))
}

fn answer(status: u16) -> Response<Chunks> {
    let mut answer = Response::new(Chunks::of(["body"]));
    *answer.status_mut() = StatusCode::from_u16(status).expect("the trials' statuses are valid");
    answer
}

pub(super) async fn heads_pass<S: Subject>(subject: &S) {
    for status in [200, 207, 303, 404, 422] {
        let mut made = answer(status);
        let headers = made.headers_mut();
        for (name, value) in [("x-twice", "1"), ("x-once", "a, b"), ("x-twice", "2")] {
            headers.append(name, http::HeaderValue::from_static(value));
        }
        headers.append(
            "x-bytes",
            http::HeaderValue::from_bytes(b"\xff").expect("obs-text"),
        );
        *made.version_mut() = Version::HTTP_2;
        let want = made.headers().clone();
        let got = through(subject, made).await;
        assert_eq!(got.status().as_u16(), status, "the status");
        assert_eq!(got.version(), Version::HTTP_2, "the version of a {status}");
        for name in want.keys() {
            let lines = |headers: &HeaderMap| {
                headers
                    .get_all(name)
                    .into_iter()
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                lines(got.headers()),
                lines(&want),
                "the header {name} of a {status}"
            );
        }
    }
}

pub(super) async fn extensions_pass<S: Subject>(subject: &S) {
    let mut made = answer(200);
    made.extensions_mut().insert(Beside("the answer"));
    let got = through(subject, made).await;
    assert_eq!(
        got.extensions().get(),
        Some(&Beside("the answer")),
        "a value of the extensions"
    );
}

/// Bodies of the trial of frames: enough to meet each kind of frame after each other one.
const SCHEDULES: u64 = 64;

pub(super) async fn frames_pass<S: Subject>(subject: &S) {
    for seed in 0..SCHEDULES {
        let body = || Chunks::new(Schedule::default().pieces(seed));
        let want = Seen::of(body()).await;
        let status = [200, 404][(seed % 2) as usize];
        let got = through(subject, answer(status).map(|_| body())).await;
        let got = Seen::of(got.into_body()).await;
        assert_eq!(got, want, "the body of a {status}, random schedule {seed}");
    }
}

/// A body, frame by frame.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    data: Vec<Bytes>,
    trailers: Option<HeaderMap>,
    failed: bool,
}

impl Seen {
    async fn of<B: Body<Data = Bytes, Error: Into<BoxError>>>(body: B) -> Self {
        let mut seen = Self::default();
        let (frames, error) = frames(body).await;
        seen.failed = error.is_some();
        for frame in frames {
            match frame.into_data() {
                Ok(bytes) => seen.data.push(bytes),
                Err(frame) => seen.trailers = frame.into_trailers().ok(),
            }
        }
        seen
    }
}
