use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use steadfast_kit::{Fate, FaultProxy, Script, ScriptedServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A connection that asks in sequence, as a client with a pool of one does.
struct Client(TcpStream);

impl Client {
    async fn connect(addr: SocketAddr) -> Self {
        Self(TcpStream::connect(addr).await.unwrap())
    }

    async fn send(&mut self, path: &str, body: &str) {
        let length = body.len();
        let text = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n");
        self.0
            .write_all(format!("{text}{body}").as_bytes())
            .await
            .unwrap();
    }

    /// Reads exactly what is expected, and says what came.
    async fn expect(&mut self, answer: &str) {
        let mut bytes = vec![0; answer.len()];
        self.0.read_exact(&mut bytes).await.unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), answer);
    }

    /// What is left until the end of the connection.
    async fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A reset is an end too.
        let _ = self.0.read_to_end(&mut bytes).await;
        bytes
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
    3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\nsum: 7\r\n\r\n";
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const NO_CONTENT: &str = "HTTP/1.1 204 No Content\r\n\r\n";

#[tokio::test]
async fn many_exchanges_pass_on_one_connection() {
    let answers = [OK, CHUNKED, NO_CONTENT, OK, CHUNKED, OK];
    let mut script = Script::new();
    for answer in answers {
        script = script.read().write(CONTINUE).write(answer);
    }
    let server = ScriptedServer::start([script]).await.unwrap();
    let proxy = FaultProxy::start(server.addr(), |_| Fate::Pass)
        .await
        .unwrap();
    let mut client = Client::connect(proxy.addr()).await;
    for (n, answer) in answers.into_iter().enumerate() {
        client.send(&format!("/{n}"), &"x".repeat(n * 1000)).await;
        client.expect(CONTINUE).await;
        client.expect(answer).await;
    }
    assert_eq!(client.rest().await, b"");
    assert_eq!((proxy.exchanges(), proxy.cuts()), (6, 0));
    assert_eq!((server.connections(), server.requests().len()), (1, 6));
    assert_eq!(
        server.requests()[3]
            .iter()
            .filter(|byte| **byte == b'x')
            .count(),
        3000
    );
}

#[tokio::test]
async fn cuts_exactly_what_the_hook_says() {
    let script = Script::new()
        .read()
        .write(OK)
        .read()
        .write(OK)
        .read()
        .write(OK);
    let server = ScriptedServer::start([script.clone(), script])
        .await
        .unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let proxy = FaultProxy::start(server.addr(), move |exchange| {
        let path = exchange.request.uri().path().to_owned();
        let status = exchange.answer.status().as_u16();
        let cut = path == "/cut";
        log.lock().unwrap().push((exchange.number, path, status));
        if cut { Fate::CutAnswer } else { Fate::Pass }
    })
    .await
    .unwrap();

    let mut client = Client::connect(proxy.addr()).await;
    client.send("/a", "1").await;
    client.expect(OK).await;
    client.send("/cut", "2").await;
    assert_eq!(client.rest().await, b"", "no byte of a cut answer arrives");

    let mut client = Client::connect(proxy.addr()).await;
    client.send("/b", "3").await;
    client.expect(OK).await;
    let seen = seen.lock().unwrap();
    let path = |n: usize| (seen[n].0, seen[n].1.as_str(), seen[n].2);
    assert_eq!(
        [path(0), path(1), path(2)],
        [(1, "/a", 200), (2, "/cut", 200), (3, "/b", 200)]
    );
    assert_eq!((proxy.exchanges(), proxy.cuts()), (3, 1));
    assert_eq!(
        server.requests().len(),
        3,
        "the upstream did the work of the cut exchange"
    );
}

#[tokio::test]
async fn an_upstream_that_dies_closes_the_client() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
    let scripts = [Script::new().read(), Script::new().read().write(half)];
    let server = ScriptedServer::start(scripts).await.unwrap();
    let proxy = FaultProxy::start(server.addr(), |_| Fate::Pass)
        .await
        .unwrap();
    let mut client = Client::connect(proxy.addr()).await;
    client.send("/", "").await;
    assert_eq!(client.rest().await, b"");
    assert_eq!(proxy.exchanges(), 0);
    let mut client = Client::connect(proxy.addr()).await;
    client.send("/", "").await;
    assert_eq!(client.rest().await, half.as_bytes());
    assert_eq!(proxy.exchanges(), 1);
}

#[tokio::test]
async fn an_upstream_that_closes_an_idle_connection_closes_the_client() {
    let server = ScriptedServer::start([Script::new().read().write(OK)])
        .await
        .unwrap();
    let proxy = FaultProxy::start(server.addr(), |_| Fate::Pass)
        .await
        .unwrap();
    let mut client = Client::connect(proxy.addr()).await;
    client.send("/", "").await;
    client.expect(OK).await;
    assert_eq!(client.rest().await, b"");
}

#[tokio::test]
async fn a_client_that_hangs_up_is_told_to_the_upstream() {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = FaultProxy::start(upstream.local_addr().unwrap(), |_| Fate::Pass)
        .await
        .unwrap();
    for body in ["whole", "half"] {
        let mut client = Client::connect(proxy.addr()).await;
        let length = if body == "whole" { body.len() } else { 1000 };
        let head = format!("POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}");
        client.0.write_all(head.as_bytes()).await.unwrap();
        let (mut stream, _) = upstream.accept().await.unwrap();
        let mut seen = vec![0; head.len()];
        stream.read_exact(&mut seen).await.unwrap();
        drop(client);
        assert_eq!(stream.read(&mut seen).await.unwrap(), 0, "{body}");
    }
    assert_eq!(proxy.exchanges(), 0);
}

#[tokio::test]
async fn held_connections_wait_for_the_restarted_upstream() {
    let old = ScriptedServer::start([Script::new().read().write(OK).read()])
        .await
        .unwrap();
    let proxy = FaultProxy::start(old.addr(), |_| Fate::Pass).await.unwrap();
    let mut client = Client::connect(proxy.addr()).await;
    client.send("/old", "").await;
    client.expect(OK).await;
    proxy.hold();
    // The one that exists stays with the old upstream, which answers nothing.
    client.send("/old", "").await;
    assert_eq!(client.rest().await, b"");
    let mut client = Client::connect(proxy.addr()).await;
    client.send("/new", "").await;
    let gone = old.addr();
    drop(old);
    let new = ScriptedServer::start([Script::new().read().write(OK)])
        .await
        .unwrap();
    assert_ne!(new.addr(), gone);
    proxy.set_upstream(new.addr());
    assert_eq!(new.connections(), 0);
    proxy.release();
    client.expect(OK).await;
    assert_eq!((new.connections(), proxy.exchanges()), (1, 2));
}
