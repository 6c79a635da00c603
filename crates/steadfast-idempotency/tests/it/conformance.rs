//! The suite for stores lets a right store pass and names what a wrong one breaks.

use steadfast_idempotency::conformance::{Promise, assert_tx_store, broken_promises};

mod flawed;

use flawed::{Database, Flaw};

/// Each flaw, and the promise that it breaks above all.
const FLAWS: [(Flaw, Promise); 17] = [
    (Flaw::LosesHeaders, Promise::Records),
    (Flaw::JoinsFields, Promise::Identity),
    (Flaw::FoldsCase, Promise::Identity),
    (Flaw::ForgetsExpired, Promise::Expired),
    (Flaw::RecordsAtOnce, Promise::Together),
    (Flaw::WritesElsewhere, Promise::Together),
    (Flaw::WritesElsewhere, Promise::Nothing),
    (Flaw::HoldsWhatWasDropped, Promise::Droppable),
    (Flaw::UndoesNothing, Promise::AnswerOnly),
    (Flaw::LocksNothing, Promise::OneOwner),
    (Flaw::OverwritesRecords, Promise::Races),
    (Flaw::HasOneLock, Promise::OthersNotBusy),
    (Flaw::ReadsBehindWriters, Promise::FindWaitsForNobody),
    (Flaw::RecordsAfterCommit, Promise::Resolve),
    (Flaw::ResolvesTooEarly, Promise::Resolve),
    (Flaw::TrustsHandlers, Promise::EndedByHand),
    (Flaw::Talks, Promise::Discreet),
];

#[tokio::test(start_paused = true)]
async fn a_right_store_passes() {
    assert_tx_store(async || Database::default()).await;
}

#[tokio::test(start_paused = true)]
async fn each_flaw_is_caught_by_name() {
    for (flaw, promise) in FLAWS {
        let broken = broken_promises(async || Database::with(flaw)).await;
        assert!(
            broken.iter().any(|it| it.promise == promise),
            "{flaw:?} breaks `{promise}`, and this was seen: {broken:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn every_promise_is_broken_by_some_flaw() {
    for promise in Promise::ALL {
        assert!(
            FLAWS.iter().any(|(_, it)| *it == promise),
            "`{promise}` was never seen to fail"
        );
    }
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "- the answer can be kept without its effect: the effect after")]
async fn the_text_names_the_promise_and_how_it_was_seen() {
    assert_tx_store(async || Database::with(Flaw::UndoesNothing)).await;
}
