use http_body::Body;
use http_body_util::BodyExt;
use steadfast_kit::{Chunks, Piece};

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
