use crate::server::answer::Answer;

/// What the protected work made: a value for this caller, and what is kept for the next.
#[derive(Clone, Debug)]
pub struct Worked<T> {
    /// What [`Engine::execute`](super::Engine::execute) hands to the caller of this run.
    pub value: T,
    /// What is kept.
    pub keep: Keep,
}

/// What is kept of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Keep {
    /// The effect, and the answer for repeats.
    EffectAndAnswer(Answer),
    /// The answer for repeats; the effect is rolled back.
    AnswerOnly(Answer),
    /// Nothing: the effect is rolled back and a repeat runs again.
    Nothing,
}

impl<T> Worked<T> {
    /// The effect commits together with `answer`.
    pub const fn commit(value: T, answer: Answer) -> Self {
        Self {
            value,
            keep: Keep::EffectAndAnswer(answer),
        }
    }

    /// The effect is rolled back; repeats get `answer`.
    pub const fn store(value: T, answer: Answer) -> Self {
        Self {
            value,
            keep: Keep::AnswerOnly(answer),
        }
    }

    /// The effect is rolled back, and a repeat runs again.
    pub const fn discard(value: T) -> Self {
        Self {
            value,
            keep: Keep::Nothing,
        }
    }
}
