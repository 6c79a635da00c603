//! A client that dies between its request and the answer, and comes back.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use http::Uri;
use steadfast::idempotency::OperationKey;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, KeySource, Routes};
use steadfast::retry::RetryLayer;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tower::{ServiceBuilder, ServiceExt};

use crate::payments::{Payments, request};
use crate::stack::{hyper, text};

const TEST: &str =
    "killed_client::a_killed_client_that_comes_back_with_its_persisted_key_gets_the_first_answer";
/// Where a child finds the server; its presence makes this test the child.
const URL: &str = "STEADFAST_TEST_URL";
/// Where a child persists its key.
const RECORD: &str = "STEADFAST_TEST_RECORD";
/// What a child prints before the answer it got.
const ANSWER: &str = "answer: ";
/// Ends a test that hangs.
const BOUND: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_killed_client_that_comes_back_with_its_persisted_key_gets_the_first_answer() {
    if let (Ok(url), Ok(record)) = (env::var(URL), env::var(RECORD)) {
        return client(&url, Path::new(&record)).await;
    }
    tokio::time::timeout(BOUND, server()).await.unwrap();
}

/// The parent: the server, and the one who kills.
async fn server() {
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("order-7.key");
    let (committed, mut commits) = mpsc::unbounded_channel();
    let payments = Payments::start_with(dir.path(), |app| hold_first_answers(app, committed)).await;
    let url = format!("http://{}/charges", payments.addr);

    let mut first = child(&url, &record);
    commits.recv().await.unwrap();
    first.start_kill().unwrap();
    let status = first.wait().await.unwrap();
    assert!(
        !status.success(),
        "killed before it had an answer: {status}"
    );
    assert_eq!(
        payments.charges_and_accounts().await,
        (1, 1),
        "and after the charge"
    );

    assert_eq!(
        answer_of(child(&url, &record)).await,
        "201 replayed: true, receipt 1"
    );
    assert_eq!(payments.charges_and_accounts().await, (1, 1));
}

/// Tells of each answer to an execution, which is there only after the commit, and keeps it from
/// the client. Replays pass.
fn hold_first_answers(app: Router, committed: mpsc::UnboundedSender<()>) -> Router {
    let hold = move |request: Request, next: Next| {
        let committed = committed.clone();
        async move {
            let answer = next.run(request).await;
            if !answer.headers().contains_key("idempotent-replayed") {
                committed.send(()).unwrap();
                std::future::pending::<()>().await;
            }
            answer
        }
    };
    app.layer(middleware::from_fn(hold))
}

/// This test, started once more as the client.
fn child(url: &str, record: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(URL, url)
        .env(RECORD, record)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// What a child was answered.
async fn answer_of(mut child: Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answer = None;
    while let Some(line) = lines.next_line().await.unwrap() {
        // The harness writes the test's name without a line break before what the test prints.
        if let Some((_, said)) = line.split_once(ANSWER) {
            answer = Some(said.to_owned());
        }
    }
    assert!(child.wait().await.unwrap().success());
    answer.unwrap()
}

/// The child: the client of one order, which keeps the key in the order's record.
async fn client(url: &str, record: &Path) {
    let key = match fs::read_to_string(record) {
        Ok(key) => OperationKey::parse(&key).unwrap(),
        Err(_) => {
            let key = OperationKey::random();
            persist(record, &key);
            key
        }
    };
    let destination = url.parse::<Uri>().unwrap().authority().unwrap().to_string();
    let routes = Routes::new().post(&destination, "/charges").unwrap();
    let config = KeyConfig::new(routes).with_source(KeySource::RequireExplicit);
    let stack = ServiceBuilder::new()
        .layer(KeyLayer::new(config))
        .layer(RetryLayer::new(crate::stack::config()))
        .service(hyper());
    let mut request = request(url, "acct-7");
    request.extensions_mut().insert(key);

    let answered = stack.oneshot(request).await;
    let head = answered.as_ref().unwrap();
    let status = head.status().as_u16();
    let replayed = head.headers().contains_key("idempotent-replayed");
    println!(
        "{ANSWER}{status} replayed: {replayed}, {}",
        text(answered).await
    );
}

/// Before the first send, and so that it survives.
fn persist(record: &Path, key: &OperationKey) {
    let mut file = fs::File::create_new(record).unwrap();
    file.write_all(key.as_str().as_bytes()).unwrap();
    file.sync_all().unwrap();
}
