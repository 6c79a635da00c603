use std::time::Duration;

use super::LeaseSubject;
use super::trial::{
    OVER, Tried, Word, ask, equal, hold, holds, long, must, operation, record, short,
};
use crate::server::leased::{Claimed, Fence, Fenced, LeaseStore, OnExpired, Terms};

pub(super) async fn fenced<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let key = operation("k");
    let (stale, _) = hold(&store, &key, &ask("x", short(), OnExpired::TakeOver)).await?;
    subject.pass(OVER).await;
    let (fence, _) = hold(&store, &key, &ask("x", long(), OnExpired::TakeOver)).await?;
    let wrong = [
        stale,
        Fence::new(0),
        Fence::new(fence.get() - 1),
        Fence::new(fence.get() + 1),
    ];
    for word in Word::ALL {
        for wrong in wrong {
            let before = must("find", store.find(&key)).await?;
            let said = word
                .say(&store, &key, wrong, &record("x", "stale"), long())
                .await?;
            equal(
                &format!("{word:?} of another claim"),
                said,
                Fenced::Rejected,
            )?;
            let after = must("find", store.find(&key)).await?;
            let kind = |seen: &Option<_>| seen.as_ref().map(std::mem::discriminant);
            equal("what is kept", kind(&after), kind(&before))?;
        }
        let said = word
            .say(&store, &operation("never"), fence, &record("x", ""), long())
            .await?;
        equal("a word of what was never claimed", said, Fenced::Rejected)?;
    }
    let done = record("x", "done");
    let said = Word::Complete
        .say(&store, &key, fence, &done, long())
        .await?;
    equal("the owner's completion", said, Fenced::Accepted)?;
    let asked = ask("x", long(), OnExpired::TakeOver);
    let claimed = store.claim(&key, &asked);
    equal(
        "the answer",
        must("claim", claimed).await?,
        Claimed::Done(done),
    )
}

pub(super) async fn grow<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let key = operation("k");
    // So short that the record itself is forgotten.
    let brief = Terms::new(Duration::from_millis(50), Duration::from_millis(50));
    let mut last = Fence::new(0);
    for round in 0..6 {
        let claim = ask("x", brief, OnExpired::TakeOver);
        let (fence, _) = hold(&store, &key, &claim).await?;
        holds(&format!("fence {fence} came after {last}"), fence > last)?;
        last = fence;
        match round % 3 {
            0 => {
                let said = Word::Release
                    .say(&store, &key, fence, &record("x", ""), brief)
                    .await?;
                equal("a release", said, Fenced::Accepted)?;
            }
            1 => subject.pass(Duration::from_millis(60)).await,
            _ => {
                subject.pass(OVER).await;
                subject.sweep().await;
            }
        }
    }
    Ok(())
}

pub(super) async fn late_word<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let other = subject.open().await;
    for (key, given_up) in [("a", false), ("b", true)] {
        for word in [Word::Complete, Word::Release, Word::Abandon] {
            let key = operation(&format!("{key}-{word:?}"));
            let claim = ask("x", short(), OnExpired::Unknown);
            let (fence, attempt) = hold(&store, &key, &claim).await?;
            subject.pass(OVER).await;
            if given_up {
                let asked = ask("x", short(), OnExpired::Unknown);
                let claimed = must("claim", other.claim(&key, &asked)).await?;
                equal("a claim", claimed, Claimed::Unknown { fence, attempt })?;
                let renewed = must("renew", store.renew(&key, fence, short())).await?;
                equal("a renewal of what was given up", renewed, Fenced::Rejected)?;
            }
            let done = record("x", "late");
            let said = word.say(&store, &key, fence, &done, long()).await?;
            equal(&format!("a late {word:?}"), said, Fenced::Accepted)?;
            let asked = ask("x", long(), OnExpired::Unknown);
            let claimed = must("claim", other.claim(&key, &asked)).await?;
            let right = match word {
                Word::Complete => claimed == Claimed::Done(done),
                Word::Release => matches!(claimed, Claimed::Held { attempt: 2, .. }),
                _ => claimed == Claimed::Unknown { fence, attempt },
            };
            holds(&format!("after a late {word:?}: {claimed:?}"), right)?;
        }
    }
    Ok(())
}

pub(super) async fn said_again<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let other = subject.open().await;
    let key = operation("k");
    let claim = ask("x", long(), OnExpired::Unknown);
    let first = hold(&store, &key, &claim).await?;
    equal(
        "the same claim again",
        hold(&store, &key, &claim).await?,
        first,
    )?;
    let asked = ask("x", long(), OnExpired::Unknown);
    let beside = must("claim", other.claim(&key, &asked)).await?;
    holds(
        "another claim waits",
        matches!(beside, Claimed::Running { .. }),
    )?;
    for _ in 0..2 {
        let said = Word::Release
            .say(&store, &key, first.0, &record("x", ""), long())
            .await?;
        equal("a release", said, Fenced::Accepted)?;
    }
    let claim = ask("x", long(), OnExpired::Unknown);
    let (fence, _) = hold(&store, &key, &claim).await?;
    for body in ["one", "two"] {
        let said = Word::Complete
            .say(&store, &key, fence, &record("x", body), long())
            .await?;
        equal("a completion", said, Fenced::Accepted)?;
    }
    for word in [Word::Release, Word::Abandon, Word::Renew] {
        let said = word
            .say(&store, &key, fence, &record("x", ""), long())
            .await?;
        equal(&format!("{word:?} of what is done"), said, Fenced::Rejected)?;
    }
    let claimed = must("claim", other.claim(&key, &asked)).await?;
    equal(
        "the first answer",
        claimed,
        Claimed::Done(record("x", "one")),
    )
}
