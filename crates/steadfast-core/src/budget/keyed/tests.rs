#![allow(
    clippy::disallowed_methods,
    reason = "an arbitrary instant to count from"
)]

use http::Request;

use super::super::tests::spend_all;
use super::super::{Ask, Ending, RateBudget, RatioBudget, RefundBudget, Sending};
use super::*;
use crate::{CallState, Ratio};

fn choose(budgets: &KeyedBudget, uri: &str, now: Instant) -> Arc<dyn Budget> {
    let request = Request::get(uri).body(()).unwrap();
    of_request(budgets, &request, now)
}

fn of_request(budgets: &KeyedBudget, request: &Request<()>, now: Instant) -> Arc<dyn Budget> {
    let (method, uri) = (request.method(), request.uri());
    budgets.budget_for(
        Target::of(method, uri, request.headers(), request.extensions()),
        now,
    )
}

/// Tries `calls` calls that all want a retry, and says how many got it.
fn retries(budgets: &KeyedBudget, uri: &str, calls: u32, now: Instant) -> u32 {
    let retry = |_: &u32| {
        let budget = choose(budgets, uri, now);
        budget.on_call(now);
        budget.reserve(Ask::new(now)).is_some_and(|mut permit| {
            permit.sent();
            true
        })
    };
    (0..calls).filter(retry).count() as u32
}

fn three() -> RateBudget {
    RateBudget::new(3, Duration::from_secs(60))
}

#[test]
fn one_destination_does_not_spend_the_retries_of_another() {
    let (budgets, now) = (KeyedBudget::by_destination(three), Instant::now());
    assert_eq!(retries(&budgets, "http://a.example/1", 10, now), 3);
    assert_eq!(
        retries(&budgets, "http://user@A.Example/2", 10, now),
        0,
        "the same host"
    );
    assert_eq!(retries(&budgets, "http://b.example/1", 10, now), 3);
    assert_eq!(
        retries(&budgets.clone(), "http://b.example/1", 10, now),
        0,
        "clones share"
    );
}

#[test]
fn calls_without_a_destination_share_a_budget_and_given_names_count() {
    let (budgets, now) = (KeyedBudget::by_destination(three), Instant::now());
    assert_eq!(retries(&budgets, "/1", 10, now), 3);
    assert_eq!(retries(&budgets, "/2", 10, now), 0);
    let mut request = Request::get("/1").body(()).unwrap();
    CallState::edit(request.extensions_mut(), |state| {
        state.set_destination("ledger")
    });
    assert!(
        of_request(&budgets, &request, now)
            .reserve(Ask::new(now))
            .is_some()
    );
}

#[test]
fn endpoints_have_budgets_of_their_own() {
    let name = |target: &Target<'_>| match target.uri.path().starts_with("/charges/") {
        true => "/charges/{id}",
        false => "other",
    };
    let (budgets, now) = (KeyedBudget::by_endpoint(name, three), Instant::now());
    assert_eq!(retries(&budgets, "http://a.example/charges/1", 10, now), 3);
    assert_eq!(retries(&budgets, "http://a.example/charges/2", 10, now), 0);
    assert_eq!(retries(&budgets, "http://a.example/refunds", 10, now), 3);
    assert_eq!(retries(&budgets, "http://b.example/charges/1", 10, now), 3);
}

#[test]
fn a_flood_of_destinations_stays_below_the_bound_of_the_total() {
    let ten = || RatioBudget::new(Ratio::percent(10).unwrap());
    let now = Instant::now();
    let flood = |budgets: &KeyedBudget| -> u32 {
        let of = |nth| retries(budgets, &format!("http://h{nth}.example/"), 1, now);
        (0..1_000).map(of).sum()
    };
    assert_eq!(
        flood(&KeyedBudget::by_destination(ten)),
        1_000,
        "as the docs say"
    );
    assert_eq!(
        flood(&KeyedBudget::by_destination(ten).with_total(ten())),
        100
    );
}

#[test]
fn what_only_one_of_two_budgets_allows_costs_the_other_nothing() {
    let now = Instant::now();
    let total = RateBudget::new(1, Duration::from_secs(60));
    let budgets = KeyedBudget::by_destination(three).with_total(total);
    let one = choose(&budgets, "http://a.example/", now);
    drop(one.reserve(Ask::new(now)).unwrap());
    let held = one.reserve(Ask::new(now)).unwrap();
    for _ in 0..10 {
        assert!(one.reserve(Ask::new(now)).is_none(), "the total is held");
    }
    drop(held);
    let sent = std::iter::from_fn(|| one.reserve(Ask::new(now)).map(|mut permit| permit.sent()));
    assert_eq!(
        sent.take(10).count(),
        1,
        "three of its own are left, one of the total"
    );
}

#[test]
fn a_refund_reaches_both_budgets_once() {
    let now = Instant::now();
    let of = |retries: u32| RefundBudget::new(retries).with_costs(1, 1);
    let budgets = KeyedBudget::by_destination(move || of(5)).with_total(of(7));
    let budget = choose(&budgets, "http://a.example/", now);
    for _ in 0..20 {
        let mut permit = budget.reserve(Ask::new(now)).unwrap();
        permit.sent();
        budget.on_outcome(Sending::Retry, Ending::Success, now);
        permit.succeeded();
    }
    let spend = |uri| retries(&budgets, uri, 20, now);
    assert_eq!(spend("http://a.example/"), 5);
    assert_eq!(spend("http://b.example/"), 2, "7 in all");
}

/// The bound of a key that is forgotten f times: r × calls + (f + 1).
#[test]
fn a_forgotten_key_gets_no_more_than_the_documented_bound() {
    let ten = || RatioBudget::new(Ratio::percent(10).unwrap());
    let one = NonZeroU32::MIN;
    let budgets = KeyedBudget::by_destination(ten).with_max_keys(one);
    let now = Instant::now();
    let (calls, forgotten) = (50, 4);
    let got: u32 = (0..=forgotten)
        .map(|_| {
            let got = retries(&budgets, "http://a.example/", calls, now);
            retries(&budgets, "http://b.example/", 1, now);
            got
        })
        .sum();
    let all = calls * (forgotten + 1);
    assert_eq!(got, 5 * (forgotten + 1));
    assert!(got <= all / 10 + forgotten + 1);
}

#[test]
fn a_known_destination_allocates_nothing() {
    let budgets = KeyedBudget::by_destination(RatioBudget::default);
    let request = Request::get("http://a.example:8443/x").body(()).unwrap();
    let now = Instant::now();
    let get = || drop(of_request(&budgets, &request, now));
    get();
    assert_eq!(allocation_counter::measure(get).count_total, 0);
}

#[test]
fn a_single_budget_is_chosen_for_everybody() {
    let (single, now): (Arc<dyn Budget>, _) = (Arc::new(three()), Instant::now());
    let request = Request::get("/").body(()).unwrap();
    let target = Target::of(
        request.method(),
        request.uri(),
        request.headers(),
        request.extensions(),
    );
    assert!(Arc::ptr_eq(&single.budget_for(target, now), &single));
    assert_eq!(spend_all(&three(), now), 3);
}
