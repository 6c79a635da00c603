use std::time::Duration;

use tokio::time::Instant;

use super::rig::{Req, Server, answer, charge, post, take};
use super::store::{Fault, Step};

const UNAVAILABLE: &str = "503 store-unavailable, after 1";

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_before_the_handler_keeps_it_from_running() {
    for step in [Step::Find, Step::Begin] {
        for fault in [Fault::Error, Fault::Hang] {
            let server = Server::new(charge);
            server.store.break_next(step, fault);
            let start = Instant::now();
            let got = server.send(post("k", "x")).await;
            assert_eq!(got.refusal(), UNAVAILABLE, "{step:?} {fault:?}");
            assert!(!String::from_utf8_lossy(&got.body).contains("10.0.0.7"));
            assert!(
                start.elapsed() <= Duration::from_secs(6),
                "{step:?} {fault:?}"
            );
            assert_eq!((server.runs(), server.store.effects().len()), (0, 0));

            assert_eq!(
                server.send(post("k", "x")).await.status,
                201,
                "the key is not stuck"
            );
            assert_eq!(server.store.effects().len(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_completion_is_a_503_with_the_effect_rolled_back() {
    for step in [Step::Record, Step::Commit] {
        for fault in [Fault::Error, Fault::Hang] {
            let server = Server::new(charge);
            server.store.break_next(step, fault);
            let got = server.send(post("k", "x")).await;
            assert_eq!(got.refusal(), UNAVAILABLE, "{step:?} {fault:?}");
            assert_eq!(
                (server.store.effects().len(), server.store.records()),
                (0, 0)
            );

            let again = server.send(post("k", "x")).await;
            assert_eq!(again.status, 201);
            assert!(!again.is_replay());
            assert_eq!((server.runs(), server.store.effects().len()), (2, 1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_answer_is_lost_is_looked_up() {
    for fault in [Fault::DoneButLost, Fault::DoneButHangs] {
        let server = Server::new(charge);
        server.store.break_next(Step::Commit, fault);
        let got = server.send(post("k", "x")).await;
        assert_eq!(
            (got.status.as_u16(), &got.body[..]),
            (201, &b"receipt 1"[..])
        );
        assert!(
            server
                .store
                .steps()
                .ends_with(&[Step::Commit, Step::Resolve])
        );
        assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
        assert!(server.send(post("k", "x")).await.is_replay());
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_cannot_be_looked_up_is_answered_by_the_repeat() {
    for (fault, runs) in [(Fault::DoneButLost, 1), (Fault::Error, 2)] {
        let server = Server::new(charge);
        server.store.break_next(Step::Commit, fault);
        server.store.break_next(Step::Resolve, Fault::Hang);
        assert_eq!(server.send(post("k", "x")).await.refusal(), UNAVAILABLE);
        let again = server.send(post("k", "x")).await;
        assert_eq!((again.status.as_u16(), again.is_replay()), (201, runs == 1));
        assert_eq!((server.runs(), server.store.effects().len()), (runs, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_whose_effect_cannot_be_undone_is_not_stored() {
    let server = Server::new(async |request: Req| {
        take(&request).effects.push("effect".to_owned());
        answer(422, "no")
    });
    for fault in [Fault::Error, Fault::Hang] {
        server.store.break_next(Step::RollbackEffect, fault);
        assert_eq!(server.send(post("k", "x")).await.refusal(), UNAVAILABLE);
        assert_eq!(
            (server.store.effects().len(), server.store.records()),
            (0, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_rollback_that_fails_does_not_hide_the_handlers_answer() {
    let server = Server::new(async |request: Req| {
        take(&request).effects.push("effect".to_owned());
        answer(500, "why")
    });
    for fault in [Fault::Error, Fault::Hang] {
        server.store.break_next(Step::Rollback, fault);
        assert_eq!(server.send(post("k", "x")).await.body, "why");
        assert_eq!(
            (server.store.effects().len(), server.store.records()),
            (0, 0)
        );
    }
}
