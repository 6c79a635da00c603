use super::TxSubject;
use super::trial::{RETENTION, Seen, Tx, fresh, must, operation, record, scoped, write};
use crate::server::{Operation, StoreError, StoreErrorKind, TxStore};

/// What the engine does after a handler that ended the transaction.
#[derive(Clone, Copy, Debug)]
enum Then {
    Keep,
    Undo,
    Discard,
}

pub(super) async fn by_hand<S: TxSubject>(subject: &S) -> Seen {
    let store = subject.open().await;
    for then in [Then::Keep, Then::Undo, Then::Discard] {
        let key = operation(&format!("{then:?}"));
        let mut tx = fresh(&store, &key).await?;
        write(subject, &mut tx, "e").await?;
        if !subject.end_by_hand(&mut tx).await {
            return Ok(());
        }
        match proceed::<S>(&store, tx, &key, then).await {
            Ok(()) => return Err(format!("{then:?}: nothing was noticed")),
            Err(error) if error.kind() != StoreErrorKind::TransactionEnded => {
                return Err(format!("{then:?}: {error} instead of an ended transaction"));
            }
            Err(_) => {}
        }
        if must("resolve", store.resolve(&key)).await?.is_some() {
            return Err(format!("{then:?}: a record all the same"));
        }
    }
    // Whatever it left of the connection, the next one works.
    let tx = fresh(&store, &operation("next")).await?;
    must("rollback", store.rollback(tx)).await
}

async fn proceed<S: TxSubject>(
    store: &S::Store,
    mut tx: Tx<S>,
    key: &Operation,
    then: Then,
) -> Result<(), StoreError> {
    match then {
        Then::Discard => return store.rollback(tx).await,
        Then::Undo => store.rollback_effect(&mut tx).await?,
        Then::Keep => {}
    }
    store.record(&mut tx, key, &record("r"), RETENTION).await?;
    store.commit(tx).await
}

/// By the errors that can be provoked: a record beside another one, and an ended transaction.
pub(super) async fn without_words<S: TxSubject>(subject: &S) -> Seen {
    const SECRETS: [&str; 3] = ["sesame-scope", "sesame-key", "sesame-body"];
    let store = subject.open().await;
    let key = scoped("n", SECRETS[0], SECRETS[1]);
    let own = record(SECRETS[2]);
    let mut texts = Vec::new();

    let mut tx = fresh(&store, &key).await?;
    write(subject, &mut tx, "e").await?;
    must("record", store.record(&mut tx, &key, &own, RETENTION)).await?;
    must("commit", store.commit(tx)).await?;

    // Another operation's transaction that writes this one's record fails at the unique key.
    let mut tx = fresh(&store, &operation("other")).await?;
    let twice = match store.record(&mut tx, &key, &own, RETENTION).await {
        Ok(()) => store.commit(tx).await,
        Err(error) => {
            drop(tx);
            Err(error)
        }
    };
    match twice {
        Ok(()) => return Err("record: an operation has two".into()),
        Err(error) => texts.push(shown(&error)),
    }

    let mut tx = fresh(&store, &scoped("n", SECRETS[0], "sesame-key-2")).await?;
    if subject.end_by_hand(&mut tx).await {
        let key = scoped("n", SECRETS[0], "sesame-key-2");
        if let Err(error) = proceed::<S>(&store, tx, &key, Then::Keep).await {
            texts.push(shown(&error));
        }
    }
    for text in texts {
        if let Some(secret) = SECRETS.iter().find(|secret| text.contains(**secret)) {
            return Err(format!("an error shows {secret}"));
        }
    }
    Ok(())
}

/// All that a log could make of an error.
fn shown(error: &StoreError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    text
}
