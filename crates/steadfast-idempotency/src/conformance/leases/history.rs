use std::num::NonZeroUsize;
use std::time::Duration;

use steadfast_core::{Draws, Random};

use super::LeaseSubject;
use super::trial::{Tried, Word, ask, long, must, operation, record};
use crate::server::leased::{
    Claim, Claimed, Fence, Fenced, LeaseStore, MemoryLeaseStore, OnExpired, Seen, Terms,
};

const HISTORIES: u64 = 3;
const STEPS: usize = 40;
/// So long that no busy machine lets one end by itself, between two waits for its end.
const LEASE: Duration = Duration::from_millis(1500);
const OVER: Duration = Duration::from_millis(1900);

/// Random histories, of the store and of the one in memory side by side. Fences are compared by
/// their order, times not at all.
pub(super) async fn histories<S: LeaseSubject>(subject: &S) -> Tried {
    for seed in 0..HISTORIES {
        let store = subject.open().await;
        let memory = MemoryLeaseStore::new(NonZeroUsize::MIN);
        let mut pair = Pair {
            store,
            memory,
            draws: Random::seeded(seed).draws(),
            fences: vec![(Fence::new(0), Fence::new(0))],
            last: ask("x", long(), OnExpired::TakeOver),
            key: format!("history-{seed}"),
        };
        for step in 0..STEPS {
            if pair.draw(12) == 0 {
                subject.pass(OVER).await;
            }
            let told = format!("history {seed}, step {step}");
            pair.step()
                .await
                .map_err(|seen| format!("{told}: {seen}"))?;
        }
    }
    Ok(())
}

fn ending() -> Terms {
    Terms::new(LEASE, long().retention())
}

struct Pair<St> {
    store: St,
    memory: MemoryLeaseStore,
    draws: Draws,
    /// Those that were given out, of both.
    fences: Vec<(Fence, Fence)>,
    last: Claim,
    key: String,
}

impl<St: LeaseStore> Pair<St> {
    fn draw(&mut self, of: u32) -> u32 {
        (self.draws.draw() * f64::from(of)) as u32
    }

    async fn step(&mut self) -> Tried {
        let key = operation(&self.key);
        match self.draw(3) {
            0 => self.claim().await?,
            _ => self.say().await?,
        }
        let seen = must("find", self.store.find(&key)).await?;
        let right = must("find", self.memory.find(&key)).await?;
        alike("a look", self.seen(seen, OURS), self.seen(right, MEMORYS))
    }

    async fn claim(&mut self) -> Tried {
        let key = operation(&self.key);
        let terms = match self.draw(2) {
            0 => ending(),
            _ => long(),
        };
        let on_expired = match self.draw(2) {
            0 => OnExpired::TakeOver,
            _ => OnExpired::Unknown,
        };
        match self.draw(6) {
            0 => {}
            1 => self.last = ask("y", terms, on_expired),
            _ => self.last = ask("x", terms, on_expired),
        }
        let claimed = must("claim", self.store.claim(&key, &self.last)).await?;
        let right = must("claim", self.memory.claim(&key, &self.last)).await?;
        if let (Claimed::Held { fence, .. }, Claimed::Held { fence: next, .. }) = (&claimed, &right)
        {
            if self.fences.last().is_none_or(|last| last.1 < *next) {
                self.fences.push((*fence, *next));
            }
        }
        let (claimed, right) = (self.claimed(claimed, OURS), self.claimed(right, MEMORYS));
        alike("a claim", claimed, right)
    }

    async fn say(&mut self) -> Tried {
        let key = operation(&self.key);
        let back = self.draw(8) as usize / 6;
        let at = self.fences.len().saturating_sub(1 + back);
        let (fence, next) = self.fences[at];
        // Completions end a history's variety, so they are rare.
        let word = match self.draw(10) {
            0 => Word::Complete,
            1..4 => Word::Renew,
            4..7 => Word::Release,
            _ => Word::Abandon,
        };
        let terms = match self.draw(2) {
            0 => ending(),
            _ => long(),
        };
        let record = record("x", "answer");
        let said = word.say(&self.store, &key, fence, &record, terms).await?;
        let right: Fenced = word.say(&self.memory, &key, next, &record, terms).await?;
        alike(
            &format!("{word:?}"),
            format!("{said:?}"),
            format!("{right:?}"),
        )
    }

    /// Which of the given fences it is.
    fn place(&self, fence: Fence, of: Side) -> Option<usize> {
        self.fences.iter().position(|pair| of(pair) == fence)
    }

    fn claimed(&self, claimed: Claimed, of: Side) -> String {
        match claimed {
            Claimed::Held { fence, attempt } => {
                format!("held {:?} {attempt}", self.place(fence, of))
            }
            Claimed::Unknown { fence, attempt } => {
                format!("unknown {:?} {attempt}", self.place(fence, of))
            }
            Claimed::Running { .. } => "running".to_owned(),
            other => format!("{other:?}"),
        }
    }

    fn seen(&self, seen: Option<Seen>, of: Side) -> String {
        match seen {
            Some(Seen::Running {
                fence,
                attempt,
                left,
                ..
            }) => {
                let over = left.is_zero();
                format!(
                    "running {:?} {attempt}, over: {over}",
                    self.place(fence, of)
                )
            }
            Some(Seen::Unknown { fence, attempt, .. }) => {
                format!("unknown {:?} {attempt}", self.place(fence, of))
            }
            other => format!("{other:?}"),
        }
    }
}

/// Whose fence of a pair.
type Side = fn(&(Fence, Fence)) -> Fence;

const OURS: Side = |pair| pair.0;
const MEMORYS: Side = |pair| pair.1;

fn alike(what: &str, seen: String, right: String) -> Tried {
    match seen == right {
        true => Ok(()),
        false => Err(format!("{what}: {seen} instead of {right}")),
    }
}
