use std::io::ErrorKind;
use std::sync::Arc;

use steadfast_kit::{Script, ScriptedServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

const REQUEST: &[u8] = b"POST /pay HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n1234";

#[tokio::test]
async fn each_connection_gets_its_script() {
    let scripts = [
        Script::new().read().answer("200 OK", &["x: y"], "paid"),
        Script::new().read_head().write("garbage"),
    ];
    let server = ScriptedServer::start(scripts).await.unwrap();
    let mut answers = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.addr()).await.unwrap();
        let mut answer = Vec::new();
        // Connections without a script are closed, perhaps before this is written.
        let _ = stream.write_all(REQUEST).await;
        let _ = stream.read_to_end(&mut answer).await;
        answers.push(String::from_utf8(answer).unwrap());
    }
    assert_eq!(
        answers[0],
        "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nx: y\r\n\r\npaid"
    );
    assert_eq!(answers[1], "garbage");
    assert_eq!(answers[2], "");
    assert_eq!(server.connections(), 3);
    assert_eq!(server.requests()[0], REQUEST);
    assert_eq!(server.requests()[1], REQUEST[..REQUEST.len() - 4]);
}

#[tokio::test]
async fn a_reset_is_a_reset_and_no_close() {
    let server = ScriptedServer::start([Script::new().read().reset()])
        .await
        .unwrap();
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let error = stream.read(&mut [0; 8]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn waits_until_told() {
    let go = Arc::new(Notify::new());
    let script = Script::new().read().wait(&go).write("late").stall();
    let server = ScriptedServer::start([script]).await.unwrap();
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut answer = [0; 4];
    {
        let mut early = tokio_test::task::spawn(stream.read_exact(&mut answer));
        assert!(early.poll().is_pending());
    }
    go.notify_one();
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"late");
    drop(server);
    assert_eq!(stream.read(&mut answer).await.unwrap(), 0);
}
