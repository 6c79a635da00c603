use std::fmt;

use super::{Subject, answers, bounds, calls, clones, drops, errors};

/// One promise of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Promise {
    /// Only an instance that was ready is called, once for each readiness, at every attempt.
    Readied,
    /// Whatever waits, no inner instance is reserved meanwhile: others could use it.
    HoldsNoReadiness,
    /// Whoever answers `Pending` wakes the last waker that was seen: service, call and body.
    Wakes,
    /// A call that is dropped, anywhere, leaves nothing behind: no inner call, no reservation, no
    /// body, and nothing that the next call needs.
    Releases,
    /// Clones do not use up each other's readiness, and none waits for another one's call.
    IndependentClones,
    /// Status, headers and version of an answer pass on.
    AnswerHead,
    /// Typed values that the inner service put beside its answer pass on.
    AnswerExtensions,
    /// The frames of an answer's body pass on as they come, trailers included.
    AnswerFrames,
    /// An error of the inner service is found by its type in the layer's error or its sources.
    Errors,
    /// An error in an answer's body is found by its type too.
    BodyErrors,
    /// No setting panics, spins or waits without an end.
    Bounded,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Readied,
        Self::HoldsNoReadiness,
        Self::Wakes,
        Self::Releases,
        Self::IndependentClones,
        Self::AnswerHead,
        Self::AnswerExtensions,
        Self::AnswerFrames,
        Self::Errors,
        Self::BodyErrors,
        Self::Bounded,
    ];

    /// What is promised, in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Readied => "only the readied instance is called",
            Self::HoldsNoReadiness => "nothing holds inner readiness while it waits",
            Self::Wakes => "pending registers a waker",
            Self::Releases => "dropping releases everything exactly once",
            Self::IndependentClones => "clones are independent",
            Self::AnswerHead => "the head of an answer passes on",
            Self::AnswerExtensions => "the extensions of an answer pass on",
            Self::AnswerFrames => "the frames of an answer pass on",
            Self::Errors => "errors stay reachable by type",
            Self::BodyErrors => "errors of bodies stay reachable by type",
            Self::Bounded => "extreme settings neither panic nor spin",
        }
    }

    pub(super) async fn try_on<S: Subject>(self, subject: &S) {
        match self {
            Self::Readied => calls::only_the_readied_is_called(subject).await,
            Self::HoldsNoReadiness => calls::no_readiness_is_held(subject).await,
            Self::Wakes => calls::pending_wakes(subject).await,
            Self::Releases => drops::everything_is_released(subject).await,
            Self::IndependentClones => clones::are_independent(subject).await,
            Self::AnswerHead => answers::heads_pass(subject).await,
            Self::AnswerExtensions => answers::extensions_pass(subject).await,
            Self::AnswerFrames => answers::frames_pass(subject).await,
            Self::Errors => errors::are_found(subject).await,
            Self::BodyErrors => errors::of_bodies_are_found(subject).await,
            Self::Bounded => bounds::hold(subject).await,
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
