use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::TxSubject;
use super::trial::{RETENTION, Seen, done, equal, fresh, must, operation, record, scoped};
use crate::server::{Answer, Began, Fingerprint, Operation, Record, TxStore};

/// As large as the layer lets an answer be by default.
const LARGE: usize = 256 * 1024;

pub(super) async fn come_back<S: TxSubject>(subject: &S) -> Seen {
    let (store, other) = (subject.open().await, subject.open().await);
    for (at, record) in samples().into_iter().enumerate() {
        let key = operation(&format!("record-{at}"));
        for retention in [Duration::MAX, RETENTION] {
            let mut tx = fresh(&store, &key).await?;
            let kept = store.record(&mut tx, &key, &record, retention);
            must("record", kept).await?;
            match retention == RETENTION {
                true => must("commit", store.commit(tx)).await?,
                false => must("rollback", store.rollback(tx)).await?,
            }
        }
        for store in [&store, &other] {
            let found = must("find", store.find(&key)).await?;
            equal("find", found.as_ref(), Some(&record))?;
            let resolved = must("resolve", store.resolve(&key)).await?;
            equal("resolve", resolved.as_ref(), Some(&record))?;
            match must("begin", store.begin(&key)).await? {
                Began::Done(again) => equal("begin", &again, &record)?,
                Began::Fresh(_) => return Err("begin: a recorded operation is fresh".into()),
                Began::Busy => return Err("begin: a recorded operation is busy".into()),
            }
        }
    }
    Ok(())
}

fn samples() -> Vec<Record> {
    let mut headers = HeaderMap::new();
    headers.append("link", HeaderValue::from_static("<a>; rel=next"));
    headers.append("link", HeaderValue::from_static("<b>"));
    headers.append("etag", HeaderValue::from_static(""));
    if let Ok(value) = HeaderValue::from_bytes(b"caf\xe9\t") {
        headers.append("x-bytes", value);
    }
    let full = Answer::new(status(599), &b"\0\xff'\\\r\n"[..])
        .with_headers(headers)
        .with_origin(Method::PATCH, "/a/'b\u{e9}");
    let empty = Answer::new(status(100), "");
    let large = Answer::new(StatusCode::OK, vec![0xa5; LARGE]);
    let digests = [[0; 32], [0xff; 32], *b"0123456789abcdef0123456789abcde\0"];
    [full, empty, large]
        .into_iter()
        .zip(digests)
        .zip([0, 255, Fingerprint::SHA_256])
        .map(|((answer, digest), tag)| Record::new(Fingerprint::new(tag, digest), answer))
        .collect()
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).expect("three digits")
}

/// Pairs that meet where fields are joined, folded, trimmed or quoted badly.
pub(super) async fn are_told_apart<S: TxSubject>(subject: &S) -> Seen {
    let store = subject.open().await;
    let operations = [
        scoped("n", "a", "b_c"),
        scoped("n", "a_b", "c"),
        scoped("n", "a", "B_c"),
        scoped("n", "a ", "b_c"),
        scoped("n", "", "a"),
        scoped("", "n", "a"),
        scoped("n", "a'; --", "b"),
        scoped("n", "a\\", "b"),
        scoped("n", "a%", "b"),
        scoped("n", "\u{e9}", "b"),
        scoped("n", "e\u{301}", "b"),
        scoped("m", "a", "b_c"),
    ];
    for (at, key) in operations.iter().enumerate() {
        let own = record(&at.to_string());
        done(subject, &store, key, &own, &at.to_string())
            .await
            .map_err(|seen| format!("{}: {seen}", shown(key)))?;
    }
    for (at, key) in operations.iter().enumerate() {
        let found = must("find", store.find(key)).await?;
        equal(&shown(key), found, Some(record(&at.to_string())))?;
    }
    Ok(())
}

/// The suite's own operations hold no secrets.
fn shown(operation: &Operation) -> String {
    let key = operation.key().as_str();
    format!("{:?}", (operation.namespace(), operation.scope(), key))
}

pub(super) async fn are_honoured<S: TxSubject>(subject: &S) -> Seen {
    let store = subject.open().await;
    let (key, own) = (operation("expired"), record("expired"));
    let mut tx = fresh(&store, &key).await?;
    let kept = store.record(&mut tx, &key, &own, Duration::ZERO);
    must("record", kept).await?;
    must("commit", store.commit(tx)).await?;
    // The database's clock goes on meanwhile.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let found = must("find", store.find(&key)).await?;
    equal("find after expiry", found.as_ref(), Some(&own))?;
    match must("begin", store.begin(&key)).await? {
        Began::Done(again) => equal("begin after expiry", again, own),
        Began::Fresh(_) => Err("begin: an expired record that is still there is not seen".into()),
        Began::Busy => Err("begin: a recorded operation is busy".into()),
    }
}
