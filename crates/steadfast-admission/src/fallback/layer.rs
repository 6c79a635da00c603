use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use steadfast_core::order::{Entered, ToldOnce};
use steadfast_core::{Event, FellBack, Observe, Reason, Report};
use tower_layer::Layer;

use super::reasons::Reasons;
use super::{Fallback, FallbackBody, Fell, FellBackFrom};
use crate::told::Told;

/// Puts a [`Fallback`] around a service; see the [module's page](super).
///
/// Its clones, and all services that it is put around, share the function and what that holds.
pub struct FallbackLayer<F> {
    reasons: Reasons,
    answers: bool,
    observer: Option<Arc<dyn Observe>>,
    misordered: Arc<ToldOnce>,
    answer: Arc<F>,
}

impl<F> FallbackLayer<F>
where
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    /// Answers calls that fail for one of these reasons by this function; all others end as
    /// before. There are no default reasons: which failures may be covered up is for the user of
    /// the answer to say.
    ///
    /// The function runs in the middle of the call, so it must return at once. When it panics, the
    /// call does.
    pub fn new(reasons: impl IntoIterator<Item = Reason>, answer: F) -> Self {
        Self {
            reasons: reasons.into_iter().collect(),
            answers: false,
            observer: None,
            misordered: Arc::default(),
            answer: Arc::new(answer),
        }
    }
}

impl<F> FallbackLayer<F> {
    /// Replaces answers of the peer too, where a layer has put a [`Report`] with one of the
    /// reasons into their extensions: the last 503 of a call whose attempts are exhausted, say.
    /// What is left of the peer's body is dropped unread. Default: an answer of the peer's always
    /// passes.
    #[must_use]
    pub fn with_answers(mut self) -> Self {
        self.answers = true;
        self
    }

    /// Sets who is told of failures that were answered. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Whether failures for this reason are answered.
    pub const fn is_for(&self, reason: Reason) -> bool {
        self.reasons.contains(reason)
    }

    /// Whether answers of the peer are replaced too.
    pub const fn replaces_answers(&self) -> bool {
        self.answers
    }

    /// Who is told.
    pub fn observer(&self) -> Option<&dyn Observe> {
        self.observer.as_deref()
    }

    #[inline]
    pub(super) fn tell_order(&self, entered: Entered) {
        entered.tell(self.observer.as_deref(), &self.misordered);
    }

    pub(super) const fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// The chosen reason for which this answer was the last one. One that a fallback further in
    /// has given is the user's already.
    pub(super) fn chosen<R>(&self, answer: &Response<R>) -> Option<Reason> {
        if !self.answers {
            return None;
        }
        let extensions = answer.extensions();
        let reason = extensions.get::<Report>()?.reason?;
        let own = extensions.get::<FellBackFrom>().is_some();
        (!own && self.is_for(reason)).then_some(reason)
    }
}

impl<F> FallbackLayer<F>
where
    F: Fn(&Fell<'_>) -> Response<Bytes>,
{
    pub(super) fn answer<R>(&self, fell: &Fell<'_>, told: &Told) -> Response<FallbackBody<R>> {
        let mut answer = (self.answer)(fell).map(FallbackBody::own);
        let extensions = answer.extensions_mut();
        extensions.insert(FellBackFrom(fell.reason));
        if let Some(report) = fell.report() {
            extensions.insert(*report);
        }
        if let Some(observer) = &self.observer {
            let event = FellBack::new(told.subject(), fell.reason);
            observer.observe(&Event::FellBack(event));
        }
        answer
    }
}

impl<F> Clone for FallbackLayer<F> {
    fn clone(&self) -> Self {
        Self {
            reasons: self.reasons,
            answers: self.answers,
            observer: self.observer.clone(),
            misordered: self.misordered.clone(),
            answer: self.answer.clone(),
        }
    }
}

impl<F> fmt::Debug for FallbackLayer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FallbackLayer")
            .field("reasons", &self.reasons)
            .field("answers", &self.answers)
            .finish_non_exhaustive()
    }
}

impl<S, F> Layer<S> for FallbackLayer<F> {
    type Service = Fallback<S, F>;

    fn layer(&self, inner: S) -> Fallback<S, F> {
        let layer = Arc::new(self.clone());
        Fallback { inner, layer }
    }
}
