//! One request over a connection of its own: nothing repeats, pools or guesses.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::history::Reply;
use crate::order::Order;

/// Above the store's own patience, so that a store that gives up can say so.
pub(crate) const PATIENCE: Duration = Duration::from_secs(8);

/// How a client speaks, and so how it hangs up: it closes the connection, or it resets the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

/// Sends the order and reads the whole answer, for as long as the client has patience. An error is
/// an unknown outcome.
pub(crate) async fn send(
    protocol: Protocol,
    addr: SocketAddr,
    key: &str,
    order: &Order,
    patience: Duration,
) -> io::Result<Reply> {
    match protocol {
        Protocol::Http1 => timeout(patience, over_http1(addr, key, order)).await?,
        Protocol::Http2 => over_http2(addr, key, order, patience).await,
    }
}

async fn over_http2(
    addr: SocketAddr,
    key: &str,
    order: &Order,
    patience: Duration,
) -> io::Result<Reply> {
    let (client, connection) = timeout(patience, async {
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        h2::client::handshake(stream)
            .await
            .map_err(io::Error::other)
    })
    .await??;
    // It ends when the server has closed or nobody here holds the connection any more.
    let driver = tokio::spawn(connection);
    let mut client = timeout(patience, client.ready())
        .await?
        .map_err(io::Error::other)?;
    let request = http::Request::post("http://shop/charges")
        .header("idempotency-key", format!("\"{key}\""))
        .header("content-type", "application/json")
        .body(())
        .map_err(io::Error::other)?;
    let (answer, mut body) = client
        .send_request(request, false)
        .map_err(io::Error::other)?;
    let sent = body.send_data(serde_json::to_vec(order)?.into(), true);
    sent.map_err(io::Error::other)?;
    let read = timeout(patience, read_http2(answer)).await;
    if read.is_err() {
        body.send_reset(h2::Reason::CANCEL);
        // The connection goes on for a moment: what ends is the stream alone.
        sleep(Duration::from_millis(20)).await;
    }
    drop((client, body));
    driver.abort();
    read?
}

async fn read_http2(answer: h2::client::ResponseFuture) -> io::Result<Reply> {
    let (head, mut body) = answer.await.map_err(io::Error::other)?.into_parts();
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.map_err(io::Error::other)?;
        bytes.extend_from_slice(&data);
    }
    let location = head.headers.get("location");
    Ok(Reply {
        status: head.status.as_u16(),
        replayed: head.headers.contains_key("idempotent-replayed"),
        location: location.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        body: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

async fn over_http1(addr: SocketAddr, key: &str, order: &Order) -> io::Result<Reply> {
    let body = serde_json::to_string(order)?;
    let request = format!(
        "POST /charges HTTP/1.1\r\nhost: shop\r\nconnection: close\r\nidempotency-key: \"{key}\"\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    loop {
        if let Some(reply) = parse(&answer)? {
            return Ok(reply);
        }
        if stream.read_buf(&mut answer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// None while bytes are missing.
fn parse(bytes: &[u8]) -> io::Result<Option<Reply>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut headers);
    let parsed = head.parse(bytes).map_err(io::Error::other)?;
    let (httparse::Status::Complete(length), Some(status)) = (parsed, head.code) else {
        return Ok(None);
    };
    let header = |name: &str| {
        let found = head
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    let body = &bytes[length..];
    let announced = header("content-length").and_then(|text| text.parse().ok());
    if announced != Some(body.len()) {
        return Ok(None);
    }
    Ok(Some(Reply {
        status,
        replayed: header("idempotent-replayed").is_some(),
        location: header("location"),
        body: String::from_utf8_lossy(body).into_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_answer_is_none() {
        let answer = b"HTTP/1.1 201 Created\r\nlocation: /charges/7\r\ncontent-length: 2\r\n\r\n{}";
        for cut in 0..answer.len() {
            assert_eq!(parse(&answer[..cut]).unwrap(), None, "{cut} bytes");
        }
        let reply = parse(answer).unwrap().unwrap();
        assert_eq!((reply.status, &*reply.body), (201, "{}"));
        assert_eq!(reply.location.as_deref(), Some("/charges/7"));
        assert!(!reply.replayed);
    }
}
