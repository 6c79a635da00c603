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
    /// Nothing: the effect is rolled back and a repeat runs again. Under a lease it says that
    /// there was no effect.
    Nothing,
    /// Nothing, and it is not known what was done: in a transaction that is rolled back, under a
    /// lease its policy decides.
    Unknown,
}

impl<T> Worked<T> {
    /// The effect commits together with `answer`.
    pub const fn commit(value: T, answer: Answer) -> Self {
        Self {
            value,
            keep: Keep::EffectAndAnswer(answer),
        }
    }

    /// The effect is rolled back; repeats get `answer`. Under a lease the same as
    /// [`commit`](Self::commit).
    pub const fn store(value: T, answer: Answer) -> Self {
        Self {
            value,
            keep: Keep::AnswerOnly(answer),
        }
    }

    /// The work failed and cannot say what it did: rolled back in a transaction, left to the
    /// policy under a lease.
    pub const fn unknown(value: T) -> Self {
        Self {
            value,
            keep: Keep::Unknown,
        }
    }

    /// The effect is rolled back, or there was none, and a repeat runs again.
    pub const fn discard(value: T) -> Self {
        Self {
            value,
            keep: Keep::Nothing,
        }
    }
}
