use proptest::prelude::*;
use steadfast_core::{Criticality, Ratio};

use super::super::shares::Shares;
use super::*;
use Criticality::{Critical, Normal, Sheddable};

fn machine(limit: u32, queue: u32, reserve: u32) -> Machine<u32> {
    let (places, queue) = shares(limit, queue, reserve);
    Machine::new(places, queue)
}

fn shares(limit: u32, queue: u32, reserve: u32) -> (Shares, Shares) {
    let reserve = Ratio::percent(reserve).unwrap();
    (Shares::of(limit, reserve), Shares::of(queue, reserve))
}

fn queued(machine: &mut Machine<u32>, criticality: Criticality, waiter: u32) -> Ticket {
    match machine.arrive(criticality, waiter) {
        Arrival::Queued(ticket) => ticket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn places_are_given_up_to_the_limit_and_then_the_queue_fills() {
    let mut machine = machine(2, 1, 0);
    assert!(machine.enter(Normal));
    assert_eq!(machine.arrive(Normal, 0), Arrival::Entered);
    assert!(!machine.enter(Critical));
    queued(&mut machine, Normal, 1);
    assert_eq!(machine.arrive(Critical, 2), Arrival::Full);
    assert_eq!((machine.in_flight(), machine.waiting()), (2, 1));
}

#[test]
fn who_matters_more_is_next_and_then_who_came_first() {
    let mut machine = machine(1, 100, 0);
    assert!(machine.enter(Sheddable));
    let order = [Sheddable, Normal, Critical, Sheddable, Critical, Normal];
    for (waiter, criticality) in (0..).zip(order) {
        queued(&mut machine, criticality, waiter);
    }
    for next in [2, 4, 1, 5, 0, 3] {
        assert_eq!(machine.release(), Some(next));
        assert!(!machine.enter(Critical), "the place was the waiter's");
    }
    assert_eq!(machine.release(), None);
    assert_eq!((machine.in_flight(), machine.waiting()), (0, 0));
}

#[test]
fn a_place_in_reserve_is_given_to_no_waiter_that_it_is_not_open_to() {
    let mut machine = machine(10, 10, 20);
    for _ in 0..8 {
        assert!(machine.enter(Normal));
    }
    assert!(machine.enter(Critical) && machine.enter(Critical));
    queued(&mut machine, Normal, 1);
    queued(&mut machine, Sheddable, 2);
    assert_eq!((machine.release(), machine.release()), (None, None));
    assert_eq!(machine.release(), Some(1));
    for _ in 0..4 {
        assert_eq!(machine.release(), None, "more than half is taken");
    }
    assert_eq!(machine.release(), Some(2));
    assert_eq!(machine.in_flight(), 4);
}

#[test]
fn the_queue_is_shared_as_the_places_are() {
    let mut machine = machine(1, 10, 20);
    assert!(machine.enter(Normal));
    for waiter in 0..4 {
        queued(&mut machine, Sheddable, waiter);
    }
    assert_eq!(machine.arrive(Sheddable, 4), Arrival::Full);
    for waiter in 4..8 {
        queued(&mut machine, Normal, waiter);
    }
    assert_eq!(machine.arrive(Normal, 8), Arrival::Full);
    queued(&mut machine, Critical, 8);
    queued(&mut machine, Critical, 9);
    assert_eq!(machine.arrive(Critical, 10), Arrival::Full);
}

#[test]
fn nobody_waits_for_what_is_never_open_to_them() {
    let mut machine = machine(10, 10, 100);
    assert_eq!(machine.arrive(Normal, 0), Arrival::Full);
    assert_eq!(machine.arrive(Sheddable, 0), Arrival::Full);
    assert_eq!(machine.arrive(Critical, 0), Arrival::Entered);
}

#[test]
fn a_ticket_that_got_its_place_is_no_longer_in_the_queue() {
    let mut machine = machine(1, 2, 0);
    assert!(machine.enter(Normal));
    let (first, second) = (
        queued(&mut machine, Normal, 1),
        queued(&mut machine, Normal, 2),
    );
    assert_eq!(machine.renew(first, 10), Some(1));
    assert_eq!(machine.release(), Some(10));
    assert_eq!(machine.renew(first, 11), None);
    assert_eq!(machine.withdraw(first), None);
    assert_eq!(
        machine.release(),
        Some(2),
        "what it gives back is passed on"
    );
    assert_eq!(machine.withdraw(second), None);
}

#[test]
fn other_shares_take_no_place_away_and_give_those_there_are_at_once() {
    let mut machine = machine(2, 5, 0);
    assert!(machine.enter(Normal) && machine.enter(Normal));
    for waiter in 0..4 {
        queued(&mut machine, Normal, waiter);
    }
    let (places, queue) = shares(1, 0, 0);
    assert_eq!(machine.set_shares(places, queue), []);
    assert_eq!((machine.in_flight(), machine.waiting()), (2, 4));
    assert_eq!(machine.arrive(Critical, 9), Arrival::Full);
    assert_eq!(machine.release(), None, "one too many is gone");
    assert_eq!(machine.release(), Some(0));
    let (places, queue) = shares(3, 0, 0);
    assert_eq!(machine.set_shares(places, queue), [1, 2]);
    assert_eq!((machine.in_flight(), machine.waiting()), (3, 1));
}

/// What happens to a machine; numbers choose among those that it can happen to.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Enter(Criticality),
    Arrive(Criticality),
    End,
    Leave(usize),
    Reload(u32, u32, u32),
}

fn happens() -> impl Strategy<Value = Happens> {
    let who = || prop::sample::select(vec![Sheddable, Normal, Critical]);
    prop_oneof![
        1 => who().prop_map(Happens::Enter),
        3 => who().prop_map(Happens::Arrive),
        2 => Just(Happens::End),
        1 => any::<usize>().prop_map(Happens::Leave),
        1 => (1_u32..6, 0_u32..6, 0_u32..=100).prop_map(|(a, b, c)| Happens::Reload(a, b, c)),
    ]
}

/// The same in the simplest words: all waiters in a list, searched anew after each event.
#[derive(Debug)]
struct Model {
    places: Shares,
    queue: Shares,
    in_flight: u32,
    waiting: Vec<(Criticality, u32)>,
}

impl Model {
    fn has_place(&self, who: Criticality) -> bool {
        self.in_flight < self.places.open_to(who)
    }

    fn has_room_to_wait(&self, who: Criticality) -> bool {
        self.waiting.len() < self.queue.open_to(who) as usize
    }

    fn give_places(&mut self) -> Vec<u32> {
        let mut given = Vec::new();
        loop {
            let best = self.waiting.iter().filter(|(who, _)| self.has_place(*who));
            let best = best.max_by_key(|(who, waiter)| (*who, Reverse(*waiter)));
            let Some(&(_, waiter)) = best else {
                return given;
            };
            self.waiting.retain(|(_, it)| *it != waiter);
            self.in_flight += 1;
            given.push(waiter);
        }
    }
}

proptest! {
    #[test]
    fn it_does_what_the_simplest_model_does(
        limit in 1_u32..6,
        queue in 0_u32..6,
        reserve in 0_u32..=100,
        events in prop::collection::vec(happens(), 0..200),
    ) {
        let mut machine = machine(limit, queue, reserve);
        let (places, queue) = (machine.places, machine.queue);
        let mut model = Model { places, queue, in_flight: 0, waiting: Vec::new() };
        // Every ticket that its owner has not given up, and whether it has a place.
        let mut tickets: Vec<(Ticket, u32, bool)> = Vec::new();
        let mut entered = 0_u32;
        let mut waiter = 0;
        for event in events {
            let mut woken = Vec::new();
            match event {
                Happens::Enter(who) => {
                    let enters = model.has_place(who);
                    prop_assert_eq!(machine.enter(who), enters);
                    model.in_flight += u32::from(enters);
                    entered += u32::from(enters);
                }
                Happens::Arrive(who) => {
                    waiter += 1;
                    let waits = model.has_room_to_wait(who);
                    match machine.arrive(who, waiter) {
                        Arrival::Entered => {
                            prop_assert!(model.has_place(who));
                            model.in_flight += 1;
                            entered += 1;
                        }
                        Arrival::Queued(ticket) => {
                            prop_assert!(!model.has_place(who) && waits);
                            model.waiting.push((who, waiter));
                            tickets.push((ticket, waiter, false));
                        }
                        Arrival::Full => prop_assert!(!model.has_place(who) && !waits),
                    }
                }
                Happens::End if entered > 0 => {
                    entered -= 1;
                    model.in_flight -= 1;
                    woken.extend(machine.release());
                }
                Happens::Leave(nth) if !tickets.is_empty() => {
                    let (ticket, it, has_place) = tickets.swap_remove(nth % tickets.len());
                    match machine.withdraw(ticket) {
                        Some(waiter) => {
                            prop_assert!(!has_place);
                            prop_assert_eq!(waiter, it);
                            model.waiting.retain(|(_, waiter)| *waiter != it);
                        }
                        None => {
                            prop_assert!(has_place);
                            model.in_flight -= 1;
                            woken.extend(machine.release());
                        }
                    }
                }
                Happens::Reload(limit, queue, reserve) => {
                    (model.places, model.queue) = shares(limit, queue, reserve);
                    woken = machine.set_shares(model.places, model.queue);
                }
                Happens::End | Happens::Leave(_) => {}
            }
            for (_, it, has_place) in &mut tickets {
                *has_place |= woken.contains(it);
            }
            prop_assert_eq!(woken, model.give_places());
            prop_assert_eq!(machine.in_flight(), model.in_flight);
            prop_assert_eq!(machine.waiting(), model.waiting.len());
            let held = tickets.iter().filter(|(_, _, has_place)| *has_place).count();
            prop_assert_eq!(machine.in_flight() as usize, entered as usize + held);
        }
    }
}
