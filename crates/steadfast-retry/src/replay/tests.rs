use std::task::Waker;

use proptest::prelude::*;
use steadfast_kit::{Chunks, Piece};

use super::*;

fn poll<B>(body: &mut ReplayBody<B>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>>
where
    B: Body<Error: Into<BoxError>> + Unpin,
{
    Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()))
}

/// Polls until the end, over pending ones; answers the frames.
fn read(body: &mut ReplayBody<Chunks>) -> Result<(Vec<u8>, Option<HeaderMap>), BoxError> {
    let (mut bytes, mut trailers) = (Vec::new(), None);
    for _ in 0..10_000 {
        match poll(body) {
            Poll::Pending => {}
            Poll::Ready(None) => return Ok((bytes, trailers)),
            Poll::Ready(Some(frame)) => match frame?.into_data() {
                Ok(data) => bytes.extend_from_slice(&data),
                Err(frame) => trailers = frame.into_trailers().ok(),
            },
        }
    }
    panic!("the body does not end");
}

fn abc() -> Chunks {
    Chunks::new([
        Piece::data("a"),
        Piece::Pending,
        Piece::data("bc"),
        Piece::data(""),
        Piece::data("def"),
        Piece::trailer("x-sum", "6"),
    ])
}

fn is_abc(read: Result<(Vec<u8>, Option<HeaderMap>), BoxError>) -> bool {
    let (bytes, trailers) = read.unwrap();
    bytes == b"abcdef" && trailers.is_some_and(|trailers| trailers["x-sum"] == "6")
}

/// Never polled, after each poll, and wholly read; dropped or still held by the connection.
#[test]
fn replay_is_byte_exact_for_every_number_of_chunks_read_before_the_failure() {
    for polls in 0..=8 {
        for held in [false, true] {
            let (mut first, replay) = ReplayBody::new(abc(), 100);
            for _ in 0..polls {
                let _ = poll(&mut first);
            }
            let kept_alive = held.then_some(first);
            let mut second = replay.again().unwrap();
            assert!(
                is_abc(read(&mut second)),
                "after {polls} polls, held: {held}"
            );
            if let Some(mut first) = kept_alive {
                let error = read(&mut first).unwrap_err();
                assert!(error.is::<Superseded>(), "{error}");
            }
        }
    }
}

#[test]
fn a_third_attempt_replays_what_two_have_sent() {
    let (mut first, replay) = ReplayBody::new(abc(), 100);
    let _ = poll(&mut first);
    let mut second = replay.again().unwrap();
    for _ in 0..3 {
        let _ = poll(&mut second);
    }
    let mut third = replay.again().unwrap();
    assert!(read(&mut second).unwrap_err().is::<Superseded>());
    assert!(is_abc(read(&mut third)));
    assert_eq!(replay.state(), BodyState::Replayable);
    assert!(
        is_abc(read(&mut replay.again().unwrap())),
        "trailers are replayed too"
    );
}

#[test]
fn each_attempt_shows_the_same_size_hint_and_counts_it_down() {
    let body = || Chunks::of(["abc", "de"]).with_exact_size();
    let (mut first, replay) = ReplayBody::new(body(), 100);
    assert_eq!(first.size_hint().exact(), Some(5));
    let _ = poll(&mut first);
    assert_eq!(first.size_hint().exact(), Some(2));
    let mut second = replay.again().unwrap();
    assert_eq!(second.size_hint().exact(), Some(5));
    let _ = poll(&mut second);
    assert_eq!(second.size_hint().exact(), Some(2));
    assert!(!second.is_end_stream());
    let _ = poll(&mut second);
    assert!(second.is_end_stream());
    let third = replay.again().unwrap();
    assert!(!third.is_end_stream(), "its replay is still to come");
}

