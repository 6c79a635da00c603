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

/// What a connection answers to this script while the second half of the request waits for it.
async fn talk(script: Script) -> (String, Vec<u8>) {
    let server = ScriptedServer::start([script]).await.unwrap();
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let (first, second) = REQUEST.split_at(REQUEST.len() - 2);
    stream.write_all(first).await.unwrap();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    stream.write_all(second).await.unwrap();
    stream.read_to_end(&mut answer).await.unwrap();
    let sent = server.requests().concat();
    (String::from_utf8(answer).unwrap(), sent)
}

#[tokio::test]
async fn answers_while_the_request_is_still_coming_and_reads_its_rest() {
    let script = Script::new()
        .read_head()
        .answer("200 OK", &[], "early")
        .read_body();
    let (answer, sent) = talk(script).await;
    assert!(answer.ends_with("\r\n\r\nearly"), "{answer}");
    assert_eq!(sent, REQUEST);
}

#[tokio::test]
async fn an_answer_can_be_cut_anywhere_in_its_body() {
    let script = Script::new()
        .read_head()
        .answer_cut("200 OK", &["x: y"], "Hello", 1)
        .read_body();
    let (answer, _) = talk(script).await;
    assert_eq!(
        answer,
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx: y\r\n\r\nH"
    );
}

#[tokio::test]
async fn a_request_that_crosses_the_close_is_not_read() {
    let crossed = Arc::new(Notify::new());
    let script = Script::new().arrival().notify(&crossed).reset();
    let server = ScriptedServer::start([script]).await.unwrap();
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    crossed.notified().await;
    let error = stream.read(&mut [0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn an_endless_answer_ends_with_its_reader() {
    let server = ScriptedServer::start([Script::new().read().endless("xyz")])
        .await
        .unwrap();
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut some = vec![0; 100_000];
    stream.read_exact(&mut some).await.unwrap();
    assert!(some.starts_with(b"xyzxyz"));
}
