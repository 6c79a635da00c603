use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use super::LeaseSubject;
use super::trial::{
    LEASE, OVER, Tried, Word, ask, equal, hold, holds, long, must, operation, record, request,
    short,
};
use crate::server::leased::{Claimed, Fenced, LeaseStore, OnExpired, Seen, Terms};

const RACERS: usize = 8;

type Racer = Pin<Box<dyn Future<Output = Result<Claimed, String>> + Send>>;

/// Claims of as many processes as race, each through a store of its own, all polled at once.
async fn race<S: LeaseSubject>(
    subject: &S,
    key: &str,
    on_expired: OnExpired,
) -> Result<Vec<Claimed>, String> {
    let mut racers: Vec<Racer> = Vec::new();
    for _ in 0..RACERS {
        let store = subject.open().await;
        let operation = operation(key);
        racers.push(Box::pin(async move {
            let claim = ask("x", long(), on_expired);
            must("claim", store.claim(&operation, &claim)).await
        }));
    }
    let mut claimed = Vec::new();
    std::future::poll_fn(|cx| {
        racers.retain_mut(|racer| match racer.as_mut().poll(cx) {
            Poll::Ready(one) => {
                claimed.push(one);
                false
            }
            Poll::Pending => true,
        });
        match racers.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    claimed.into_iter().collect()
}

fn held(claimed: &[Claimed]) -> usize {
    let held = |one: &&Claimed| matches!(one, Claimed::Held { .. });
    claimed.iter().filter(held).count()
}

pub(super) async fn one_holder<S: LeaseSubject>(subject: &S) -> Tried {
    for round in 0..10 {
        let claimed = race(subject, &format!("race-{round}"), OnExpired::TakeOver).await?;
        equal("holders of a race", held(&claimed), 1)?;
        let others = |one: &&Claimed| matches!(one, Claimed::Running { left } if *left > LEASE);
        let others = claimed.iter().filter(others).count();
        equal("others that are told it runs", others, RACERS - 1)?;
    }
    Ok(())
}

pub(super) async fn taken_over<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let key = operation("k");
    let claim = ask("x", short(), OnExpired::TakeOver);
    let (first, attempt) = hold(&store, &key, &claim).await?;
    equal("the first attempt", attempt, 1)?;
    subject.pass(OVER).await;
    let claimed = race(subject, "k", OnExpired::TakeOver).await?;
    equal("holders after the lease's end", held(&claimed), 1)?;
    let next = claimed.iter().find_map(|one| match one {
        Claimed::Held { fence, attempt } => Some((*fence > first, *attempt)),
        _ => None,
    });
    equal("a larger fence, and the attempt", next, Some((true, 2)))
}

pub(super) async fn unknown<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let key = operation("k");
    let claim = ask("x", short(), OnExpired::Unknown);
    let (fence, attempt) = hold(&store, &key, &claim).await?;
    subject.pass(OVER).await;
    let right = Claimed::Unknown { fence, attempt };
    for _ in 0..2 {
        for claimed in race(subject, "k", OnExpired::Unknown).await? {
            equal("a claim after the lease's end", claimed, right.clone())?;
        }
    }
    let seen = must("find", store.find(&key)).await?;
    let right = Seen::Unknown {
        fingerprint: request("x"),
        fence,
        attempt,
    };
    equal("a look", seen, Some(right))?;
    let claim = ask("x", long(), OnExpired::TakeOver);
    let (later, attempt) = hold(&store, &key, &claim).await?;
    holds("who may take over does so", later > fence && attempt == 2)
}

pub(super) async fn renewed<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let other = subject.open().await;
    let key = operation("k");
    // So long that no busy machine misses a renewal.
    let lease = LEASE * 5;
    let terms = Terms::new(lease, long().retention());
    let claim = ask("x", terms, OnExpired::TakeOver);
    let (fence, _) = hold(&store, &key, &claim).await?;
    for _ in 0..4 {
        subject.pass(lease / 2).await;
        let renewed = must("renew", store.renew(&key, fence, terms)).await?;
        equal("a renewal in time", renewed, Fenced::Accepted)?;
        let asked = ask("x", terms, OnExpired::TakeOver);
        match must("claim", other.claim(&key, &asked)).await? {
            Claimed::Running { left } if left <= lease && left > Duration::ZERO => {}
            claimed => return Err(format!("a claim beside a renewed lease: {claimed:?}")),
        }
    }
    subject.pass(lease + OVER).await;
    // Nobody has claimed, so it is still its owner's.
    let late = must("renew", store.renew(&key, fence, long())).await?;
    equal("a late renewal", late, Fenced::Accepted)?;
    let asked = ask("x", short(), OnExpired::TakeOver);
    let claimed = must("claim", other.claim(&key, &asked)).await?;
    holds(
        "a late renewal holds",
        matches!(claimed, Claimed::Running { .. }),
    )
}

pub(super) async fn remembered<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    for (key, word) in [
        ("a", None),
        ("b", Some(Word::Abandon)),
        ("c", Some(Word::Release)),
    ] {
        let key = operation(key);
        let (fence, _) = hold(&store, &key, &ask("x", short(), OnExpired::TakeOver)).await?;
        if let Some(word) = word {
            let said = word
                .say(&store, &key, fence, &record("x", ""), short())
                .await?;
            equal("the owner's word", said, Fenced::Accepted)?;
        }
        subject.pass(OVER * 2).await;
        subject.sweep().await;
        let again = hold(&store, &key, &ask("x", short(), OnExpired::TakeOver)).await?;
        holds(
            "long after its lease an operation counts on",
            again.0 > fence && again.1 == 2,
        )?;
    }
    Ok(())
}
