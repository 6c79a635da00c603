use steadfast_idempotency::conformance::leases::{LeaseSubject, assert_lease_store};
use steadfast_idempotency_redis::{RedisConfig, RedisLeaseStore};
use steadfast_servers::Redis;

use super::rig::{config, connect};

struct Subject(&'static Redis, RedisConfig);

impl LeaseSubject for Subject {
    type Store = RedisLeaseStore;

    async fn open(&self) -> RedisLeaseStore {
        connect(self.0, self.1.clone()).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_keeps_every_promise_of_leases() {
    let Some(server) = Redis::shared() else {
        return;
    };
    assert_lease_store(async || Subject(server, config())).await;
}
