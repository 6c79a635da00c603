//! google.rpc.RetryInfo on the wire.

use std::time::Duration;

use steadfast_core::Reason;
use steadfast_tonic::RetryInfo;

use crate::greeter::{Running, Says};
use crate::peer::*;

/// A status whose one detail is a RetryInfo of 30 s.
fn half_a_minute() -> Vec<u8> {
    let url = b"type.googleapis.com/google.rpc.RetryInfo";
    let mut any = vec![0x0a, url.len() as u8];
    any.extend(url);
    any.extend([0x12, 4, 0x0a, 2, 0x08, 30]);
    let mut status = vec![0x08, 14, 0x1a, any.len() as u8];
    status.extend(any);
    status
}

#[tokio::test]
async fn a_wait_that_retry_info_asks_for_is_kept_or_the_call_ends_at_once() {
    let read = RetryInfo::of_details(&half_a_minute()).unwrap().unwrap();
    assert_eq!(read.retry_delay(), Duration::from_secs(30));
    let server = Running::start([Says::Details(half_a_minute()), Says::Hello]).await;
    let config = config().with_max_hint(Duration::from_secs(10));
    let mut client = client(server.channel(), config);
    let status = client.say_hello(idempotent()).await.unwrap_err();
    assert_eq!(
        (reason(&status), server.calls()),
        (Some(Reason::HintOverLimit), 1)
    );
}

#[tokio::test]
async fn details_that_cannot_be_read_leave_the_own_wait() {
    let server = Running::start([Says::Details(vec![0xff; 40]), Says::Hello]).await;
    let mut client = client(server.channel(), config());
    let answer = client.say_hello(idempotent()).await.unwrap();
    assert_eq!(
        (&*answer.into_inner().text, server.calls()),
        ("hello, you", 2)
    );
}

/// The same in trailers that come after a head.
#[tokio::test]
async fn retry_info_is_read_in_trailers_too() {
    let server = Running::start([Says::Details(half_a_minute()), Says::Hello]).await;
    let config = config().with_max_hint(Duration::from_secs(10));
    let mut client = client(server.channel(), config);
    let answered = client.list_hellos(idempotent()).await;
    let failed = match answered {
        Ok(replies) => replies.into_inner().message().await.unwrap_err(),
        Err(status) => status,
    };
    assert_eq!(
        (failed.code(), server.calls()),
        (tonic::Code::Unavailable, 1)
    );
}
