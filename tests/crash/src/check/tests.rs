use super::*;
use crate::order::Order;

const KEY: &str = "order-1";

fn reply(status: u16, run: &str, receipt: Option<i64>, replayed: bool) -> Reply {
    let run = run.to_owned();
    Reply {
        status,
        replayed,
        location: receipt.map(|receipt| format!("/charges/{receipt}")),
        body: serde_json::to_string(&Receipt { run, receipt }).unwrap(),
    }
}

fn intent(phase: Phase) -> Event {
    let order = Order {
        account: 0,
        cents: 5,
        declined: false,
    };
    let key = KEY.to_owned();
    Event::Intent { key, order, phase }
}

fn told(phase: Phase, reply: Reply) -> [Event; 2] {
    let key = KEY.to_owned();
    [intent(phase), Event::Answer { key, phase, reply }]
}

fn row(receipt: i64, run: &str) -> Charge {
    Charge {
        receipt,
        key: KEY.to_owned(),
        account: 0,
        cents: 5,
        run: run.to_owned(),
        fate: "kept".to_owned(),
    }
}

fn stored(reply: &Reply) -> Stored {
    Stored {
        key: KEY.to_owned(),
        status: reply.status,
        location: reply.location.clone(),
        body: reply.body.clone(),
    }
}

/// A key that was charged once, and whose clients all heard of it.
fn sound() -> (Vec<Event>, Snapshot) {
    let first = reply(201, "a", Some(1), false);
    let again = reply(201, "a", Some(1), true);
    let books = Snapshot {
        charges: vec![row(1, "a")],
        records: vec![stored(&first)],
        balances: vec![(0, -5)],
    };
    let events = [told(Phase::Storm, first), told(Phase::Quiet, again)].concat();
    (events, books)
}

fn kinds(events: &[Event], books: &Snapshot) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = check(events, books)
        .violations
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

#[test]
fn a_sound_history_has_no_violation() {
    let (events, books) = sound();
    assert_eq!(kinds(&events, &books), []);
    let counts = check(&events, &books).counts;
    assert_eq!(
        (counts.keys, counts.ran, counts.replayed, counts.unknown),
        (1, 1, 1, 0)
    );
}

#[test]
fn a_second_row_is_a_duplicate() {
    let (events, mut books) = sound();
    books.charges.push(row(2, "b"));
    books.balances = vec![(0, -10)];
    assert_eq!(kinds(&events, &books), [Kind::DuplicateEffect]);
}

#[test]
fn an_acknowledged_row_that_is_gone_is_lost() {
    let (events, mut books) = sound();
    books.charges.clear();
    books.balances = vec![(0, 0)];
    let expected = [Kind::LostEffect, Kind::EffectWithoutRecord];
    assert_eq!(kinds(&events, &books), expected);
}

#[test]
fn an_effect_without_its_record_and_a_changed_record_are_found() {
    let (events, mut books) = sound();
    books.records.clear();
    let expected = [Kind::EffectWithoutRecord, Kind::StoredDiffers];
    assert_eq!(kinds(&events, &books), expected);
    books.records = vec![stored(&reply(201, "a", Some(7), false))];
    assert_eq!(kinds(&events, &books), [Kind::StoredDiffers]);
}

#[test]
fn answers_must_be_equal_byte_for_byte() {
    let (mut events, books) = sound();
    let mut other = reply(201, "a", Some(1), true);
    other.body.push(' ');
    events.extend(told(Phase::Quiet, other));
    let expected = [Kind::AnswersDiffer, Kind::StoredDiffers];
    assert_eq!(kinds(&events, &books), expected);
}

#[test]
fn a_row_of_a_failed_execution_is_found() {
    for fate in ["declined", "failed", "panicked"] {
        let (events, mut books) = sound();
        books.charges[0].fate = fate.to_owned();
        assert_eq!(kinds(&events, &books), [Kind::RefusedEffect], "{fate}");
    }
}

#[test]
fn a_key_without_an_answer_in_the_calm_never_ends() {
    let events = [
        intent(Phase::Quiet),
        Event::Answer {
            key: KEY.to_owned(),
            phase: Phase::Quiet,
            reply: reply(409, "", None, false),
        },
    ];
    assert_eq!(kinds(&events, &Snapshot::default()), [Kind::NeverEnds]);
}

#[test]
fn another_payload_must_be_refused() {
    let (mut events, books) = sound();
    events.extend(told(Phase::Altered, reply(422, "", None, false)));
    events.extend(told(Phase::Altered, reply(503, "", None, false)));
    assert_eq!(kinds(&events, &books), []);
    events.extend(told(Phase::Altered, reply(201, "a", Some(1), true)));
    assert_eq!(kinds(&events, &books), [Kind::Disclosed]);
}

#[test]
fn an_honest_client_is_never_told_of_a_reused_key() {
    let (mut events, books) = sound();
    events.extend(told(Phase::Storm, reply(422, "", None, false)));
    assert_eq!(kinds(&events, &books), [Kind::Unexpected]);
}

#[test]
fn money_is_conserved() {
    let (events, mut books) = sound();
    books.balances = vec![(0, -10)];
    assert_eq!(kinds(&events, &books), [Kind::Unbalanced]);
}

#[test]
fn an_unknown_outcome_is_counted_and_is_no_violation() {
    let (_, books) = sound();
    let lost = Event::Lost {
        key: KEY.to_owned(),
        phase: Phase::Storm,
    };
    let quiet = told(Phase::Quiet, reply(201, "a", Some(1), true));
    let events = [vec![intent(Phase::Storm), lost], quiet.to_vec()].concat();
    assert_eq!(kinds(&events, &books), []);
    let counts = check(&events, &books).counts;
    assert_eq!((counts.unknown, counts.unknown_executed), (1, 1));
}
