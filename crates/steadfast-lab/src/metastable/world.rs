use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Empty;
use steadfast::Random;
use steadfast::client::{Policy, Standard, StandardLayer};
use tokio::time::{Instant, sleep_until};
use tower::{Layer, ServiceExt};

use super::network::Network;
use super::queue::{CAPACITY, Queue};
use super::{Latency, Metastable, Outcome, Second};

/// A request takes so many times as long while the trigger lasts.
const SLOWDOWN: u64 = 5;
/// Seconds at the end that say whether it recovered.
const LAST: u32 = 20;
/// The share of a second's calls that must succeed in a system that has recovered.
const RECOVERED: f64 = 0.95;

pub(super) async fn simulate(setting: &Metastable, policy: Policy) -> Outcome {
    let random = Random::seeded(setting.seed);
    let queue = Queue::new();
    let trigger = setting.before..setting.before.saturating_add(setting.trigger);
    let end = trigger.end.saturating_add(setting.after);
    let tally = Tally::new(end);
    let clients: Vec<Standard<Network>> = (0..setting.clients.get())
        .map(|_| {
            // A state of its own for each.
            let layer = StandardLayer::new(policy.clone()).with_random(random.clone());
            layer.layer(Network::new(queue.clone(), setting.expired, tally.clone()))
        })
        .collect();
    let mut draws = random.draws();
    let per_second = f64::from(CAPACITY) * setting.load.as_f64();
    let mut at = 0.0;
    for client in clients.iter().cycle() {
        // Arrivals are independent of each other: exponential gaps.
        at -= (1.0 - draws.draw()).ln() / per_second;
        if at >= f64::from(end) {
            break;
        }
        sleep_until(tally.start + Duration::from_secs_f64(at)).await;
        let second = at as usize;
        let slow = (trigger.start as usize..trigger.end as usize).contains(&second);
        queue.take(if slow { SLOWDOWN } else { 1 });
        tally.began(second, queue.length());
        tokio::spawn(call(client.clone(), second, tally.clone()));
    }
    // Until the last call has ended: three attempts, and the waits between them.
    sleep_until(tally.start + Duration::from_secs_f64(f64::from(end) + 10.0)).await;
    outcome(&mut tally.lock(), trigger, end, queue.worked())
}

async fn call(client: Standard<Network>, second: usize, tally: Tally) {
    let began = Instant::now();
    let mut request = Request::new(Empty::<Bytes>::new());
    *request.uri_mut() = http::Uri::from_static("http://queue.example/");
    let answer = client.oneshot(request).await;
    if answer.is_ok_and(|answer| answer.status().is_success()) {
        tally.succeeded(second, began.elapsed());
    }
}

/// What is counted while it runs.
#[derive(Clone)]
pub(super) struct Tally {
    start: Instant,
    seconds: Arc<Mutex<Vec<Counted>>>,
}

#[derive(Clone, Default)]
struct Counted {
    second: Second,
    millis: Vec<u64>,
}

impl Tally {
    fn new(seconds: u32) -> Self {
        Self {
            start: Instant::now(),
            seconds: Arc::new(Mutex::new(vec![Counted::default(); seconds as usize])),
        }
    }

    pub(super) fn attempted(&self) {
        let second = self.start.elapsed().as_secs() as usize;
        if let Some(counted) = self.lock().get_mut(second) {
            counted.second.attempts += 1;
        }
    }

    fn began(&self, second: usize, queue: u64) {
        if let Some(counted) = self.lock().get_mut(second) {
            counted.second.calls += 1;
            // The last of the second stays.
            counted.second.queue = queue;
        }
    }

    fn succeeded(&self, second: usize, took: Duration) {
        if let Some(counted) = self.lock().get_mut(second) {
            counted.second.good += 1;
            counted.millis.push(took.as_millis() as u64);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Counted>> {
        self.seconds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn outcome(counted: &mut [Counted], trigger: Range<u32>, end: u32, worked: u64) -> Outcome {
    for Counted { second, millis } in &mut *counted {
        second.median_ms = Latency::of(millis).map(|latency| latency.median_ms);
    }
    let seconds: Vec<_> = counted.iter().map(|counted| counted.second).collect();
    let [before, over, end] = [trigger.start, trigger.end, end].map(|second| second as usize);
    let last = end.saturating_sub(LAST as usize).max(over);
    let mut latest: Vec<_> = counted[last..]
        .iter()
        .flat_map(|counted| counted.millis.iter().copied())
        .collect();
    let down = |second: &Second| (second.good as f64) < RECOVERED * second.calls as f64;
    let recovered_after = match seconds[over..].iter().rposition(down) {
        None => Some(0),
        Some(at) if over + at + 1 < end => Some(at as u32 + 1),
        Some(_) => None,
    };
    let attempts = |second: &Second| second.attempts as f64 / second.calls as f64;
    let (calls, good, sent) = sums(&seconds);
    Outcome {
        before: share(&seconds[..before]),
        during: share(&seconds[before..over]),
        after: share(&seconds[last..]),
        recovered_after,
        attempts_per_call: sent as f64 / calls as f64,
        worst_attempts_per_call: seconds[before..].iter().map(attempts).fold(0.0, f64::max),
        wasted: 1.0 - good as f64 / worked as f64,
        latency: Latency::of(&mut latest),
        seconds,
    }
}

fn share(seconds: &[Second]) -> f64 {
    let (calls, good, _) = sums(seconds);
    good as f64 / calls as f64
}

fn sums(seconds: &[Second]) -> (u64, u64, u64) {
    seconds
        .iter()
        .fold((0, 0, 0), |(calls, good, sent), second| {
            (
                calls + second.calls,
                good + second.good,
                sent + second.attempts,
            )
        })
}
