//! The layers in their order, and what of them outlives a reload.

use std::sync::Arc;
use std::time::Duration;

use steadfast_admission::breaker::Breaker;
use steadfast_admission::breaker::BreakerConfig;
use steadfast_admission::bulkhead::Bulkhead;
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::cooldown::Cooldown;
use steadfast_admission::cooldown::CooldownConfig;
use steadfast_admission::{BreakerLayer, BulkheadLayer, CooldownLayer};
use steadfast_deadline::{
    AttemptTimeout, AttemptTimeoutLayer, BodyTimeout, CallLimit, CallLimitLayer, Propagate,
    PropagateLayer,
};
use steadfast_idempotency::client::{KeyLayer, WithKey};
use steadfast_retry::{Retry, RetryConfig};
use tower_layer::Layer;

use super::Policy;
use super::budgets::MadeBudgets;
use super::tools::Tools;

/// The layers, outer to inner.
pub(super) type Stack<S> = CallLimit<WithKey<Retry<Admitted<S>>>>;
/// What lets an attempt out.
pub(super) type Admitted<S> = Cooldown<Bulkhead<Breaker<Timed<S>>>>;
/// What gives it its time, and tells the next hop.
pub(super) type Timed<S> = AttemptTimeout<BodyTimeout<Propagate<S>>>;

/// A policy made into layers.
#[derive(Debug)]
pub(super) struct Layers {
    policy: Policy,
    limit: CallLimitLayer,
    key: KeyLayer,
    retry: Arc<RetryConfig>,
    propagate: PropagateLayer,
    pub(super) states: States,
}

/// What a reload keeps.
#[derive(Clone, Debug)]
pub(super) struct States {
    budgets: MadeBudgets,
    pub(super) cooldown: CooldownLayer,
    pub(super) bulkhead: BulkheadLayer,
    pub(super) breaker: BreakerLayer,
}

impl Layers {
    /// Layers with states of their own.
    pub(super) fn new(policy: Policy, tools: &Tools) -> Self {
        let (cooldown, bulkhead, breaker) = configs(&policy, tools);
        let states = States {
            budgets: policy.as_draft().budgets.make(),
            cooldown: CooldownLayer::new(cooldown),
            bulkhead: BulkheadLayer::new(bulkhead),
            breaker: BreakerLayer::new(breaker),
        };
        Self::with(policy, tools, states)
    }

    /// Layers of another policy over the same states. Budgets that the policy says otherwise start
    /// anew: what they counted is not about what it now says.
    pub(super) fn reloaded(&self, policy: Policy, tools: &Tools) -> Self {
        let (cooldown, bulkhead, breaker) = configs(&policy, tools);
        let budgets = &policy.as_draft().budgets;
        let states = States {
            budgets: match *budgets == self.policy.as_draft().budgets {
                true => self.states.budgets.clone(),
                false => budgets.make(),
            },
            cooldown: self.states.cooldown.reconfigured(cooldown),
            bulkhead: self.states.bulkhead.reconfigured(bulkhead),
            breaker: self.states.breaker.reconfigured(breaker),
        };
        Self::with(policy, tools, states)
    }

    fn with(policy: Policy, tools: &Tools, states: States) -> Self {
        let draft = policy.as_draft();
        let retry = states.budgets.clone().cap(draft.retry.clone());
        let mut retry = retry
            // The call limit is the only one, or what a call asks for in its place.
            .with_total_limit(Duration::MAX)
            .with_classify(tools.classify.clone())
            .with_random(tools.random.clone());
        if let Some(observer) = &tools.observer {
            retry = retry.with_observer(observer.clone());
        }
        Self {
            limit: CallLimitLayer::new(draft.call_limit),
            key: KeyLayer::new(draft.keys.clone()),
            retry: Arc::new(retry),
            propagate: PropagateLayer::new(draft.propagation.clone()),
            policy,
            states,
        }
    }

    pub(super) const fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(super) fn stack<S: Clone>(&self, inner: S) -> Stack<S> {
        let draft = self.policy.as_draft();
        let inner = draft.body.layer(self.propagate.layer(inner));
        let inner = AttemptTimeoutLayer::new(draft.attempt_timeout).layer(inner);
        let states = &self.states;
        let inner = states.bulkhead.layer(states.breaker.layer(inner));
        let inner = Retry::new(states.cooldown.layer(inner), self.retry.clone());
        self.limit.layer(self.key.layer(inner))
    }
}

/// The innermost service of a stack.
pub(super) fn innermost<S>(stack: &Stack<S>) -> &S {
    let attempted = stack.get_ref().get_ref().get_ref();
    let timed = attempted.get_ref().get_ref().get_ref();
    timed.get_ref().get_ref().get_ref()
}

fn configs(policy: &Policy, tools: &Tools) -> (CooldownConfig, BulkheadConfig, BreakerConfig) {
    let draft = policy.as_draft();
    let (cooldown, bulkhead) = (draft.cooldown.clone(), draft.bulkhead.clone());
    let breaker = draft.breaker.clone();
    let breaker = breaker
        .with_classify(tools.classify.clone())
        .with_random(tools.random.clone());
    match &tools.observer {
        None => (cooldown, bulkhead, breaker),
        Some(observer) => (
            cooldown.with_observer(observer.clone()),
            bulkhead.with_observer(observer.clone()),
            breaker.with_observer(observer.clone()),
        ),
    }
}
