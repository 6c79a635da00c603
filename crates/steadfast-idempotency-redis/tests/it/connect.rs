use std::time::Duration;

use redis::Client;
use steadfast_idempotency::server::leased::LeaseStore;
use steadfast_idempotency_redis::{ConnectError, Eviction, RedisConfig, RedisLeaseStore};
use steadfast_servers::Redis;

use super::rig::{ask, config, connect, operation};

#[tokio::test]
async fn a_server_that_evicts_is_refused_by_name() {
    for policy in ["allkeys-lru", "volatile-ttl", "allkeys-random"] {
        let options = ["--maxmemory", "100mb", "--maxmemory-policy", policy];
        let Some(server) = Redis::start_with(&options) else {
            return;
        };
        let error = RedisLeaseStore::connect(&server.url()).await.unwrap_err();
        assert!(matches!(&error, ConnectError::Evicts { policy: seen } if seen == policy));
        let text = error.to_string();
        assert!(
            text.contains(policy) && text.contains("noeviction"),
            "{text}"
        );

        let trusted = RedisConfig::default().with_eviction(Eviction::Trusted);
        let client = Client::open(server.url()).unwrap();
        RedisLeaseStore::connect_with(client, trusted)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error_in_time() {
    let Some(server) = Redis::start() else { return };
    let url = server.url();
    drop(server);
    let connecting = RedisLeaseStore::connect(&url);
    let connected = tokio::time::timeout(Duration::from_secs(8), connecting).await;
    let error = connected.unwrap().unwrap_err();
    assert!(matches!(error, ConnectError::Redis(_)), "{error:?}");
    assert!(RedisLeaseStore::connect("no url").await.is_err());
}

#[tokio::test]
async fn a_change_that_too_few_replicas_have_is_not_made() {
    let Some(server) = Redis::shared() else {
        return;
    };
    let store = connect(server, config().with_replicas(1)).await;
    let error = store.claim(&operation("k"), &ask()).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("0 of 1 replicas"), "{source}");
}

#[tokio::test]
async fn a_change_that_its_replica_has_is_made() {
    let Some(server) = Redis::start() else { return };
    let port = server.port().to_string();
    let Some(replica) = Redis::start_with(&["--replicaof", &format!("127.0.0.1 {port}")]) else {
        return;
    };
    let store = connect(&server, config().with_replicas(1)).await;
    let replicated = async {
        while let Err(error) = store.claim(&operation("k"), &ask()).await {
            // The replica copies before it counts.
            assert!(error.to_string().contains("unavailable"));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), replicated)
        .await
        .unwrap();
    drop(replica);
}
