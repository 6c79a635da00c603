use std::time::Duration;

use steadfast_idempotency::server::leased::{AtMostOnce, LeasedEngine, Reentrant};
use steadfast_idempotency::server::{Conflict, EngineConfig};
use steadfast_servers::Redis;

use super::rig::{Effects, config, connect, engine, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_that_race_for_a_key_have_one_effect() {
    let Some(server) = Redis::shared() else {
        return;
    };
    let config = config();
    let effects = Effects::default();
    // An engine each: the registry of one does not see the other's work.
    let mut engines = Vec::new();
    for _ in 0..3 {
        let store = connect(server, config.clone()).await;
        engines.push(engine(store, AtMostOnce::new()));
    }
    for at in 0..40 {
        let key = format!("k{at}");
        let racers = (0..6).map(|racer| run(&engines[racer % 3], &key, &effects));
        let racers: Vec<_> = racers.map(tokio::spawn).collect();
        let mut ran = 0;
        for racer in racers {
            match racer.await.unwrap() {
                "ran" => ran += 1,
                other => assert!(["replayed", "in progress"].contains(&other), "{other}"),
            }
        }
        assert_eq!((ran, effects.count()), (1, at + 1));
        assert_eq!(run(&engines[0], &key, &effects).await, "replayed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiters_of_other_processes_get_the_answer() {
    let Some(server) = Redis::shared() else {
        return;
    };
    let config = config();
    let effects = Effects::default();
    let patient = EngineConfig::default().with_conflict(Conflict::Wait(Duration::from_secs(10)));
    for at in 0..5 {
        let key = format!("k{at}");
        let mut racers = Vec::new();
        for _ in 0..4 {
            let store = connect(server, config.clone()).await;
            let engine = LeasedEngine::new(store, Reentrant, patient.clone());
            racers.push(tokio::spawn(run(&engine, &key, &effects)));
        }
        let mut came = Vec::new();
        for racer in racers {
            came.push(racer.await.unwrap());
        }
        came.sort_unstable();
        assert_eq!(came, ["ran", "replayed", "replayed", "replayed"]);
        assert_eq!(effects.count(), at + 1);
    }
}
