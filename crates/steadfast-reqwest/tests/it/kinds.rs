//! Errors of reqwest's own making.

use std::time::Duration;

use steadfast_core::{Delivery, Failure, Outcome, Reason, Rejected, Report, Verdict};
use steadfast_kit::{Script, ScriptedServer};

use crate::wrapped::*;

#[tokio::test]
async fn a_status_made_an_error_means_what_the_status_means() {
    for (line, expected) in [
        ("404 Not Found", Verdict::Permanent(Delivery::Answered)),
        ("429 Too Many", Verdict::Transient(Delivery::Unprocessed)),
        ("503 Unavailable", UNKNOWN),
    ] {
        let script = Script::new().read().answer(line, &[], "");
        let server = ScriptedServer::start([script]).await.unwrap();
        let answer = leaf().get_ref().get(server.url("/")).send().await.unwrap();
        let error = answer.error_for_status().unwrap_err();
        assert_eq!(verdict(error), expected, "{line}");
    }
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_is_permanent_and_its_effect_unknown() {
    let around = Script::new()
        .read()
        .answer("307 Again", &["location: /"], "");
    let server = ScriptedServer::start([around.clone(), around])
        .await
        .unwrap();
    let follows = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::limited(1))
        .build()
        .unwrap();
    let error = follows.get(server.url("/")).send().await.unwrap_err();
    assert!(error.is_redirect());
    assert_eq!(verdict(error), Verdict::Permanent(Delivery::Unknown));
}

#[test]
fn what_a_layer_says_wins_over_the_error_below_it() {
    let below = || reqwest::Client::new().get("no url").build().unwrap_err();
    let report = Report::new(2, Duration::ZERO, Some(Reason::Deadline), Outcome::Unknown);
    assert_eq!(verdict(Failure::new(report, below())), UNKNOWN);
    let rejected = Rejected::new(Reason::BulkheadFull);
    assert_eq!(verdict(rejected), Verdict::Rejected(Reason::BulkheadFull));
}

#[test]
fn what_reqwest_did_not_make_is_for_hyper_to_say() {
    let invalid = http::Request::get("no spaces").body(()).unwrap_err();
    assert_eq!(verdict(invalid), INVALID);
    let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    assert_eq!(verdict(refused), UNKNOWN);
}
