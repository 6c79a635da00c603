use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Full};
use steadfast_core::BoxError;
use steadfast_idempotency::server::Settlement;
use steadfast_kit::{Chunks, Piece};

use super::rig::{Req, Server, answer, post, take};

fn answering(status: u16, settlement: Option<Settlement>) -> Server {
    Server::new(move |request: Req| async move {
        take(&request).effects.push("effect".to_owned());
        let mut response = answer(status, "said")?;
        if let Some(settlement) = settlement {
            response.extensions_mut().insert(settlement);
        }
        Ok(response)
    })
}

/// Effects, records and runs after a request and its repeat.
async fn twice(server: &Server, status: u16) -> (usize, usize, usize) {
    let first = server.send(post("k", "x")).await;
    let second = server.send(post("k", "x")).await;
    assert_eq!(
        (first.status.as_u16(), second.status.as_u16()),
        (status, status)
    );
    assert_eq!(
        (&first.body[..], &second.body[..]),
        (&b"said"[..], &b"said"[..])
    );
    assert!(!first.is_replay());
    assert_eq!(second.is_replay(), server.runs() == 1, "{status}");
    (
        server.store.effects().len(),
        server.store.records(),
        server.runs(),
    )
}

const COMMITTED: (usize, usize, usize) = (1, 1, 1);
const STORED: (usize, usize, usize) = (0, 1, 1);
const DISCARDED: (usize, usize, usize) = (0, 0, 2);

#[tokio::test(start_paused = true)]
async fn the_status_decides_what_is_kept() {
    for status in [200, 201, 202, 204, 299, 301, 303, 304, 399] {
        assert_eq!(
            twice(&answering(status, None), status).await,
            COMMITTED,
            "{status}"
        );
    }
    for status in [
        400, 402, 404, 405, 410, 412, 413, 415, 422, 424, 428, 451, 499,
    ] {
        assert_eq!(
            twice(&answering(status, None), status).await,
            STORED,
            "{status}"
        );
    }
    for status in [
        401, 403, 408, 409, 421, 423, 425, 429, 500, 501, 502, 503, 504, 599, 600,
    ] {
        assert_eq!(
            twice(&answering(status, None), status).await,
            DISCARDED,
            "{status}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_knows_better_decides_itself() {
    for status in [200, 402, 409, 500] {
        let rows = [
            (Settlement::Commit, COMMITTED),
            (Settlement::Store, STORED),
            (Settlement::Discard, DISCARDED),
        ];
        for (settlement, kept) in rows {
            let server = answering(status, Some(settlement));
            assert_eq!(
                twice(&server, status).await,
                kept,
                "{status} {settlement:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_not_pinned_to_its_key() {
    let server = Server::new({
        let first = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        move |request: Req| {
            let fails = first.swap(false, std::sync::atomic::Ordering::SeqCst);
            async move {
                take(&request).effects.push("effect".to_owned());
                answer(if fails { 503 } else { 200 }, "said")
            }
        }
    });
    assert_eq!(server.send(post("k", "x")).await.status, 503);
    let second = server.send(post("k", "x")).await;
    assert_eq!(second.status, 200);
    assert!(!second.is_replay());
    assert!(server.send(post("k", "x")).await.is_replay());
    assert_eq!(server.store.effects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_leaves_nothing_and_blocks_nothing() {
    let server = Server::<Full<Bytes>>::new(async |request: Req| {
        take(&request).effects.push("effect".to_owned());
        panic!("the handler's own");
    });
    for runs in 1..=2 {
        let got = server.send(post("k", "x")).await;
        assert_eq!(got.refusal(), "500 handler-panicked");
        assert!(!String::from_utf8_lossy(&got.body).contains("handler's own"));
        assert_eq!(server.runs(), runs);
    }
    assert_eq!(
        (server.store.effects().len(), server.store.records()),
        (0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_inner_service_passes_through_and_leaves_nothing() {
    let server = Server::<Full<Bytes>>::new(async |request: Req| {
        take(&request).effects.push("effect".to_owned());
        Err("the handler's own".into())
    });
    let error = server.try_send(post("k", "x")).await.unwrap_err();
    assert_eq!(error.to_string(), "the handler's own");
    assert_eq!(
        (server.store.effects().len(), server.store.records()),
        (0, 0)
    );
}

fn streaming<const N: usize>(status: u16, pieces: fn() -> [Piece; N]) -> Server<Chunks> {
    Server::new(move |request: Req| async move {
        take(&request).effects.push("effect".to_owned());
        Ok::<_, BoxError>(
            Response::builder()
                .status(status)
                .body(Chunks::new(pieces()))?,
        )
    })
}

#[tokio::test(start_paused = true)]
async fn a_streamed_answer_is_kept_whole() {
    let server = streaming(200, || {
        [
            Piece::data("one "),
            Piece::data("two "),
            Piece::data("three"),
        ]
    });
    for _ in 0..2 {
        assert_eq!(server.send(post("k", "x")).await.body, "one two three");
    }
    assert_eq!((server.runs(), server.store.effects().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_kept_undoes_its_effect() {
    let broken = streaming(200, || [Piece::data("one "), Piece::fail("reset")]);
    assert_eq!(
        broken.send(post("k", "x")).await.refusal(),
        "500 response-body-failed"
    );
    let trailing = streaming(200, || {
        [Piece::data("one"), Piece::trailer("grpc-status", "0")]
    });
    assert_eq!(
        trailing.send(post("k", "x")).await.refusal(),
        "500 response-trailers"
    );
    let switching = streaming(101, || [Piece::data("")]);
    assert_eq!(
        switching.send(post("k", "x")).await.refusal(),
        "500 upgrade-refused"
    );
    for server in [broken, trailing, switching] {
        assert_eq!(
            (server.store.effects().len(), server.store.records()),
            (0, 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_is_not_kept_streams_on() {
    let server = streaming(500, || [Piece::data("why"), Piece::trailer("x-why", "1")]);
    let service = server.service.clone();
    let response = tower::ServiceExt::oneshot(service, post("k", "x"))
        .await
        .unwrap();
    let collected = response.into_body().collect().await.unwrap();
    assert_eq!(collected.trailers().unwrap()["x-why"], "1");
    assert_eq!(collected.to_bytes(), "why");
}
