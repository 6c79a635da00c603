use std::panic::catch_unwind;
use std::sync::Mutex;

use super::*;
use crate::{CallContext, Event, Observe};

#[derive(Default)]
struct Log(Mutex<Vec<(LayerKind, LayerKind)>>);

impl Observe for Log {
    fn observe(&self, event: &Event<'_>) {
        let Event::LayersMisordered(pair) = event else {
            panic!("{event:?}");
        };
        self.0.lock().unwrap().push((pair.outer, pair.inner));
    }
}

impl Log {
    fn seen(&self) -> Vec<(LayerKind, LayerKind)> {
        self.0.lock().unwrap().clone()
    }
}

/// A call through these layers, each with an observer of its own; what the outermost was told.
fn pass(layers: &[LayerKind]) -> Vec<(LayerKind, LayerKind)> {
    fn down(layers: &[LayerKind]) {
        if let [first, rest @ ..] = layers {
            let _entered = enter(*first);
            down(rest);
        }
    }
    let log = Log::default();
    let entered = enter(layers[0]);
    down(&layers[1..]);
    entered.tell(Some(&log), &ToldOnce::new());
    log.seen()
}

#[test]
fn only_what_belongs_outside_can_be_misplaced_inside() {
    assert!(LayerKind::ALL.is_sorted());
    for pair in Misordered::all() {
        assert!(pair.inner < pair.outer, "{pair}");
        assert_eq!(Misordered::of(pair.inner, pair.outer), None, "{pair}");
        assert!(!pair.harm().is_empty());
        assert!(pair.to_string().len() < 120, "{pair}");
    }
    assert_eq!(Misordered::all().count(), 27);
}

#[test]
fn each_pair_that_does_harm_is_found_and_no_other() {
    for outer in LayerKind::ALL {
        for inner in LayerKind::ALL {
            let want: Vec<_> = Misordered::of(outer, inner)
                .map(|pair| (pair.outer, pair.inner))
                .into_iter()
                .collect();
            assert_eq!(pass(&[outer, inner]), want, "{inner} inside {outer}");
        }
    }
}

#[test]
fn the_right_order_has_no_wrong_pair_whatever_is_left_out() {
    for chosen in 1_u16..1 << LayerKind::ALL.len() {
        let layers: Vec<_> = LayerKind::ALL
            .into_iter()
            .filter(|layer| chosen & layer.bit() != 0)
            .collect();
        assert_eq!(pass(&layers), [], "{layers:?}");
    }
}

#[test]
fn of_several_wrong_pairs_the_outermost_inner_layer_is_named_first() {
    for (layers, want) in [
        (
            &[Propagate, AttemptTimeout, Retry, Key][..],
            (Propagate, AttemptTimeout),
        ),
        (&[Retry, Key, CallLimit], (Retry, Key)),
        (&[Breaker, Propagate, Retry], (Breaker, Retry)),
        // Harmless before: the first that does harm.
        (&[Key, CallLimit, Retry, Fallback], (CallLimit, Fallback)),
    ] {
        assert_eq!(pass(layers), [want], "{layers:?}");
    }
}

#[test]
fn a_whole_stack_inside_another_is_in_order() {
    let twice = [LayerKind::ALL, LayerKind::ALL].concat();
    assert_eq!(pass(&twice), []);
    assert_eq!(pass(&[CallLimit, Retry, Propagate, CallLimit, Retry]), []);
    // What is wrong within the second is found all the same.
    let second = [CallLimit, Retry, Propagate, CallLimit, Propagate, Retry];
    assert_eq!(pass(&second), [(Propagate, Retry)]);
}

#[test]
fn another_call_inside_a_call_has_an_order_of_its_own() {
    let log = Log::default();
    let told = ToldOnce::new();
    let retry = enter(Retry);
    assert_eq!(apart(|| pass(&[CallLimit, Key])), []);
    assert_eq!(CallContext::new().run(|| pass(&[CallLimit, Key])), []);
    drop(enter(Key));
    retry.tell(Some(&log), &told);
    assert_eq!(log.seen(), [(Retry, Key)], "and is forgotten after it");
}

#[test]
fn nothing_is_left_on_the_thread_by_a_call_or_a_panic() {
    assert_eq!(pass(&[Retry, Key]), [(Retry, Key)]);
    assert_eq!(pass(&[Key]), []);
    let unobserved = enter(Retry);
    drop(enter(Key));
    unobserved.tell(None, &ToldOnce::new());
    assert_eq!(pass(&[Propagate]), []);
    let panicked = catch_unwind(|| {
        let _retry = enter(Retry);
        apart(|| panic!("inside"))
    });
    assert!(panicked.is_err());
    assert_eq!(pass(&[Key]), []);
}

#[test]
fn the_innermost_observer_that_has_both_is_told_once() {
    let (outer_log, inner_log) = (Log::default(), Log::default());
    let (outer_told, inner_told) = (ToldOnce::new(), ToldOnce::new());
    for _call in 0..3 {
        let outer = enter(Fallback);
        let inner = enter(Breaker);
        let retry = enter(Retry);
        retry.tell(None, &ToldOnce::new());
        inner.tell(Some(&inner_log), &inner_told);
        outer.tell(Some(&outer_log), &outer_told);
    }
    assert_eq!(inner_log.seen(), [(Breaker, Retry)]);
    assert_eq!(outer_log.seen(), []);
}
