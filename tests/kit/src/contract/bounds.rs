use http::{Request, Response, StatusCode};
use tower_layer::Layer;
use tower_service::Service;

use super::rig::{InnerStep, frames, ready, upload};
use super::{Inner, Subject};
use crate::drive::drive;
use crate::{Chunks, Probe, Step};

/// Inner calls of one trial; then nothing answers any more.
const CALLS: usize = 300;

/// Polls of one call: some for each inner call, readiness and waits included.
const POLLS: usize = 20 * CALLS;

pub(super) async fn hold<S: Subject>(subject: &S) {
    for (setting, layer) in subject.extremes().into_iter().enumerate() {
        for below in [Below::Succeeds, Below::FailsAtFirst, Below::Breaks] {
            let inner: Inner<S::Sent> = Probe::script(below.steps());
            let mut service = layer.layer(inner.clone());
            if ready(&mut service).await.is_err() {
                continue;
            }
            let call = service.call(subject.request(upload()));
            let (answer, polls) = drive(call, POLLS, || {}).await;
            let calls = inner.calls();
            assert!(
                polls <= 20 * (calls + 1),
                "setting {setting}: {polls} polls for {calls} inner calls"
            );
            if let Ok(answer) = answer {
                // A body may fail, but it has an end.
                let _ = frames(answer.into_body()).await;
            }
            assert_eq!(
                inner.in_flight(),
                0,
                "setting {setting}: an inner call goes on"
            );
        }
    }
}

/// What the inner service does.
#[derive(Clone, Copy)]
enum Below {
    Succeeds,
    FailsAtFirst,
    Breaks,
}

impl Below {
    fn steps<B: Send + 'static>(self) -> Vec<InnerStep<B>> {
        let failures = match self {
            Self::Succeeds => 0,
            Self::FailsAtFirst | Self::Breaks => CALLS - 1,
        };
        let failure = |_| match self {
            Self::Breaks => Step::fail(super::Marked("again and again")),
            _ => Step::answer(unavailable()),
        };
        let success = Step::<Request<B>, _>::answer(Response::new(Chunks::of(["fine"])));
        (0..failures).map(failure).chain([success]).collect()
    }
}

fn unavailable() -> Response<Chunks> {
    let mut answer = Response::new(Chunks::of(["busy"]));
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    answer
}