/// Above the bound attempt 1 streams on, whole, and nothing is kept.
#[test]
fn over_the_bound_the_first_attempt_streams_on_and_cannot_be_repeated() {
    let (mut first, replay) = ReplayBody::new(Chunks::of(["abc", "de", "f"]), 4);
    let _ = poll(&mut first);
    assert_eq!(replay.state(), BodyState::Replayable);
    assert_eq!(read(&mut first).unwrap().0, b"def");
    assert_eq!(replay.state(), BodyState::NotReplayable);
    assert!(replay.again().is_none());

    let (mut exact, replay) = ReplayBody::new(Chunks::of(["abc", "d"]), 4);
    assert_eq!(read(&mut exact).unwrap().0, b"abcd");
    assert!(replay.again().is_some(), "the bound itself is allowed");

    let long = Chunks::of(["abc", "de"]).with_exact_size();
    let (mut known, replay) = ReplayBody::new(long, 4);
    assert_eq!(
        replay.state(),
        BodyState::NotReplayable,
        "its size told so before"
    );
    assert_eq!(read(&mut known).unwrap().0, b"abcde");
}

#[test]
fn a_second_attempt_that_overruns_the_bound_is_sent_whole() {
    let (mut first, replay) = ReplayBody::new(Chunks::of(["abc", "de", "f"]), 4);
    let _ = poll(&mut first);
    let mut second = replay.again().unwrap();
    assert_eq!(read(&mut second).unwrap().0, b"abcdef");
    assert!(replay.again().is_none());
}

#[test]
fn once_the_call_is_decided_nothing_more_is_kept_and_nothing_is_lost() {
    let body = Chunks::of(["abc", "de", "f"]);
    let watch = body.watch();
    let (mut first, replay) = ReplayBody::new(body, 100);
    let _ = poll(&mut first);
    let mut second = replay.again().unwrap();
    drop(replay);
    assert_eq!(
        read(&mut second).unwrap().0,
        b"abcdef",
        "an upload that goes on is whole"
    );
    assert_eq!(
        watch.dropped(),
        1,
        "the source is dropped when it has ended"
    );
}

#[test]
fn an_error_of_the_source_reaches_the_attempt_and_ends_repeats() {
    let fail = || Piece::fail(std::io::Error::other("disk"));
    let (mut first, replay) = ReplayBody::new(Chunks::new([Piece::data("a"), fail()]), 100);
    let _ = poll(&mut first);
    let error = read(&mut first).unwrap_err();
    assert!(error.is::<std::io::Error>(), "{error}");
    assert_eq!(replay.state(), BodyState::NotReplayable);
    assert!(replay.again().is_none());
}

#[test]
fn an_empty_body_is_replayed_without_being_kept() {
    let (first, replay) = ReplayBody::new(Chunks::of([""; 0]).with_exact_size(), 0);
    assert!(first.is_end_stream());
    assert_eq!(first.size_hint().exact(), Some(0));
    let mut second = replay.again().unwrap();
    assert!(second.is_end_stream());
    assert!(matches!(poll(&mut second), Poll::Ready(None)));
}

#[test]
fn a_body_sent_once_passes_through() {
    let (mut body, replay) = ReplayBody::once(abc());
    assert!(is_abc(read(&mut body)));
    assert_eq!(replay.state(), BodyState::NotReplayable);
    assert!(replay.again().is_none());
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..20)
}

proptest! {
    /// Any frames, any number of polls in each of three attempts, any bound.
    #[test]
    fn the_last_attempt_sends_every_byte_once(
        chunks in proptest::collection::vec(pieces(), 0..12),
        pending in any::<u16>(),
        polls in proptest::collection::vec(0..30usize, 3),
        limit in 0..200usize,
    ) {
        let want: Vec<u8> = chunks.concat();
        let frames = chunks.into_iter().enumerate().flat_map(|(i, chunk)| {
            let wait = (pending >> i & 1 == 1).then_some(Piece::Pending);
            wait.into_iter().chain([Piece::data(chunk)])
        });
        let (mut body, replay) = ReplayBody::new(Chunks::new(frames), limit);
        let mut sent = Vec::new();
        for polls in polls {
            for _ in 0..polls {
                if let Poll::Ready(Some(frame)) = poll(&mut body) {
                    sent.extend_from_slice(frame.unwrap().data_ref().unwrap());
                }
            }
            match replay.again() {
                Some(next) => (body, sent) = (next, Vec::new()),
                None => break,
            }
        }
        sent.extend(read(&mut body).unwrap().0);
        prop_assert_eq!(sent, want);
    }
}
