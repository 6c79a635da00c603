use std::num::NonZeroU32;

use http::{HeaderName, Method, StatusCode};
use serde::Deserialize;
use steadfast_core::backoff::Multiplier;
use steadfast_core::decide::{Admission, HintRule, Strictness};
use steadfast_core::grpc::RetryableCodes;
use steadfast_core::{Allowance, Endpoint, Hints, OwnerMark, Preconditions, RouteRule, Safety};
use steadfast_retry::{RetryConfig, UpstreamOwner};

use crate::human::{Text, Time};

mod words;

use words::{Answer, Attempts, GrpcCode, NextHop, Source, Spread, Together, Upstream};

/// `[retry]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Retry {
    attempts: Option<Attempts>,
    backoff_base: Option<Time>,
    backoff_cap: Option<Time>,
    backoff_multiplier: Option<f64>,
    backoff_throttled: Option<Time>,
    jitter: Option<Spread>,
    max_hint: Option<Time>,
    hints: Option<Together>,
    hint_sources: Option<Vec<Source>>,
    grpc_codes: Option<Vec<Text<GrpcCode>>>,
    commit: Option<Answer>,
    strict: Option<bool>,
    wait_for_admission: Option<bool>,
    replay_limit: Option<usize>,
    keep_limit: Option<usize>,
    drain_limit: Option<usize>,
    owner_mark: Option<Text<HeaderName>>,
    next_hop: Option<NextHop>,
    upstream_owner: Option<Upstream>,
    rules: Vec<Rule>,
}

/// `[[retry.rules]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    destination: String,
    path: Option<String>,
    methods: Option<Vec<Text<Method>>>,
    safety: Option<Repeat>,
    #[serde(default)]
    retried_statuses: Vec<u16>,
    preconditions: Option<Known>,
    #[serde(default)]
    put_needs_precondition: bool,
    #[serde(default)]
    overload_is_unprocessed: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Repeat {
    Safe,
    Idempotent,
    Unprotected,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Known {
    GoogleCloudStorage,
}

impl Retry {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut retry: RetryConfig) -> Result<RetryConfig, String> {
        match self.attempts {
            None => {}
            Some(Attempts::So(attempts)) => retry = retry.with_max_attempts(attempts),
            Some(Attempts::Word(_)) => retry = retry.with_max_attempts(NonZeroU32::MAX),
        }
        let mut backoff = *retry.backoff();
        if let Some(Time(base)) = self.backoff_base {
            backoff = backoff.with_base(base);
        }
        if let Some(Time(cap)) = self.backoff_cap {
            backoff = backoff.with_cap(cap);
        }
        if let Some(factor) = self.backoff_multiplier {
            let factor = Multiplier::try_from(factor);
            let named = |error| format!("retry.backoff_multiplier: {error}");
            backoff = backoff.with_multiplier(factor.map_err(named)?);
        }
        if let Some(Time(base)) = self.backoff_throttled {
            backoff = backoff.with_throttled_base(base);
        }
        if let Some(spread) = self.jitter {
            backoff = backoff.with_jitter(spread.jitter());
        }
        retry = retry.with_backoff(backoff);
        if let Some(Time(limit)) = self.max_hint {
            retry = retry.with_max_hint(limit);
        }
        match self.hints {
            None => {}
            Some(Together::Add) => retry = retry.with_hint_rule(HintRule::Add),
            Some(Together::Max) => retry = retry.with_hint_rule(HintRule::Max),
        }
        if let Some(sources) = self.hint_sources {
            retry = retry.with_hints(sources.into_iter().fold(Hints::nothing(), Source::read));
        }
        if let Some(codes) = self.grpc_codes {
            let none = RetryableCodes::NONE;
            let codes = codes.into_iter().fold(none, |all, code| all.with(code.0.0));
            retry = retry.with_retryable_codes(codes);
        }
        if let Some(answer) = self.commit {
            retry = retry.with_commit(answer.commit());
        }
        match self.strict {
            None => {}
            Some(true) => retry = retry.with_strictness(Strictness::Strict),
            Some(false) => retry = retry.with_strictness(Strictness::Standard),
        }
        match self.wait_for_admission {
            None => {}
            Some(true) => retry = retry.with_admission(Admission::WaitOnce),
            Some(false) => retry = retry.with_admission(Admission::Stop),
        }
        if let Some(bytes) = self.replay_limit {
            retry = retry.with_replay_limit(bytes);
        }
        if let Some(bytes) = self.keep_limit {
            retry = retry.with_keep_limit(bytes);
        }
        if let Some(bytes) = self.drain_limit {
            retry = retry.with_drain_limit(bytes);
        }
        if let Some(Text(name)) = self.owner_mark {
            retry = retry.with_owner_mark(OwnerMark::new(name));
        }
        if let Some(NextHop { attempts, share }) = self.next_hop {
            retry = retry.with_next_hop(Allowance::new(attempts, share.0));
        }
        match self.upstream_owner {
            None => {}
            Some(Upstream::Split) => retry = retry.with_upstream_owner(UpstreamOwner::Split),
            Some(Upstream::PassThrough) => {
                retry = retry.with_upstream_owner(UpstreamOwner::PassThrough);
            }
            Some(Upstream::Ignore) => retry = retry.with_upstream_owner(UpstreamOwner::Ignore),
        }
        for (nth, rule) in self.rules.into_iter().enumerate() {
            let named = |error| format!("retry.rules, the {}. one: {error}", nth + 1);
            retry = retry.with_rule(rule.rule().map_err(named)?);
        }
        Ok(retry)
    }
}

impl Rule {
    fn rule(self) -> Result<RouteRule, String> {
        let path = self.path.as_deref().unwrap_or("/{*any}");
        let endpoint = Endpoint::new(&self.destination, path).map_err(|it| it.to_string())?;
        let mut rule = RouteRule::on(endpoint);
        if let Some(methods) = self.methods {
            rule = rule.for_methods(methods.into_iter().map(|Text(method)| method));
        }
        match self.safety {
            None => {}
            Some(Repeat::Safe) => rule = rule.with_safety(Safety::Safe),
            Some(Repeat::Idempotent) => rule = rule.with_safety(Safety::Idempotent),
            Some(Repeat::Unprotected) => rule = rule.with_safety(Safety::Unprotected),
        }
        for status in self.retried_statuses {
            rule = rule.with_retried_status(code(status)?);
        }
        if let Some(Known::GoogleCloudStorage) = self.preconditions {
            rule = rule.with_preconditions(Preconditions::google_cloud_storage());
        }
        if self.put_needs_precondition {
            rule = rule.with_put_needing_precondition();
        }
        if self.overload_is_unprocessed {
            rule = rule.with_overload_unprocessed();
        }
        Ok(rule)
    }
}

/// A status by its number.
pub(super) fn code(number: u16) -> Result<StatusCode, String> {
    StatusCode::from_u16(number)
        .map_err(|_| format!("{number} is not a status: it must lie between 100 and 999"))
}
