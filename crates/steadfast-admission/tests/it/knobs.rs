//! What a config was told can be read off it.

use std::num::NonZeroU32;

use bytes::Bytes;
use http::{Response, StatusCode};
use steadfast_admission::arrivals::ArrivalsConfig;
use steadfast_admission::breaker::{BreakerConfig, Window};
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::cooldown::CooldownConfig;
use steadfast_admission::fallback::Fell;
use steadfast_admission::{
    ArrivalsLayer, BreakerLayer, BulkheadLayer, CooldownLayer, FallbackLayer, Mode, Scope,
};
use steadfast_core::{
    AttemptHeader, Backoff, DefaultClassify, HintSource, Hints, Random, Ratio, Reason,
};

use crate::MS;

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

#[test]
fn a_breakers_config_shows_every_knob() {
    let rate = Ratio::from_millionths(7);
    let open = Backoff::default().with_base(3 * MS);
    let window = Window::calls(count(9)).unwrap();
    let config = BreakerConfig::new()
        .with_window(window)
        .with_failure_rate(rate)
        .with_consecutive_failures(count(3))
        .with_slow_calls(5 * MS, rate)
        .with_open(open)
        .with_hints(Hints::nothing().with(HintSource::RateLimit))
        .with_probes(count(2))
        .with_probe_lease(7 * MS)
        .with_classify(DefaultClassify)
        .with_random(Random::seeded(1))
        .with_scope(Scope::Layer)
        .with_max_keys(count(4))
        .with_idle(8 * MS)
        .with_mode(Mode::Shadow)
        .with_observer(());
    let layer = BreakerLayer::new(config);
    let config = layer.config();
    assert_eq!(config.window(), window);
    assert_eq!(config.failure_rate(), Some(rate));
    assert_eq!(config.consecutive_failures(), Some(count(3)));
    assert_eq!(config.slow_calls(), Some((5 * MS, rate)));
    assert_eq!(config.open(), &open);
    assert!(config.hints().unwrap().reads(HintSource::RateLimit));
    assert_eq!(config.probes(), count(2));
    assert_eq!(config.probe_lease(), 7 * MS);
    assert_eq!(config.scope(), Scope::Layer);
    assert_eq!((config.max_keys(), config.idle()), (count(4), 8 * MS));
    assert_eq!(config.mode(), Mode::Shadow);
    assert!(config.observer().is_some());
    let _ = (config.classify(), config.random());
    let without = config.clone().without_failure_rate();
    assert_eq!(without.failure_rate(), None);
    let default = BreakerConfig::default();
    assert!(default.observer().is_none() && default.hints().is_none());
}

#[test]
fn a_bulkheads_config_shows_every_knob() {
    let reserve = Ratio::from_millionths(7);
    let config = BulkheadConfig::new()
        .with_limit(count(2))
        .with_max_wait(3 * MS)
        .with_max_queue(5)
        .with_reserve(reserve)
        .with_scope(Scope::Layer)
        .with_max_keys(count(4))
        .with_idle(8 * MS)
        .with_mode(Mode::Shadow)
        .with_observer(());
    let layer = BulkheadLayer::new(config);
    let config = layer.config();
    assert_eq!(config.limit(), count(2));
    assert_eq!((config.max_wait(), config.max_queue()), (3 * MS, 5));
    assert_eq!(config.reserve(), reserve);
    assert_eq!(config.scope(), Scope::Layer);
    assert_eq!((config.max_keys(), config.idle()), (count(4), 8 * MS));
    assert_eq!(config.mode(), Mode::Shadow);
    assert!(config.observer().is_some());
    assert!(BulkheadConfig::new().observer().is_none());
}

#[test]
fn a_cooldowns_config_shows_every_knob() {
    let config = CooldownConfig::new()
        .with_statuses([StatusCode::BAD_GATEWAY])
        .with_max(3 * MS)
        .with_hints(Hints::nothing().with(HintSource::RateLimit))
        .with_scope(Scope::Layer)
        .with_max_keys(count(4))
        .with_mode(Mode::Shadow)
        .with_observer(());
    let layer = CooldownLayer::new(config);
    let config = layer.config();
    assert_eq!(config.statuses(), [StatusCode::BAD_GATEWAY]);
    assert_eq!(config.max(), 3 * MS);
    assert!(config.hints().reads(HintSource::RateLimit));
    assert_eq!(config.scope(), Scope::Layer);
    assert_eq!(config.max_keys(), count(4));
    assert_eq!(config.mode(), Mode::Shadow);
    assert!(config.observer().is_some());
    assert!(CooldownConfig::new().observer().is_none());
}

#[test]
fn the_config_of_arrivals_shows_every_knob() {
    let share = Ratio::from_millionths(7);
    let mark = AttemptHeader::ALL[0];
    let config = ArrivalsConfig::new()
        .with_share(share)
        .with_window(3 * MS)
        .with_minimum(count(2))
        .with_marks([mark])
        .with_mode(Mode::Shadow)
        .with_observer(());
    let layer = ArrivalsLayer::new(config);
    let config = layer.config();
    assert_eq!(config.share(), share);
    assert_eq!((config.window(), config.minimum()), (3 * MS, count(2)));
    assert_eq!(config.marks(), [mark]);
    assert_eq!(config.mode(), Mode::Shadow);
    assert!(config.observer().is_some());
    assert!(ArrivalsConfig::new().observer().is_none());
}

#[test]
fn a_fallback_shows_what_it_is_for_and_who_is_told() {
    let layer = FallbackLayer::new([Reason::CircuitOpen], |_: &Fell<'_>| {
        Response::new(Bytes::new())
    });
    assert!(layer.is_for(Reason::CircuitOpen) && !layer.is_for(Reason::Cooldown));
    assert!(layer.observer().is_none() && !layer.replaces_answers());
    let layer = layer.with_answers().with_observer(());
    assert!(layer.observer().is_some() && layer.replaces_answers());
}
