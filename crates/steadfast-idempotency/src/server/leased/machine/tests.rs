use proptest::prelude::*;

use http::StatusCode;

use super::*;
use crate::server::answer::Answer;

mod model;

const LEASE: Duration = Duration::from_secs(10);
const RETENTION: Duration = Duration::from_secs(1000);

fn terms() -> Terms {
    Terms::new(LEASE, RETENTION)
}

fn fingerprint(of: u8) -> Fingerprint {
    Fingerprint::new(1, [of; 32])
}

fn record(of: u8, body: u64) -> Record {
    let answer = Answer::new(StatusCode::OK, body.to_string());
    Record::new(fingerprint(of), answer)
}

fn ask(of: u8, on_expired: OnExpired) -> Claim {
    Claim::new(fingerprint(of), terms(), on_expired)
}

/// One operation in a store that counts fences as a real one does.
#[derive(Default)]
struct Store {
    kept: Option<Kept>,
    fences: u64,
}

impl Store {
    fn claim(&mut self, now: u64, asked: &Claim) -> Claimed {
        let next = Fence::new(self.fences + 1);
        let now = Duration::from_secs(now);
        let (kept, claimed) = claim(self.kept.take(), now, asked, next);
        self.kept = kept;
        if let Claimed::Held { fence, .. } = &claimed {
            self.fences = self.fences.max(fence.get());
        }
        claimed
    }

    fn say(&mut self, now: u64, fence: u64, word: Word) -> Fenced {
        let now = Duration::from_secs(now);
        let (kept, fenced) = say(self.kept.take(), now, Fence::new(fence), word, terms());
        self.kept = kept;
        fenced
    }
}

fn held(fence: u64, attempt: u32) -> Claimed {
    let fence = Fence::new(fence);
    Claimed::Held { fence, attempt }
}

fn left(seconds: u64) -> Claimed {
    let left = Duration::from_secs(seconds);
    Claimed::Running { left }
}

fn words() -> [Word; 4] {
    let done = Word::Complete(record(1, 0));
    [Word::Renew, done, Word::Release, Word::Abandon]
}

#[test]
fn a_lease_that_ended_is_taken_over_once_or_becomes_unknown() {
    let mut store = Store::default();
    assert_eq!(store.claim(0, &ask(1, OnExpired::TakeOver)), held(1, 1));
    assert_eq!(store.claim(5, &ask(1, OnExpired::TakeOver)), left(5));
    assert_eq!(store.claim(10, &ask(1, OnExpired::TakeOver)), held(2, 2));
    assert_eq!(store.claim(10, &ask(1, OnExpired::TakeOver)), left(10));
    // The one that lost it can say nothing any more.
    for word in words() {
        assert_eq!(store.say(11, 1, word), Fenced::Rejected);
    }
    let unknown = Claimed::Unknown {
        fence: Fence::new(2),
        attempt: 2,
    };
    for now in [20, 900] {
        assert_eq!(store.claim(now, &ask(1, OnExpired::Unknown)), unknown);
    }
    // Somebody who may run it twice may do so now.
    assert_eq!(store.claim(901, &ask(1, OnExpired::TakeOver)), held(3, 3));
}

#[test]
fn the_word_of_a_late_owner_counts_while_nobody_else_has_claimed() {
    let mut store = Store::default();
    store.claim(0, &ask(1, OnExpired::Unknown));
    store.claim(50, &ask(1, OnExpired::Unknown));
    assert_eq!(store.say(51, 1, Word::Renew), Fenced::Rejected);
    let done = Word::Complete(record(1, 7));
    assert_eq!(store.say(60, 1, done), Fenced::Accepted);
    let done = store.claim(61, &ask(1, OnExpired::Unknown));
    assert_eq!(done, Claimed::Done(record(1, 7)));

    let mut store = Store::default();
    store.claim(0, &ask(1, OnExpired::TakeOver));
    assert_eq!(store.say(50, 1, Word::Renew), Fenced::Accepted);
    assert_eq!(store.claim(55, &ask(1, OnExpired::TakeOver)), left(5));
}

