//! A host's own word about when to come back, kept by every caller.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use steadfast_admission::CooldownLayer;
use steadfast_admission::cooldown::{Cooldown, CooldownConfig};
use steadfast_core::{BoxError, Event, Reason, Rejected};
use steadfast_kit::{Probe, Step};
use tower::{Layer, ServiceExt};

mod contract;
mod cost;
mod destinations;
mod events;
mod handle;
mod hints;
mod reload;
mod threads;

type Peer = Probe<Request<()>, Response<()>>;
type Script = Step<Request<()>, Response<()>>;

const SECOND: Duration = Duration::from_secs(1);

fn get(host: &str) -> Request<()> {
    let uri = format!("http://{host}/");
    Request::get(uri).body(()).unwrap()
}

fn answer(status: u16, headers: &[(&str, &str)]) -> Response<()> {
    let mut answer = Response::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(()).unwrap()
}

/// An answer of this status that says when to come back.
fn told(status: u16, retry_after: &str) -> Script {
    Step::answer(answer(status, &[("retry-after", retry_after)]))
}

fn ok() -> Script {
    Step::answer(answer(200, &[]))
}

fn around(
    layer: &CooldownLayer,
    steps: impl IntoIterator<Item = Script>,
) -> (Cooldown<Peer>, Peer) {
    let peer = Probe::script(steps);
    (layer.layer(peer.clone()), peer)
}

/// A layer of defaults around these steps.
fn over(steps: impl IntoIterator<Item = Script>) -> (Cooldown<Peer>, Peer) {
    around(&CooldownLayer::default(), steps)
}

/// The status of a call by a caller of its own.
async fn call(service: &Cooldown<Peer>, host: &str) -> Result<StatusCode, BoxError> {
    let answer = service.clone().oneshot(get(host)).await?;
    Ok(answer.status())
}

/// For how long such a call is refused.
async fn refused(service: &Cooldown<Peer>, host: &str) -> Option<Duration> {
    let error = call(service, host).await.err()?;
    let rejected = Rejected::find(&*error).expect("a refusal of ours");
    assert_eq!(rejected.reason(), Reason::Cooldown);
    Some(rejected.retry_in().expect("when it ends is known"))
}

/// What an observer was told, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn observed(&self, config: CooldownConfig) -> CooldownConfig {
        let log = self.0.clone();
        config.with_observer(move |event: &Event<'_>| {
            let line = match event {
                Event::CooldownBegan(began) => {
                    let subject = began.subject;
                    let destination = subject.destination.unwrap_or("?");
                    format!("{destination} {} for {:?}", began.status, began.wait)
                }
                Event::AdmissionRefused(refused) => {
                    let destination = refused.subject.destination.unwrap_or("?");
                    let (reason, rest) = (refused.reason, refused.retry_in);
                    format!("{destination} {reason} {rest:?} {}", refused.enforced)
                }
                other => panic!("{other:?} is not an event of this layer"),
            };
            log.lock().unwrap().push(line);
        })
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}
