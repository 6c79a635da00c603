//! What is known of a call before anything is sent.

use http::{Extensions, request};
use steadfast_core::budget::Target;
use steadfast_core::decide::Admission;
use steadfast_core::{
    Attempt, CallContext, CallState, Deadline, Event, OwnerMark, RouteRule, Safety, is_owned,
};

use super::mark;
use super::reading::safety;
use super::telling::subject;
use crate::attempts::Opening;
use crate::template::HeadView;
use crate::upstream::Ownership;
use crate::{RetryConfig, RetryOverrides};

/// A call that is begun and has sent nothing yet.
///
/// Apart from [`Call`](super::Call), which is made once and where it stays: a copy of that would
/// cost every call.
pub(crate) struct Opened {
    pub(super) opening: Opening,
    /// What a repeat may do, where it was found out already.
    pub(super) safety: Option<Safety>,
    pub(super) rule: Option<u32>,
    may_repeat: bool,
}

impl Opened {
    /// Begins a call with this head.
    #[inline(always)]
    pub(crate) fn begin(config: &RetryConfig, head: &request::Parts) -> Self {
        let served = CallContext::current_terms();
        let unowned = !is_owned() && served.2.is_none();
        let says_nothing = head.extensions.is_empty() && unowned;
        let safe = head.method.is_safe();
        let may_repeat = |safety| config.terms.may_repeat(|| safety);
        if says_nothing && config.is_same_for_all() && (safe || may_repeat(Safety::Unprotected)) {
            // The common call: nothing but the config and the method has a say in it.
            return Self {
                opening: Opening::common(served.0, served.1),
                safety: safe.then_some(Safety::Safe),
                rule: None,
                may_repeat: may_repeat(Safety::Safe),
            };
        }
        Self::asking(config, head)
    }

    /// Begins a call of which more is to be asked.
    #[inline(never)]
    fn asking(config: &RetryConfig, head: &request::Parts) -> Self {
        let (method, uri) = (&head.method, &head.uri);
        let (headers, extensions) = (&head.headers, &head.extensions);
        let about = |rule: &RouteRule| rule.matches(method, uri, headers, extensions);
        let rule = config.rules.iter().position(about);
        let view = HeadView::from(head);
        let state = view.state;
        let mut opening = Opening::new(
            config,
            Ownership::of(config, is_owned_here(extensions)),
            config.left_to_next(),
            state.map_or(Deadline::NONE, CallState::deadline),
            extensions.get::<RetryOverrides>().copied(),
        );
        if let Some(choice) = &config.budget_for {
            let target = Target::of(method, uri, headers, extensions);
            opening.choose_budget(|now| choice.budget_for(target, now));
        }
        // Asked only after a failure, if it can be.
        let mut known = None;
        let ask = || *known.insert(safety(rule.map(|at| &config.rules[at]), view));
        let may_repeat = opening.may_repeat(config, ask);
        if !may_repeat && known.is_none() {
            known = Some(safety(rule.map(|at| &config.rules[at]), view));
        }
        Self {
            opening,
            safety: known,
            rule: rule.map(|at| at as u32),
            may_repeat,
        }
    }

    /// Whether any outcome could lead to another attempt.
    #[inline]
    pub(crate) const fn may_repeat(&self) -> bool {
        self.may_repeat
    }

    /// Whether the request may have to be sent again, also after a refusal of ours.
    #[inline]
    pub(crate) fn may_resend(&self, config: &RetryConfig) -> bool {
        self.may_repeat || self.opening.terms(config).admission == Admission::WaitOnce
    }

    /// Whether the head is needed later: for another attempt, or to tell observers of the call.
    #[inline]
    pub(crate) fn needs_head(&self, config: &RetryConfig) -> bool {
        self.may_resend(config) || config.observer.is_some()
    }

    /// Whether the deadline has come before anything was sent.
    #[inline]
    pub(crate) fn is_expired(&mut self, config: &RetryConfig) -> bool {
        self.opening.is_expired(config)
    }

    /// Marks the first attempt.
    #[inline]
    pub(crate) fn mark(&mut self, config: &RetryConfig, head: &mut request::Parts, owns: bool) {
        if config.owner_mark.is_some() || !head.extensions.is_empty() {
            self.mark_by(config, head, owns);
        }
    }

    #[inline(never)]
    fn mark_by(&mut self, config: &RetryConfig, head: &mut request::Parts, owns: bool) {
        if let Some(mark) = &config.owner_mark {
            match (self.opening.told(config, owns, 1), self.opening.is_owned()) {
                (Some(owner), _) => mark.write(&mut head.headers, owner),
                (None, false) => mark.remove(&mut head.headers),
                (None, true) => pass_on(mark, head),
            }
        }
        let extensions = &mut head.extensions;
        // A state is changed where there is one; making one would cost every first attempt.
        if CallState::of(extensions).is_some() {
            self.opening.start();
            let deadline = self.opening.deadline(config);
            if self.opening.is_owned() {
                // Which attempt it is was said by its owner.
                return CallState::edit(extensions, |state| state.tighten_deadline(deadline));
            }
            let max = self.opening.terms(config).max_attempts.get();
            mark(extensions, Attempt { number: 1, max }, deadline, owns);
        }
    }

    /// Tells that a loop further out repeats the call, where one does.
    #[inline]
    pub(crate) fn pass_through(&self, config: &RetryConfig, head: HeadView<'_>) {
        if let (true, Some(observer)) = (self.opening.is_owned(), &config.observer) {
            let safety = self.safety.unwrap_or(Safety::Unprotected);
            observer.observe(&Event::PassedThrough(subject(head, safety)));
        }
    }
}

/// Whether a loop further out in this process repeats what has these extensions.
fn is_owned_here(extensions: &Extensions) -> bool {
    is_owned() || CallState::of(extensions).is_some_and(CallState::is_owned)
}

/// The hops after this one must know too who repeats a call that this one does not.
fn pass_on(mark: &OwnerMark, head: &mut request::Parts) {
    let Some(owner) = CallContext::current_owner() else {
        return;
    };
    if !is_owned_here(&head.extensions) {
        return mark.write(&mut head.headers, owner);
    }
    // A layer that owns it here has marked it by its own count. An operation has no header to
    // write: it uses what it is left, so nothing of that goes on.
    let marked = mark.read(&head.headers);
    if marked.is_none_or(|marked| marked == owner) {
        mark.write(&mut head.headers, owner.without_allowance());
    }
}
