//! The pairs whose order shows, or must not show, in connections.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast::Cut;
use steadfast_kit::{Script, ScriptedServer};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::asked::*;
use super::layers::*;
use crate::stack::{answer, hyper};

/// So long is given to an attempt that hangs; one that answers needs far less.
const SOON: Duration = Duration::from_millis(500);

const HALF: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n";

/// After what it has said, this peer waits until its connection is closed, and tells.
fn until_closed(script: Script, closed: &Arc<Notify>) -> Script {
    script.arrival().notify(closed)
}

async fn is_closed(closed: &Notify) {
    let soon = timeout(20 * SECOND, closed.notified()).await;
    soon.unwrap();
}

fn ask(server: &ScriptedServer) -> Request<Full<Bytes>> {
    Request::get(server.url("/")).body(Full::default()).unwrap()
}

#[tokio::test]
async fn an_attempt_that_is_cut_closes_its_connection_and_the_next_opens_another() {
    for outside in [false, true] {
        let closed = Arc::new(Notify::new());
        let hangs = until_closed(Script::new().read(), &closed);
        let server = ScriptedServer::start([hangs, answer("200 OK", &[], "")])
            .await
            .unwrap();
        let ended = match outside {
            true => {
                stack!(attempt_timeout(SOON), quick_retry(); hyper())
                    .ask(ask(&server))
                    .await
            }
            false => {
                stack!(quick_retry(), attempt_timeout(SOON); hyper())
                    .ask(ask(&server))
                    .await
            }
        };
        is_closed(&closed).await;
        match outside {
            true => assert_eq!(cut(&ended), Some(Cut::AttemptTimeout)),
            false => assert_eq!(status(ended), 200),
        }
        assert_eq!(server.connections(), if outside { 1 } else { 2 });
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection_in_either_order() {
    for outside in [true, false] {
        let (closed, asked) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let hangs = until_closed(Script::new().read().notify(&asked), &closed);
        let server = ScriptedServer::start([hangs]).await.unwrap();
        let call = match outside {
            true => stack!(call_limit(60 * SECOND), quick_retry(); hyper()).ask(ask(&server)),
            false => stack!(quick_retry(), call_limit(60 * SECOND); hyper()).ask(ask(&server)),
        };
        tokio::select! {
            ended = call => panic!("{ended:?}"),
            () = is_closed(&asked) => {}
        }
        is_closed(&closed).await;
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn a_silent_body_closes_its_connection_before_its_place_is_anothers() {
    for outside in [true, false] {
        let closed = Arc::new(Notify::new());
        let silent = until_closed(Script::new().read().write(HALF), &closed);
        let server = ScriptedServer::start([silent, answer("200 OK", &[], "")])
            .await
            .unwrap();
        let (places, bodies) = (bulkhead(), body_timeout(SOON));
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let (ended, next) = match outside {
            true => {
                let stack = stack!(places, bodies; client);
                (stack.ask(ask(&server)).await, stack.ask(ask(&server)).await)
            }
            false => {
                let stack = stack!(bodies, places; client);
                (stack.ask(ask(&server)).await, stack.ask(ask(&server)).await)
            }
        };
        assert_eq!(cut(&ended), Some(Cut::BodyIdle));
        assert_eq!(status(next), 200);
        is_closed(&closed).await;
        assert_eq!(server.connections(), 2);
    }
}

/// It is read during the wait only, however patient the body timeout is.
#[tokio::test]
async fn a_failed_answer_that_falls_silent_is_left_behind_in_either_order() {
    for outside in [true, false] {
        let closed = Arc::new(Notify::new());
        let failed = HALF.replace("200 OK", "503 Service Unavailable");
        let silent = until_closed(Script::new().read().write(failed), &closed);
        let server = ScriptedServer::start([silent, answer("200 OK", &[], "")])
            .await
            .unwrap();
        let bodies = body_timeout(60 * SECOND);
        let ended = match outside {
            true => {
                stack!(quick_retry(), bodies; hyper())
                    .ask(ask(&server))
                    .await
            }
            false => {
                stack!(bodies, quick_retry(); hyper())
                    .ask(ask(&server))
                    .await
            }
        };
        assert_eq!(reason(&ended), None);
        assert_eq!(status(ended), 200);
        is_closed(&closed).await;
        assert_eq!(server.connections(), 2);
    }
}
