use std::collections::HashMap;
use std::time::Duration;

use redis::AsyncCommands;
use steadfast_idempotency::server::leased::{Claimed, Fenced, LeaseStore, Terms};
use steadfast_servers::Redis;

use super::rig::{ask, operation, operator, record, store};

#[tokio::test]
async fn lease_and_answer_are_one_record_with_one_time_to_live() {
    let Some(server) = Redis::shared() else {
        return;
    };
    let store = store(server).await;
    let mut operator = operator(server).await;
    let key = operation("k");
    let name = store.name_of(&key);
    let terms = Terms::new(Duration::from_secs(10), Duration::from_secs(1000));
    let mut claim = ask();
    claim.terms = terms;
    let Claimed::Held { fence, .. } = store.claim(&key, &claim).await.unwrap() else {
        panic!("nobody holds it");
    };
    let done = record("paid");
    for step in ["claim", "renew", "abandon", "complete"] {
        let said = match step {
            "renew" => store.renew(&key, fence, terms).await.unwrap(),
            "abandon" => store.abandon(&key, fence, terms).await.unwrap(),
            "complete" => store.complete(&key, fence, &done, terms).await.unwrap(),
            _ => Fenced::Accepted,
        };
        assert_eq!(said, Fenced::Accepted, "{step}");
        let left: u64 = operator.pttl(&name).await.unwrap();
        assert!((1_005_000..=1_010_000).contains(&left), "{step}: {left}");
        // As if nothing had been said for a while: each change sets the time anew.
        let _: bool = operator.pexpire(&name, 500_000).await.unwrap();
    }
    let fields: HashMap<String, Vec<u8>> = operator.hgetall(&name).await.unwrap();
    let mut names: Vec<_> = fields.keys().map(String::as_str).collect();
    names.sort_unstable();
    let right = [
        "attempt",
        "body",
        "fence",
        "fingerprint",
        "headers",
        "phase",
        "status",
        "version",
    ];
    assert_eq!(names, right);
    assert_eq!(fields["body"], b"paid");
}

#[tokio::test]
async fn a_records_name_is_short_and_tells_nothing() {
    let Some(server) = Redis::shared() else {
        return;
    };
    let store = store(server).await;
    let name = store.name_of(&operation("secret-key"));
    assert!(!name.contains("secret") && name.len() < 100, "{name}");
    assert!(name.ends_with('}') && name.contains(":{"), "{name}");
    assert!(!format!("{store:?}").contains("127.0.0.1"));
}

#[tokio::test]
async fn a_record_of_another_layout_is_neither_run_nor_changed() {
    let Some(server) = Redis::shared() else {
        return;
    };
    let store = store(server).await;
    let mut operator = operator(server).await;
    let key = operation("k");
    let name = store.name_of(&key);
    let _: usize = operator.hset(&name, "version", 2).await.unwrap();
    let error = store.claim(&key, &ask()).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("another version's"), "{source}");
    assert!(store.find(&key).await.is_err());
    let fields: HashMap<String, String> = operator.hgetall(&name).await.unwrap();
    assert_eq!(fields.len(), 1);
}
