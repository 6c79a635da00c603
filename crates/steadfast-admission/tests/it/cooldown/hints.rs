use steadfast_core::{Hint, HintSource, Hints};
use tokio::time::advance;

use super::*;
use crate::MS;

#[tokio::test(start_paused = true)]
async fn after_a_hint_calls_are_refused_until_it_is_over_and_then_pass() {
    for status in [429, 503] {
        let (service, peer) = over([told(status, "2"), ok(), ok()]);
        assert_eq!(call(&service, "a.example").await.unwrap(), status);
        assert_eq!(refused(&service, "a.example").await, Some(2 * SECOND));
        advance(1999 * MS).await;
        assert_eq!(refused(&service, "a.example").await, Some(MS));
        assert_eq!(peer.calls(), 1, "nothing was sent");
        advance(MS).await;
        assert!(call(&service, "a.example").await.is_ok());
        assert!(call(&service, "a.example").await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_with_the_hint_passes_unchanged() {
    let said = answer(503, &[("retry-after", "2"), ("x-other", "kept")]);
    let (service, _) = over([Step::answer(said.clone())]);
    let got = service.oneshot(get("a.example")).await.unwrap();
    assert_eq!(got.status(), said.status());
    assert_eq!(got.headers(), said.headers());
}

#[tokio::test(start_paused = true)]
async fn the_pause_runs_from_the_answers_arrival_not_from_the_calls_start() {
    let (service, _) = over([told(429, "2").after(5 * SECOND)]);
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "a.example").await, Some(2 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn what_asks_for_nothing_changes_nothing() {
    let past = ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT");
    for (status, headers) in [
        (503, &[][..]),
        (503, &[("retry-after", "0")]),
        (503, &[past]),
        (503, &[("retry-after", "soon")]),
        (503, &[("retry-after", "-5")]),
        (429, &[("x-ratelimit-reset", "60")]),
        (429, &[("grpc-retry-pushback-ms", "5000")]),
        (429, &[("grpc-retry-pushback-ms", "-1")]),
    ] {
        let (service, peer) = over([Step::answer(answer(status, headers)), ok()]);
        call(&service, "a.example").await.unwrap();
        assert!(call(&service, "a.example").await.is_ok(), "{headers:?}");
        assert_eq!(peer.calls(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_beside_any_other_status_changes_nothing() {
    for status in [200, 202, 301, 413, 500, 502, 504] {
        let (service, _) = over([told(status, "60"), ok()]);
        call(&service, "a.example").await.unwrap();
        assert!(call(&service, "a.example").await.is_ok(), "{status}");
    }
    let declared = CooldownConfig::new().with_statuses([StatusCode::BAD_GATEWAY]);
    let layer = CooldownLayer::new(declared);
    let (service, _) = around(&layer, [told(503, "60"), told(502, "60")]);
    call(&service, "a.example").await.unwrap();
    call(&service, "a.example").await.unwrap();
    assert!(refused(&service, "a.example").await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hint_above_the_maximum_is_cut_to_it() {
    for said in ["61", "86400", "99999999999999999999999"] {
        let (service, _) = over([told(503, said), ok()]);
        call(&service, "a.example").await.unwrap();
        assert_eq!(refused(&service, "a.example").await, Some(60 * SECOND));
        advance(60 * SECOND).await;
        assert!(call(&service, "a.example").await.is_ok());
    }
    let none = CooldownLayer::new(CooldownConfig::new().with_max(Duration::ZERO));
    let (service, _) = around(&none, [told(503, "5"), ok()]);
    call(&service, "a.example").await.unwrap();
    assert!(call(&service, "a.example").await.is_ok());
    let no_limit = CooldownLayer::new(CooldownConfig::new().with_max(Duration::MAX));
    let (service, _) = around(&no_limit, [told(503, "86400")]);
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "a.example").await, Some(86400 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_longer_later_hint_extends_and_a_shorter_one_does_not_shorten() {
    for (second, left) in [("1", 5), ("9", 9)] {
        let slow = told(429, second).after(MS);
        let (service, _) = over([slow, told(429, "5")]);
        let under_way = tokio::spawn({
            let service = service.clone();
            async move { call(&service, "a.example").await }
        });
        tokio::task::yield_now().await;
        call(&service, "a.example").await.unwrap();
        // A call under way when the pause began goes on, and its answer counts.
        assert_eq!(under_way.await.unwrap().unwrap(), 429);
        let rest = refused(&service, "a.example").await.unwrap();
        assert!(rest <= left * SECOND && rest >= left * SECOND - 2 * MS);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_below_has_read_is_the_hosts_word() {
    for (below, rest) in [
        (Hint::Wait(3 * SECOND), Some(3 * SECOND)),
        (Hint::Wait(Duration::MAX), Some(60 * SECOND)),
        (Hint::Wait(Duration::ZERO), None),
        (Hint::Exactly(3 * SECOND), None),
        (Hint::Stop, None),
        (Hint::Unreadable, None),
    ] {
        let mut said = answer(429, &[("retry-after", "7")]);
        said.extensions_mut().insert(below);
        let (service, _) = over([Step::answer(said), ok()]);
        call(&service, "a.example").await.unwrap();
        assert_eq!(refused(&service, "a.example").await, rest, "{below:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pushback_does_not_hide_the_hosts_own_word() {
    let both = [("grpc-retry-pushback-ms", "-1"), ("retry-after", "7")];
    let all = CooldownConfig::new().with_hints(Hints::default().with(HintSource::Pushback));
    let (service, _) = around(&CooldownLayer::new(all), [Step::answer(answer(503, &both))]);
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "a.example").await, Some(7 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn every_spelling_that_is_declared_is_heard() {
    let millis = answer(503, &[("retry-after-ms", "1500")]);
    let (service, _) = over([Step::answer(millis)]);
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "a.example").await, Some(1500 * MS));

    let dated = answer(
        503,
        &[
            ("date", "Thu, 25 Jun 2020 21:29:42 GMT"),
            ("retry-after", "Thu, 25 Jun 2020 21:30:12 GMT"),
        ],
    );
    let (service, _) = over([Step::answer(dated)]);
    call(&service, "a.example").await.unwrap();
    assert_eq!(refused(&service, "a.example").await, Some(30 * SECOND));

    let deaf = CooldownLayer::new(CooldownConfig::new().with_hints(Hints::nothing()));
    let (service, _) = around(&deaf, [told(503, "5"), ok()]);
    call(&service, "a.example").await.unwrap();
    assert!(call(&service, "a.example").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_error_says_nothing_and_passes_by_its_type() {
    let refusal = Rejected::new(Reason::CircuitOpen).with_retry_in(9 * SECOND);
    let (service, _) = over([Step::fail(refusal), ok()]);
    let error = call(&service, "a.example").await.unwrap_err();
    assert_eq!(error.downcast_ref::<Rejected>(), Some(&refusal));
    assert!(call(&service, "a.example").await.is_ok());
}
