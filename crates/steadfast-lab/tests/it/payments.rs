//! Seed A's payments, and its variations.

use steadfast_lab::payments::{Outcome, Payments, Server};

fn run(server: Server) -> Outcome {
    Payments::default().run(server, 42)
}

#[test]
fn the_table_is_the_seeds_to_the_digit() {
    let table = Server::TABLE.map(|server| {
        let outcome = run(server);
        (
            outcome.charges,
            outcome.duplicates,
            outcome.unknown,
            outcome.uncharged,
        )
    });
    assert_eq!(
        table,
        [(2337, 337, 0, 0), (2057, 57, 0, 0), (2000, 0, 0, 0)]
    );
}

#[test]
fn a_client_that_was_told_nothing_charges_nobody_twice() {
    let outcome = run(Server::NoKeysDefault);
    assert_eq!((outcome.charges, outcome.duplicates), (2000, 0));
    assert!((250..350).contains(&outcome.unknown), "{outcome:?}");
}

#[test]
fn a_key_before_its_charge_answers_orders_that_were_never_charged() {
    let outcome = run(Server::KeyBeforeCharge);
    assert_eq!(outcome.duplicates, 0);
    assert!((30..90).contains(&outcome.uncharged), "{outcome:?}");
    assert_eq!(outcome.charges + outcome.uncharged, 2000);
}

#[test]
fn a_processing_state_charges_each_order_once() {
    let outcome = run(Server::Processing);
    assert_eq!(
        (outcome.charges, outcome.duplicates, outcome.uncharged),
        (2000, 0, 0)
    );
}

#[test]
fn an_attempt_that_still_runs_is_a_duplicate_unless_its_repeat_is_told() {
    let outcome = run(Server::Overlapping);
    assert!((60..140).contains(&outcome.duplicates), "{outcome:?}");
    let outcome = run(Server::InFlightSet);
    assert_eq!(
        (outcome.charges, outcome.duplicates, outcome.uncharged),
        (2000, 0, 0)
    );
    assert!((60..140).contains(&outcome.conflicts), "{outcome:?}");
}

#[test]
fn only_atomic_servers_are_exact_whatever_the_seed() {
    for seed in 0..20 {
        for server in [
            Server::KeyInSameTransaction,
            Server::Processing,
            Server::InFlightSet,
        ] {
            let outcome = Payments::default().run(server, seed);
            assert_eq!(
                (outcome.duplicates, outcome.uncharged),
                (0, 0),
                "{server:?} {seed}"
            );
        }
        assert!(
            Payments::default()
                .run(Server::KeyAfterCharge, seed)
                .duplicates
                > 0
        );
    }
}
