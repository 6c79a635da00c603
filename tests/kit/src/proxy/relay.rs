//! One connection of a client and its connection upstream: exchanges in sequence.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use super::{Fate, Shared};
use crate::wire::{Framing, Reader, request_framing, response_framing};

/// Returns when either side has closed, an answer was cut, or the bytes are not HTTP.
pub(super) async fn relay(
    client: TcpStream,
    upstream: TcpStream,
    shared: &Shared,
) -> io::Result<()> {
    client.set_nodelay(true)?;
    upstream.set_nodelay(true)?;
    let (from_client, mut to_client) = client.into_split();
    let (from_upstream, mut to_upstream) = upstream.into_split();
    let mut from_client = Reader::new(from_client);
    let mut from_upstream = Reader::new(from_upstream);

    loop {
        let next = tokio::select! {
            biased;
            next = from_client.request() => next?,
            // An idle upstream closes, or speaks unasked: the client must not reuse this.
            _ = from_upstream.fill() => return Ok(()),
        };
        let Some((request, head)) = next else {
            return Ok(());
        };
        if request.method() == Method::CONNECT {
            return Ok(());
        }

        let sent = AtomicBool::new(false);
        let framing = request_framing(request.headers())?;
        let upload = upload(&head, framing, &mut from_client, &mut to_upstream, &sent);
        let answer = answer_head(&mut from_upstream, &mut to_client);
        tokio::pin!(upload);
        let answer = tokio::select! {
            answer = answer => answer?,
            // Pending for ever once the upload is done, so only a client that left ends this.
            gone = &mut upload => return gone,
        };
        let Some((answer, head)) = answer else {
            return Ok(());
        };
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(());
        }

        let (exchange, fate) = shared.judge(request, answer);
        match fate {
            Fate::Pass => {}
            Fate::CutAnswer => return Ok(()),
        }
        to_client.write_all(&head).await?;
        let framing = response_framing(exchange.request.method(), &exchange.answer)?;
        let download = from_upstream.body(framing, &mut to_client);
        tokio::select! {
            done = download => done?,
            gone = &mut upload => return gone,
        }
        // After an answer to half a request, nobody knows where the next one begins.
        if framing == Framing::UntilClose || !sent.load(Ordering::Relaxed) {
            return Ok(());
        }
    }
}

/// Sends the request on, notes it in `sent`, and then watches for a client that leaves; ends only
/// when it has left.
///
/// An upstream that stops reading ends the sending but not the exchange: its answer may be there.
async fn upload<R: AsyncRead + Unpin>(
    head: &Bytes,
    framing: Framing,
    from_client: &mut Reader<R>,
    to_upstream: &mut OwnedWriteHalf,
    sent: &AtomicBool,
) -> io::Result<()> {
    let sending = async {
        to_upstream.write_all(head).await?;
        from_client.body(framing, to_upstream).await
    };
    sent.store(sending.await.is_ok(), Ordering::Relaxed);
    while from_client.fill().await? > 0 {
        if sent.load(Ordering::Relaxed) {
            // The next request: kept, and asked for when this exchange is over.
            return std::future::pending().await;
        }
    }
    Ok(())
}

/// The head of the final answer; interim ones (1xx) pass on unasked.
async fn answer_head<R: AsyncRead + Unpin>(
    from_upstream: &mut Reader<R>,
    to_client: &mut OwnedWriteHalf,
) -> io::Result<Option<(Response<()>, Bytes)>> {
    loop {
        let Some((answer, head)) = from_upstream.response().await? else {
            return Ok(None);
        };
        let interim = answer.status().is_informational();
        if !interim || answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Ok(Some((answer, head)));
        }
        to_client.write_all(&head).await?;
    }
}
