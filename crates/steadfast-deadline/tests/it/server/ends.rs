//! When does a request end, and what is its caller told?

use steadfast_core::{CallState, TimeoutFormat, TimeoutHeader};
use steadfast_deadline::server::InboundTrust;

use super::*;

fn slow(after: Duration) -> Handler {
    Probe::script([Step::answer(ok()).after(after)])
}

#[tokio::test(start_paused = true)]
async fn a_handler_has_the_smaller_of_header_and_maximum_less_the_margin() {
    let config = InboundConfig::new().with_answer_margin(50 * MS);
    for (told, maximum, end) in [
        (Some(300), None, 250),
        (Some(300), Some(200), 150),
        (Some(300), Some(900), 250),
        (None, Some(200), 150),
        (Some(60), None, 30),
    ] {
        let config = maximum.map_or(config.clone(), |it| config.clone().with_maximum(it * MS));
        let request = || told.map_or_else(|| Request::new(()), waiting);
        for (after, in_time) in [(end - 1, true), (end, true), (end + 1, false)] {
            let handler = slow(after * MS);
            let got = send(&served(config.clone(), handler.clone()), request()).await;
            assert_eq!(got.after, after.min(end) * MS, "{told:?} {maximum:?}");
            if in_time {
                assert_eq!((got.status.as_u16(), &got.body[..]), (200, &b"done"[..]));
            } else {
                assert_eq!(got.status, 504);
                assert_eq!(got.code().as_deref(), Some("deadline-exceeded"));
            }
            assert_eq!(handler.cancelled(), usize::from(!in_time));
            assert_eq!((handler.in_flight(), handler.reserved()), (0, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_header_and_maximum_a_handler_takes_its_time() {
    let day = Duration::from_secs(86_400);
    let got = send(&served(InboundConfig::new(), slow(day)), Request::new(())).await;
    assert_eq!((got.status.as_u16(), got.after), (200, day));
}

#[tokio::test(start_paused = true)]
async fn a_grpc_call_ends_with_its_own_words() {
    let got = send(&served(InboundConfig::new(), slow(MS * 300)), grpc("250m")).await;
    assert_eq!((got.status.as_u16(), got.after), (200, 240 * MS));
    assert_eq!(got.headers["content-type"], "application/grpc");
    assert_eq!(got.headers["grpc-status"], "4");
    assert!(got.headers.contains_key("grpc-message"));
    assert!(got.body.is_empty());
}

#[tokio::test(start_paused = true)]
async fn names_and_units_are_configured() {
    let name = http::HeaderName::from_static("x-time-left");
    let config = InboundConfig::new()
        .with_answer_margin(Duration::ZERO)
        .with_headers([TimeoutHeader::new(name, TimeoutFormat::Seconds)]);
    let mut request = waiting(1);
    request.headers_mut().insert("x-time-left", 2.into());
    let got = send(&served(config, slow(MS * 3000)), request).await;
    assert_eq!((got.status.as_u16(), got.after), (504, 2000 * MS));
}

#[tokio::test(start_paused = true)]
async fn the_untrusted_tell_nothing_and_the_servers_maximum_holds() {
    let trusts = |headers: &http::HeaderMap, extensions: &http::Extensions| {
        assert!(extensions.get::<CallState>().is_none());
        match headers.contains_key("x-ours") {
            true => InboundTrust::Deadline,
            false => InboundTrust::Nothing,
        }
    };
    let config = InboundConfig::new()
        .with_answer_margin(Duration::ZERO)
        .with_maximum(500 * MS)
        .with_trust_for(trusts);
    for (ours, end) in [(true, 100), (false, 500)] {
        let mut request = waiting(100);
        if ours {
            request.headers_mut().insert("x-ours", 1.into());
        }
        let got = send(&served(config.clone(), slow(MS * 900)), request).await;
        assert_eq!((got.status.as_u16(), got.after), (504, end * MS));
    }
}

#[tokio::test(start_paused = true)]
async fn a_context_already_in_force_is_only_shortened() {
    for (outer, told, end) in [(100, 300, 100), (300, 100, 90)] {
        let context = CallContext::new()
            .with_operation("outer")
            .with_deadline(Deadline::after(Instant::now().into_std(), outer * MS));
        let handler = Probe::script([Step::call(|_| async {
            assert_eq!(CallContext::current().operation(), Some("outer"));
            std::future::pending().await
        })]);
        let service = served(InboundConfig::new(), handler);
        let got = steadfast_core::in_context(context, send(&service, waiting(told))).await;
        assert_eq!((got.status.as_u16(), got.after), (504, end * MS));
    }
}

#[tokio::test(start_paused = true)]
async fn the_handlers_own_error_passes_unchanged() {
    let handler: Handler = Probe::script([Step::fail("broken").after(MS)]);
    let error = served(InboundConfig::new(), handler)
        .oneshot(waiting(100))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "broken");
}
