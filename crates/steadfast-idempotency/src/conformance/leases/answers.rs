use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::LeaseSubject;
use super::trial::{
    OVER, Tried, Word, ask, equal, hold, holds, long, must, operation, record, request, scoped,
    short,
};
use crate::server::leased::{Claimed, Fenced, LeaseStore, OnExpired, Seen};
use crate::server::{Answer, Fingerprint, Record};

fn answers() -> [Answer; 3] {
    let mut headers = HeaderMap::new();
    headers.append("link", HeaderValue::from_static("<a>; rel=next"));
    headers.append("link", HeaderValue::from_static("<b>"));
    if let Ok(bytes) = HeaderValue::from_bytes(b"caf\xe9\t!") {
        headers.append("x-bytes", bytes);
    }
    let every: Vec<u8> = (0..=255).collect();
    [
        Answer::new(StatusCode::OK, ""),
        Answer::new(StatusCode::CREATED, every)
            .with_headers(headers)
            .with_origin(Method::PATCH, "/charges/ä b?"),
        Answer::new(StatusCode::NOT_FOUND, vec![b'x'; 256 * 1024]),
    ]
}

pub(super) async fn records<S: LeaseSubject>(subject: &S) -> Tried {
    let (store, other) = (subject.open().await, subject.open().await);
    for (at, answer) in answers().into_iter().enumerate() {
        let key = operation(&format!("record-{at}"));
        let (fence, _) = hold(&store, &key, &ask("x", long(), OnExpired::Unknown)).await?;
        let record = Record::new(request("x"), answer);
        let said = must("complete", store.complete(&key, fence, &record, long())).await?;
        equal("a completion", said, Fenced::Accepted)?;
        let found = must("find", other.find(&key)).await?;
        holds(
            "the record of a look",
            found == Some(Seen::Done(record.clone())),
        )?;
        let asked = ask("x", long(), OnExpired::Unknown);
        let claimed = must("claim", other.claim(&key, &asked)).await?;
        holds("the record of a claim", claimed == Claimed::Done(record))?;
    }
    let none = must("find", store.find(&operation("never"))).await?;
    equal("a look at what was never claimed", none, None)
}

pub(super) async fn identity<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let operations = [
        scoped("n", "a", "b_c"),
        scoped("n", "a_b", "c"),
        scoped("n_a", "b", "c"),
        scoped("n", "a", "B_C"),
        scoped("n", "a", "b_c "),
        scoped("n", "", "a_b_c"),
        scoped("", "n", "a_b_c"),
        scoped("n", "ä\u{0}:{}", "b_c"),
        scoped("n", "%", "b%c"),
    ];
    for (at, operation) in operations.iter().enumerate() {
        let record = record("x", &format!("answer {at}"));
        let (fence, attempt) =
            hold(&store, operation, &ask("x", long(), OnExpired::Unknown)).await?;
        equal("the attempt", attempt, 1)?;
        let complete = store.complete(operation, fence, &record, long());
        must("complete", complete).await?;
    }
    for (at, operation) in operations.iter().enumerate() {
        let found = must("find", store.find(operation)).await?;
        let right = Seen::Done(record("x", &format!("answer {at}")));
        equal("the record of an operation", found, Some(right))?;
    }
    Ok(())
}

pub(super) async fn other_request<S: LeaseSubject>(subject: &S) -> Tried {
    let store = subject.open().await;
    let key = operation("k");
    let (fence, _) = hold(&store, &key, &ask("x", short(), OnExpired::TakeOver)).await?;
    let digest = *request("x").digest();
    // Equal but for its algorithm.
    let tagged = Fingerprint::new(0, digest);
    for phase in ["running", "lost", "unknown", "done"] {
        match phase {
            "lost" => subject.pass(OVER).await,
            "unknown" => {
                let said = Word::Abandon
                    .say(&store, &key, fence, &record("x", ""), short())
                    .await?;
                equal("an abandon", said, Fenced::Accepted)?;
            }
            "done" => {
                let said = Word::Complete
                    .say(&store, &key, fence, &record("x", "1"), short())
                    .await?;
                equal("a completion", said, Fenced::Accepted)?;
            }
            _ => {}
        }
        for policy in [OnExpired::TakeOver, OnExpired::Unknown] {
            for fingerprint in [request("y"), tagged] {
                let mut asked = ask("y", short(), policy);
                asked.fingerprint = fingerprint;
                let claimed = must("claim", store.claim(&key, &asked)).await?;
                let what = format!("another request's claim of what is {phase}");
                equal(&what, claimed, Claimed::Reused)?;
            }
        }
    }
    let found = must("find", store.find(&key)).await?;
    equal("the record", found, Some(Seen::Done(record("x", "1"))))
}

pub(super) async fn discreet<S: LeaseSubject>(subject: &S) -> Tried
where
    S::Store: LeaseStore,
{
    let store = subject.open().await;
    let key = scoped("conformance", "secret-scope", "secret-key");
    let (fence, _) = hold(&store, &key, &ask("x", long(), OnExpired::Unknown)).await?;
    let record = record("x", "secret-body");
    must("complete", store.complete(&key, fence, &record, long())).await?;
    let asked = ask("x", long(), OnExpired::Unknown);
    let claimed = store.claim(&key, &asked);
    let claimed = must("claim", claimed).await?;
    let found = must("find", store.find(&key)).await?;
    let shown = format!("{claimed:?} {found:?}");
    holds(
        "what a store answers shows no body",
        !shown.contains("secret"),
    )
}