#[test]
fn fences_grow_over_a_release() {
    let mut store = Store::default();
    store.claim(0, &ask(1, OnExpired::Unknown));
    assert_eq!(store.say(1, 1, Word::Release), Fenced::Accepted);
    assert_eq!(store.claim(2, &ask(2, OnExpired::Unknown)), held(2, 2));
    for word in words() {
        assert_eq!(store.say(3, 1, word), Fenced::Rejected);
    }
}

#[test]
fn another_request_neither_runs_nor_changes_anything() {
    let claims = [
        (0, None),
        (5, None),
        (50, None),
        (51, Some(Word::Abandon)),
        (52, Some(Word::Complete(record(1, 0)))),
    ];
    let mut store = Store::default();
    store.claim(0, &ask(1, OnExpired::TakeOver));
    for (now, word) in claims {
        if let Some(word) = word {
            assert_eq!(store.say(now, 1, word), Fenced::Accepted);
        }
        let before = store.kept.clone();
        for policy in [OnExpired::TakeOver, OnExpired::Unknown] {
            assert_eq!(store.claim(now, &ask(2, policy)), Claimed::Reused);
        }
        assert_eq!(store.kept, before);
    }
}

#[test]
fn an_answer_that_was_lost_is_given_again() {
    let mut store = Store::default();
    let claim = ask(1, OnExpired::Unknown);
    assert_eq!(store.claim(0, &claim), held(1, 1));
    assert_eq!(store.claim(4, &claim), held(1, 1));
    assert_eq!(store.claim(6, &ask(1, OnExpired::Unknown)), left(8));
    for _ in 0..2 {
        let done = Word::Complete(record(1, 1));
        assert_eq!(store.say(7, 1, done), Fenced::Accepted);
    }
    // The first answer stays.
    store.say(8, 1, Word::Complete(record(1, 2)));
    let done = store.claim(9, &ask(1, OnExpired::Unknown));
    assert_eq!(done, Claimed::Done(record(1, 1)));
    assert_eq!(store.say(9, 1, Word::Release), Fenced::Rejected);
    assert_eq!(store.say(9, 1, Word::Abandon), Fenced::Rejected);
}

#[test]
fn a_record_outlives_its_lease_by_the_retention_in_every_phase() {
    let lifetime = terms().lifetime();
    let mut store = Store::default();
    store.claim(3, &ask(1, OnExpired::Unknown));
    let expires = |store: &Store| store.kept.as_ref().unwrap().expires;
    assert_eq!(expires(&store), Duration::from_secs(3) + lifetime);
    for (now, word) in [(4, Word::Renew), (5, Word::Abandon), (6, Word::Release)] {
        store.say(now, 1, word);
        assert_eq!(expires(&store), Duration::from_secs(now) + lifetime);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Claim { of: u8, on_expired: OnExpired },
    ClaimAgain,
    Say { back: u64, word: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let policy = prop_oneof![Just(OnExpired::TakeOver), Just(OnExpired::Unknown)];
    let step = prop_oneof![
        (0_u64..15).prop_map(Step::Wait),
        (0_u8..2, policy).prop_map(|(of, on_expired)| Step::Claim { of, on_expired }),
        Just(Step::ClaimAgain),
        (0_u64..4, 0_usize..4).prop_map(|(back, word)| Step::Say { back, word }),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #[test]
    fn every_history_keeps_the_promises_of_leases(steps in steps()) {
        let mut store = Store::default();
        let mut model = model::Model::default();
        let mut now = 0;
        let mut last = ask(0, OnExpired::TakeOver);
        for step in steps {
            match step {
                Step::Wait(seconds) => now += seconds,
                Step::Claim { of, on_expired } => {
                    last = ask(of, on_expired);
                    model.claimed(now, &last, store.claim(now, &last));
                }
                Step::ClaimAgain => model.claimed(now, &last, store.claim(now, &last)),
                Step::Say { back, word } => {
                    // Counted back from the next fence, so that most words are heard.
                    let fence = (store.fences + 1).saturating_sub(back);
                    let word = match word {
                        1 => Word::Complete(record(model.request(), fence)),
                        other => words()[other].clone(),
                    };
                    let fenced = store.say(now, fence, word.clone());
                    model.heard(now, fence, &word, fenced);
                }
            }
        }
    }
}
