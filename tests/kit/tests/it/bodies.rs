use std::sync::Arc;

use http_body::Body;
use http_body_util::BodyExt;
use steadfast_kit::{Chunks, Piece, Schedule};
use tokio::sync::Notify;

#[tokio::test]
async fn gives_its_pieces_in_order() {
    let pieces = [
        Piece::data("one"),
        Piece::Pending,
        Piece::data("two"),
        Piece::trailer("checksum", "7"),
    ];
    let body = Chunks::new(pieces);
    let watch = body.watch();
    let collected = body.collect().await.unwrap();
    assert_eq!(collected.trailers().unwrap()["checksum"], "7");
    assert_eq!(collected.to_bytes(), "onetwo");
    assert_eq!((watch.polled(), watch.given(), watch.dropped()), (5, 3, 1));
}

#[tokio::test]
async fn fails_where_it_is_told_to() {
    let mut body = Chunks::new([Piece::data("one"), Piece::fail("cut")]);
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "one"
    );
    assert_eq!(body.frame().await.unwrap().unwrap_err().to_string(), "cut");
}

#[tokio::test]
async fn tells_its_size_only_when_asked_to() {
    let unknown = Chunks::of(["one", "three"]);
    assert_eq!(
        (unknown.size_hint().exact(), unknown.size_hint().lower()),
        (None, 0)
    );
    let mut exact = Chunks::of(["one", "three"]).with_exact_size();
    assert_eq!(exact.size_hint().exact(), Some(8));
    exact.frame().await.unwrap().unwrap();
    assert_eq!(
        (exact.size_hint().exact(), exact.is_end_stream()),
        (Some(5), false)
    );
    exact.frame().await.unwrap().unwrap();
    assert!(exact.is_end_stream());
    assert!(!Chunks::of(Vec::<&str>::new()).is_end_stream());
}

#[tokio::test]
async fn random_schedules_meet_every_kind_of_end_and_are_told_by_their_seed() {
    let (mut errors, mut trailers, mut plain) = (0, 0, 0);
    for seed in 0..200 {
        let pieces = Schedule::default().pieces(seed);
        match pieces.last() {
            Some(Piece::Error(_)) => errors += 1,
            Some(Piece::Trailers(_)) => trailers += 1,
            _ => plain += 1,
        }
        let again = Schedule::default().pieces(seed);
        assert_eq!(format!("{pieces:?}"), format!("{again:?}"), "seed {seed}");
    }
    assert!(
        errors.min(trailers).min(plain) > 30,
        "{errors}, {trailers}, {plain}"
    );

    let calm = Schedule {
        pauses: false,
        trailers: false,
        errors: false,
        ..Schedule::default()
    };
    let only_data = |seed| {
        calm.pieces(seed)
            .iter()
            .all(|it| matches!(it, Piece::Data(_)))
    };
    assert!((0..200).all(only_data));
}

#[tokio::test]
async fn a_wait_goes_on_when_it_is_notified() {
    let notify = Arc::new(Notify::new());
    let pieces = [
        Piece::data("a"),
        Piece::Wait(Arc::clone(&notify)),
        Piece::data("b"),
    ];
    let mut body = Chunks::new(pieces);
    body.frame().await.unwrap().unwrap();
    let mut rest = tokio_test::task::spawn(body.collect());
    for _ in 0..3 {
        assert!(rest.poll().is_pending());
    }
    notify.notify_one();
    assert!(rest.is_woken());
    assert_eq!(rest.await.unwrap().to_bytes(), "b");
}
