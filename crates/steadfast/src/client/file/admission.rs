use std::num::NonZeroU32;

use serde::Deserialize;
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::cooldown::CooldownConfig;

use super::retry::code;
use crate::human::{Acts, Share, Time};

/// `[cooldown]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Cooldown {
    mode: Option<Acts>,
    statuses: Option<Vec<u16>>,
    max: Option<Time>,
    max_keys: Option<NonZeroU32>,
}

impl Cooldown {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut cooldown: CooldownConfig) -> Result<CooldownConfig, String> {
        if let Some(mode) = self.mode {
            cooldown = cooldown.with_mode(mode.into());
        }
        if let Some(statuses) = self.statuses {
            let named = |error| format!("cooldown.statuses: {error}");
            let statuses: Result<Vec<_>, _> = statuses.into_iter().map(code).collect();
            cooldown = cooldown.with_statuses(statuses.map_err(named)?);
        }
        if let Some(Time(max)) = self.max {
            cooldown = cooldown.with_max(max);
        }
        if let Some(keys) = self.max_keys {
            cooldown = cooldown.with_max_keys(keys);
        }
        Ok(cooldown)
    }
}

/// `[bulkhead]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Bulkhead {
    mode: Option<Acts>,
    limit: Option<NonZeroU32>,
    max_wait: Option<Time>,
    max_queue: Option<u32>,
    reserve: Option<Share>,
    max_keys: Option<NonZeroU32>,
    idle: Option<Time>,
}

impl Bulkhead {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut bulkhead: BulkheadConfig) -> BulkheadConfig {
        if let Some(mode) = self.mode {
            bulkhead = bulkhead.with_mode(mode.into());
        }
        if let Some(limit) = self.limit {
            bulkhead = bulkhead.with_limit(limit);
        }
        if let Some(Time(wait)) = self.max_wait {
            bulkhead = bulkhead.with_max_wait(wait);
        }
        if let Some(calls) = self.max_queue {
            bulkhead = bulkhead.with_max_queue(calls);
        }
        if let Some(Share(reserve)) = self.reserve {
            bulkhead = bulkhead.with_reserve(reserve);
        }
        if let Some(Time(idle)) = self.idle {
            bulkhead = bulkhead.with_idle(idle);
        }
        if let Some(keys) = self.max_keys {
            bulkhead = bulkhead.with_max_keys(keys);
        }
        bulkhead
    }
}
