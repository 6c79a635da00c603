use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use http_body::{Body, Frame, SizeHint};
use steadfast_kit::Piece;
use tower::service_fn;

use super::*;

type Polled<D, E> = Poll<Option<Result<Frame<D>, E>>>;

fn poll<B: Body + Unpin>(body: &mut B) -> Polled<B::Data, B::Error> {
    let mut cx = Context::from_waker(Waker::noop());
    pin!(body).poll_frame(&mut cx)
}

#[tokio::test(start_paused = true)]
async fn the_peers_frames_end_and_size_pass_unchanged() {
    let pieces = || {
        let data = [Piece::data("one"), Piece::Pending, Piece::data("two")];
        let trailers = Piece::trailer("x-sum", "6");
        Chunks::new(data.into_iter().chain([trailers])).with_exact_size()
    };
    let mut plain = pieces();
    let answered = answers(&layer(Reason::ALL), Response::new(pieces())).await;
    let mut passed = answered.unwrap().into_body();
    loop {
        assert_eq!(passed.is_end_stream(), plain.is_end_stream());
        assert_eq!(passed.size_hint().exact(), plain.size_hint().exact());
        match (poll(&mut passed), poll(&mut plain)) {
            (Poll::Pending, Poll::Pending) => {}
            (Poll::Ready(None), Poll::Ready(None)) => break,
            (Poll::Ready(Some(got)), Poll::Ready(Some(want))) => {
                let (got, want) = (got.unwrap(), want.unwrap());
                assert_eq!(got.data_ref(), want.data_ref());
                assert_eq!(got.trailers_ref(), want.trailers_ref());
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_peers_body_passes_by_type() {
    let body = Chunks::new([Piece::data("half"), Piece::fail(reset())]);
    let answered = answers(&layer(Reason::ALL), Response::new(body)).await;
    let error = answered.unwrap().into_body().collect().await.unwrap_err();
    assert!(error.is::<io::Error>());
}

#[tokio::test(start_paused = true)]
async fn ones_own_bytes_are_one_frame_of_known_size() {
    let refusal = Rejected::new(Reason::Cooldown);
    let answered = fails(&layer(Reason::ALL), refusal).await;
    let mut body = answered.unwrap().into_body();
    let (text, size) = ("instead of cooldown", body.size_hint().exact());
    assert_eq!(size, Some(text.len() as u64));
    assert!(!body.is_end_stream());
    let Poll::Ready(Some(Ok(frame))) = poll(&mut body) else {
        panic!("no frame");
    };
    assert_eq!(frame.into_data().unwrap(), text);
    assert!(body.is_end_stream());
    assert_eq!(body.size_hint().exact(), Some(0));
    assert!(matches!(poll(&mut body), Poll::Ready(None)));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_of_ones_own_has_no_frame() {
    let layer = FallbackLayer::new(Reason::ALL, |_| Response::default());
    let answered = fails(&layer, Rejected::new(Reason::Cooldown)).await;
    let mut body = answered.unwrap().into_body();
    assert!(body.is_end_stream());
    assert!(matches!(poll(&mut body), Poll::Ready(None)));
}

/// A body whose data are no `Bytes`, and lie in two pieces.
struct Deques(Option<VecDeque<u8>>);

impl Body for Deques {
    type Data = VecDeque<u8>;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<VecDeque<u8>>, Infallible>>> {
        Poll::Ready(self.0.take().map(|data| Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |data| data.len() as u64))
    }
}

#[tokio::test(start_paused = true)]
async fn data_of_any_type_come_out_as_bytes() {
    let mut data = VecDeque::from(*b"and more");
    for byte in b"bytes ".iter().rev() {
        data.push_front(*byte);
    }
    let peer = service_fn(move |_: Request<()>| {
        let body = Deques(Some(data.clone()));
        std::future::ready(Ok::<_, Infallible>(Response::new(body)))
    });
    let service = layer(Reason::ALL).layer(peer);
    let answer = service.oneshot(Request::new(())).await.unwrap();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(bytes, "bytes and more");
}
