use std::num::NonZeroU32;

use serde::Deserialize;
use steadfast_admission::breaker::{BreakerConfig, Window};

use crate::human::{Acts, Share, Time};

/// `[breaker]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Breaker {
    mode: Option<Acts>,
    window: Option<Time>,
    window_calls: Option<NonZeroU32>,
    minimum: Option<NonZeroU32>,
    failure_rate: Option<ShareOrOff>,
    consecutive_failures: Option<NonZeroU32>,
    slow_call: Option<Time>,
    slow_rate: Option<Share>,
    open_base: Option<Time>,
    open_cap: Option<Time>,
    probes: Option<NonZeroU32>,
    probe_lease: Option<Time>,
    max_keys: Option<NonZeroU32>,
    idle: Option<Time>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "a share such as \"50%\", or \"off\"")]
enum ShareOrOff {
    Off(Off),
    Share(Share),
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Off {
    #[serde(rename = "off")]
    Off,
}

impl Breaker {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut breaker: BreakerConfig) -> Result<BreakerConfig, String> {
        let window = self.window(breaker.window())?;
        breaker = breaker.with_window(window);
        if let Some(mode) = self.mode {
            breaker = breaker.with_mode(mode.into());
        }
        match self.failure_rate {
            None => {}
            Some(ShareOrOff::Share(Share(rate))) => breaker = breaker.with_failure_rate(rate),
            Some(ShareOrOff::Off(_)) => breaker = breaker.without_failure_rate(),
        }
        if let Some(failures) = self.consecutive_failures {
            breaker = breaker.with_consecutive_failures(failures);
        }
        match (self.slow_call, self.slow_rate) {
            (None, None) => {}
            (Some(Time(longer_than)), Some(Share(rate))) => {
                breaker = breaker.with_slow_calls(longer_than, rate);
            }
            (Some(_), None) => return Err("breaker.slow_call needs breaker.slow_rate".to_owned()),
            (None, Some(_)) => return Err("breaker.slow_rate needs breaker.slow_call".to_owned()),
        }
        let mut open = *breaker.open();
        if let Some(Time(base)) = self.open_base {
            open = open.with_base(base);
        }
        if let Some(Time(cap)) = self.open_cap {
            open = open.with_cap(cap);
        }
        breaker = breaker.with_open(open);
        if let Some(probes) = self.probes {
            breaker = breaker.with_probes(probes);
        }
        if let Some(Time(lease)) = self.probe_lease {
            breaker = breaker.with_probe_lease(lease);
        }
        if let Some(keys) = self.max_keys {
            breaker = breaker.with_max_keys(keys);
        }
        if let Some(Time(idle)) = self.idle {
            breaker = breaker.with_idle(idle);
        }
        Ok(breaker)
    }

    fn window(&self, known: Window) -> Result<Window, String> {
        let window = match (self.window, self.window_calls) {
            (None, None) => known,
            (Some(Time(time)), None) => Window::time(time),
            (None, Some(calls)) => {
                Window::calls(calls).map_err(|error| format!("breaker.window_calls: {error}"))?
            }
            (Some(_), Some(_)) => {
                let rule = "breaker.window and breaker.window_calls exclude each other";
                return Err(rule.to_owned());
            }
        };
        match self.minimum {
            None => Ok(window),
            Some(minimum) => window
                .with_minimum(minimum)
                .map_err(|error| format!("breaker.minimum: {error}")),
        }
    }
}
