use std::time::Duration;

use steadfast_core::{Draws, Random};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::engine::Conflict;
use super::registry::Place;

/// How long one request still waits for another that runs its operation. None: not at all.
#[derive(Debug)]
pub(crate) struct Patience(Option<Waiting>);

#[derive(Debug)]
struct Waiting {
    until: Instant,
    draws: Draws,
    looks: u32,
    /// Ends when the caller has gone, who then waits for nothing.
    caller: oneshot::Receiver<()>,
}

/// What the caller keeps while it waits.
pub(crate) type Caller = Option<oneshot::Sender<()>>;

/// The first look at another process comes in this range, and later ones in growing ones: most
/// handlers take tens of milliseconds.
const FIRST: Duration = Duration::from_millis(40);
const LONGEST: Duration = Duration::from_millis(320);
/// What an instant can be asked to add.
const FOREVER: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

impl Patience {
    pub(crate) fn new(conflict: Conflict, random: &Random) -> (Caller, Self) {
        match conflict {
            Conflict::Refuse => (None, Self(None)),
            Conflict::Wait(limit) => {
                let (caller, gone) = oneshot::channel();
                let waiting = Waiting {
                    until: Instant::now() + limit.min(FOREVER),
                    draws: random.draws(),
                    looks: 0,
                    caller: gone,
                };
                (Some(caller), Self(Some(waiting)))
            }
        }
    }

    /// Waits for a reason to look again. False: there will be none in time, or no place to wait.
    pub(crate) async fn again(&mut self, place: Option<Place>) -> bool {
        match (&mut self.0, place) {
            (Some(waiting), Some(place)) if Instant::now() < waiting.until => {
                waiting.wait(place).await
            }
            _ => false,
        }
    }
}

impl Waiting {
    async fn wait(&mut self, place: Place) -> bool {
        let pause = self.pause();
        let reason = async {
            match place {
                Place::Taken(mut ended) => while ended.changed().await.is_ok() {},
                Place::Elsewhere => sleep(pause).await,
            }
        };
        tokio::select! {
            biased;
            _ = &mut self.caller => false,
            () = reason => true,
            () = sleep_until(self.until) => false,
        }
    }

    /// Half of it at least, so that nobody spins, and the rest by chance, so that those who wait
    /// for one operation do not look in lockstep.
    fn pause(&mut self) -> Duration {
        let longest = FIRST.saturating_mul(1 << self.looks.min(8)).min(LONGEST);
        self.looks += 1;
        longest.mul_f64(0.5 + self.draws.draw() / 2.0)
    }
}
