use super::TxSubject;
use super::trial::{
    Cut, RETENTION, Seen, done, effects, equal, fresh, must, operation, record, write,
};
use crate::server::TxStore;

/// Far above the awaits of one method.
const POLLS: usize = 100;

pub(super) async fn free_the_operation<S: TxSubject>(subject: &S) -> Seen {
    let store = subject.open().await;
    let (key, own) = (operation("k"), record("r"));
    for polls in 0..POLLS {
        let find = Cut::after(polls, store.find(&key)).await.is_some();
        let begin = Cut::after(polls, store.begin(&key)).await.is_some();

        let mut tx = fresh(&store, &key).await?;
        write(subject, &mut tx, "e").await?;
        let undo = Cut::after(polls, store.rollback_effect(&mut tx)).await;
        drop(tx);

        let mut tx = fresh(&store, &key).await?;
        write(subject, &mut tx, "e").await?;
        let kept = store.record(&mut tx, &key, &own, RETENTION);
        let kept = Cut::after(polls, kept).await;
        drop(tx);

        let tx = fresh(&store, &key).await?;
        let rolled = Cut::after(polls, store.rollback(tx)).await;

        // Resolve waits for the last one's end; no cut here is a commit.
        let resolve = Cut::after(polls, store.resolve(&key)).await.is_some();
        let left = must("resolve", store.resolve(&key)).await?;
        let what = format!("dropped after {polls} polls");
        equal(&what, left, None)?;
        equal(&what, effects(subject).await, vec![])?;
        let whole = undo.is_some() && kept.is_some() && rolled.is_some();
        if find && begin && resolve && whole {
            return done(subject, &store, &key, &own, "e").await;
        }
    }
    Err(format!("a method needs more than {POLLS} polls"))
}

pub(super) async fn of_a_commit_are_resolved<S: TxSubject>(subject: &S) -> Seen {
    let (store, other) = (subject.open().await, subject.open().await);
    for polls in 0..POLLS {
        let name = format!("cut-{polls}");
        let (key, own) = (operation(&name), record(&name));
        let mut tx = fresh(&store, &key).await?;
        write(subject, &mut tx, &name).await?;
        must("record", store.record(&mut tx, &key, &own, RETENTION)).await?;
        let whole = Cut::after(polls, store.commit(tx)).await;

        let resolved = must("resolve", other.resolve(&key)).await?;
        let what = format!("a commit dropped after {polls} polls");
        if let Some(Ok(())) = whole {
            equal(&what, resolved.as_ref(), Some(&own))?;
        }
        // A commit that was still on its way would be seen by now.
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        for store in [&store, &other] {
            let found = must("find", store.find(&key)).await?;
            equal(&what, found.as_ref(), resolved.as_ref())?;
        }
        let effect = effects(subject).await.contains(&name);
        equal(&format!("the effect of {what}"), effect, resolved.is_some())?;
        if whole.is_some() {
            return Ok(());
        }
    }
    Err(format!("commit needs more than {POLLS} polls"))
}
