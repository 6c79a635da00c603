use super::TxSubject;
use super::trial::{RETENTION, Seen, done, effects, equal, fresh, must, operation, record, write};
use crate::server::TxStore;

pub(super) async fn are_whole<S: TxSubject>(subject: &S) -> Seen {
    let (store, other) = (subject.open().await, subject.open().await);
    let (key, own) = (operation("k"), record("kept"));
    let mut tx = fresh(&store, &key).await?;
    write(subject, &mut tx, "e").await?;
    must("record", store.record(&mut tx, &key, &own, RETENTION)).await?;
    for store in [&store, &other] {
        let early = must("find", store.find(&key)).await?;
        equal("find before the commit", early, None)?;
    }
    equal("effects before the commit", effects(subject).await, vec![])?;
    must("commit", store.commit(tx)).await?;
    for store in [&store, &other] {
        let found = must("find", store.find(&key)).await?;
        equal("find after the commit", found.as_ref(), Some(&own))?;
    }
    let right = vec!["e".to_owned()];
    equal("effects after the commit", effects(subject).await, right)
}

/// How far a transaction gets before it is given up.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Begun,
    Written,
    Undone,
    Recorded,
}

pub(super) async fn leave_nothing_otherwise<S: TxSubject>(subject: &S) -> Seen {
    let store = subject.open().await;
    let key = operation("k");
    for stage in [Stage::Begun, Stage::Written, Stage::Undone, Stage::Recorded] {
        for dropped in [true, false] {
            let mut tx = fresh(&store, &key).await?;
            if !matches!(stage, Stage::Begun) {
                write(subject, &mut tx, "e").await?;
            }
            match stage {
                Stage::Begun | Stage::Written => {}
                Stage::Undone => must("rollback_effect", store.rollback_effect(&mut tx)).await?,
                Stage::Recorded => {
                    let own = record("given up");
                    must("record", store.record(&mut tx, &key, &own, RETENTION)).await?;
                }
            }
            match dropped {
                true => drop(tx),
                false => must("rollback", store.rollback(tx)).await?,
            }
            let what = format!(
                "{} when {stage:?}",
                if dropped { "dropped" } else { "rolled back" }
            );
            // Resolve waits for its end.
            let left = must("resolve", store.resolve(&key)).await?;
            equal(&what, left, None)?;
            equal(&what, effects(subject).await, vec![])?;
        }
    }
    done(subject, &store, &key, &record("at last"), "e").await
}

pub(super) async fn keep_the_answer_alone<S: TxSubject>(subject: &S) -> Seen {
    let store = subject.open().await;
    for failing in [false, true] {
        let (key, own) = (operation(&format!("undone-{failing}")), record("no"));
        let mut tx = fresh(&store, &key).await?;
        write(subject, &mut tx, "e").await?;
        if failing && !subject.fail(&mut tx).await {
            continue;
        }
        must("rollback_effect", store.rollback_effect(&mut tx)).await?;
        must("record", store.record(&mut tx, &key, &own, RETENTION)).await?;
        must("commit", store.commit(tx)).await?;
        let found = must("find", store.find(&key)).await?;
        equal("the answer after rollback_effect", found, Some(own))?;
        equal(
            "the effect after rollback_effect",
            effects(subject).await,
            vec![],
        )?;
    }
    // A failed statement that the handler ignores: both or neither, as the database has it.
    let (key, own) = (operation("ignored"), record("yes"));
    let mut tx = fresh(&store, &key).await?;
    write(subject, &mut tx, "e").await?;
    if subject.fail(&mut tx).await {
        let kept = match store.record(&mut tx, &key, &own, RETENTION).await {
            Ok(()) => store.commit(tx).await.is_ok(),
            Err(_) => {
                drop(tx);
                false
            }
        };
        let found = must("resolve", store.resolve(&key)).await?;
        let effect = !effects(subject).await.is_empty();
        let both = (kept, found.is_some(), effect);
        if both != (true, true, true) && both != (false, false, false) {
            return Err(format!(
                "after an ignored failure: said to be committed, record, effect: {both:?}"
            ));
        }
    }
    Ok(())
}
