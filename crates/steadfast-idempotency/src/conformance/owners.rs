use std::collections::HashSet;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::TxSubject;
use super::trial::{
    LONG, RETENTION, SHORT, Seen, done, effects, equal, fresh, must, operation, record, write,
};
use crate::server::{Began, Record, TxStore};

pub(super) async fn are_alone<S: TxSubject>(subject: &S) -> Seen {
    let (store, other) = (subject.open().await, subject.open().await);
    let (key, own) = (operation("k"), record("first"));
    let mut tx = fresh(&store, &key).await?;
    write(subject, &mut tx, "e").await?;
    for second in [&store, &other] {
        // It may say so, fail, or wait: each leaves the operation to its owner.
        match timeout(SHORT, second.begin(&key)).await {
            Ok(Ok(Began::Fresh(_))) => return Err("begin: a second owner beside the first".into()),
            Ok(Ok(Began::Done(_))) => return Err("begin: done before its commit".into()),
            Ok(Ok(Began::Busy) | Err(_)) | Err(_) => {}
        }
    }
    must("record", store.record(&mut tx, &key, &own, RETENTION)).await?;
    must("commit", store.commit(tx)).await?;
    match must("begin", other.begin(&key)).await? {
        Began::Done(found) => equal("begin after the owner", found, own),
        Began::Fresh(_) => Err("begin: fresh after its commit".into()),
        Began::Busy => Err("begin: busy after its commit".into()),
    }
}

const RACERS: usize = 4;
const RACES: usize = 8;

pub(super) async fn win_races_once<S: TxSubject>(subject: &S) -> Seen {
    let stores = [subject.open().await, subject.open().await];
    for at in 0..RACES {
        let name = format!("race-{at}");
        let mut racers = Vec::new();
        for racer in 0..RACERS {
            racers.push(race(subject, &stores[racer % 2], &name, racer));
        }
        let seen = timeout(LONG, join(racers)).await;
        let seen = seen.map_err(|_| format!("{name}: no end in {LONG:?}"))?;
        let mut bodies = HashSet::new();
        for record in seen {
            bodies.insert(record?.answer.body);
        }
        equal("different records of one race", bodies.len(), 1)?;
        let mut effects = effects(subject).await;
        effects.retain(|effect| *effect == name);
        equal("effects of one race", effects.len(), 1)?;
    }
    Ok(())
}

/// One that comes back until it is done, by whomever.
async fn race<S: TxSubject>(
    subject: &S,
    store: &S::Store,
    name: &str,
    racer: usize,
) -> Result<Record, String> {
    let (key, own) = (operation(name), record(&format!("by {racer}")));
    loop {
        if let Ok(began) = store.begin(&key).await {
            match began {
                Began::Done(found) => return Ok(found),
                Began::Busy => {}
                Began::Fresh(mut tx) => {
                    write(subject, &mut tx, name).await?;
                    let recorded = store.record(&mut tx, &key, &own, RETENTION).await;
                    if recorded.is_ok() && store.commit(tx).await.is_ok() {
                        return Ok(own);
                    }
                }
            }
        }
        sleep(Duration::from_millis(2)).await;
    }
}

/// All at once, in this task: they borrow the subject.
async fn join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|it| (Box::pin(it), None)).collect();
    std::future::poll_fn(move |cx| {
        let mut pending = false;
        for (future, output) in &mut running {
            if output.is_none() {
                match future.as_mut().poll(cx) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        match pending {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(
                running
                    .iter_mut()
                    .filter_map(|(_, output)| output.take())
                    .collect(),
            ),
        }
    })
    .await
}

pub(super) async fn leave_others_alone<S: TxSubject>(subject: &S) -> Seen {
    let (store, other) = (subject.open().await, subject.open().await);
    let mut tx = fresh(&store, &operation("held")).await?;
    write(subject, &mut tx, "e").await?;
    for second in [&store, &other] {
        match timeout(SHORT, second.begin(&operation("another"))).await {
            Ok(Ok(Began::Busy)) => return Err("begin: busy because of another operation".into()),
            Ok(Ok(Began::Done(_))) => return Err("begin: done, although nobody did it".into()),
            Ok(Ok(Began::Fresh(tx))) => must("rollback", second.rollback(tx)).await?,
            Ok(Err(_)) | Err(_) => {}
        }
    }
    must("rollback", store.rollback(tx)).await?;
    done(subject, &other, &operation("another"), &record("r"), "e").await
}

pub(super) async fn are_not_waited_for<S: TxSubject>(subject: &S) -> Seen {
    let (store, other) = (subject.open().await, subject.open().await);
    let (key, own) = (operation("done"), record("done"));
    done(subject, &store, &key, &own, "e").await?;
    let mut tx = fresh(&store, &operation("held")).await?;
    write(subject, &mut tx, "f").await?;
    for reader in [&store, &other] {
        for (key, right) in [(&key, Some(&own)), (&operation("held"), None)] {
            let found = timeout(LONG, reader.find(key)).await;
            let found = found.map_err(|_| "find: waits for a writer".to_owned())?;
            let found = found.map_err(|error| format!("find beside a writer: {error}"))?;
            equal("find beside a writer", found.as_ref(), right)?;
        }
    }
    must("rollback", store.rollback(tx)).await
}
