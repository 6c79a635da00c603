//! Which hop repeats a call, and how much.

use steadfast_core::{Allowance, OwnerMark};

use super::RetryConfig;
use crate::UpstreamOwner;

impl RetryConfig {
    /// Tells the next hop with each attempt that this layer repeats the call, where it can: the
    /// hop's own retry layers leave the repeats to it if it believes the mark. A mark that the
    /// request came with is taken away where this layer cannot repeat it. Default: nobody is
    /// told, since a stranger has no use for it.
    #[must_use]
    pub fn with_owner_mark(mut self, mark: OwnerMark) -> Self {
        self.owner_mark = Some(mark);
        self
    }

    /// Leaves so many of a call's attempts, and such a share of the budget, to the next hop: this
    /// layer makes `⌊max_attempts / attempts⌋` attempts, at least one, each of which the next hop
    /// may make into so many, and its retries have the rest of the budget. So both together make
    /// no more than `max_attempts`, and with budgets alike no more retries than one of them alone
    /// allows, and one. Needs an [owner mark](Self::with_owner_mark), which tells that hop, and a
    /// hop that is set to [`UpstreamOwner::Split`]; any other sends each call once. Of a part that
    /// is left to this layer itself it leaves a part in turn. One attempt, or no share, is nothing.
    /// Default: nothing is left.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use steadfast_core::{Allowance, OwnerMark, Ratio};
    /// use steadfast_retry::RetryConfig;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let [two, four] = [2, 4].map(|n| NonZeroU32::new(n).unwrap());
    /// // Two attempts here, with two of the next hop's for each: 1/4;left=2;share=50.
    /// let config = RetryConfig::new()
    ///     .with_max_attempts(four)
    ///     .with_owner_mark(OwnerMark::default())
    ///     .with_next_hop(Allowance::new(two, Ratio::percent(50)?));
    /// # let _ = config;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_next_hop(mut self, allowance: Allowance) -> Self {
        self.next_hop = Some(allowance);
        self
    }

    /// Sets what to do for a request that is served here and whose caller's loop repeats it.
    /// Default: [`UpstreamOwner::PassThrough`].
    #[must_use]
    pub fn with_upstream_owner(mut self, rule: UpstreamOwner) -> Self {
        self.upstream = rule;
        self
    }

    /// The mark that tells the next hop who repeats the call, where it is told.
    pub const fn owner_mark(&self) -> Option<&OwnerMark> {
        self.owner_mark.as_ref()
    }

    /// What of a call's attempts and of the budget is left to the next hop.
    pub const fn next_hop(&self) -> Option<Allowance> {
        self.next_hop
    }

    /// What is done for a request whose caller's loop repeats it.
    pub const fn upstream_owner(&self) -> UpstreamOwner {
        self.upstream
    }

    /// What the next hop is told that it may use.
    pub(crate) fn left_to_next(&self) -> Option<Allowance> {
        self.owner_mark.as_ref().and(self.next_hop)
    }
}
