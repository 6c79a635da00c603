use steadfast_core::Ratio;
use steadfast_core::budget::{InvalidThrottle, ThrottleBudget};

use super::InvalidServiceConfig;
use super::json::At;

/// What caps the retries to one server name: a `retryThrottling`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryThrottling {
    max_tokens: u32,
    token_ratio: Ratio,
}

impl RetryThrottling {
    pub(super) fn read(at: &At<'_>) -> Result<Self, InvalidServiceConfig> {
        at.object()?;
        let (tokens, ratio) = (at.required("maxTokens")?, at.required("tokenRatio")?);
        let max_tokens = tokens.whole()?;
        let token_ratio = Ratio::try_from(ratio.number()?);
        let token_ratio = token_ratio.map_err(|error| ratio.broken(error.to_string()))?;
        match ThrottleBudget::try_new(max_tokens, token_ratio) {
            Ok(_) => Ok(Self {
                max_tokens,
                token_ratio,
            }),
            Err(error @ InvalidThrottle::Tokens(_)) => Err(tokens.broken(error.to_string())),
            Err(error) => Err(ratio.broken(error.to_string())),
        }
    }

    /// Tokens at the start and at most: 1 to 1000.
    pub const fn max_tokens(self) -> u32 {
        self.max_tokens
    }

    /// Tokens that a success earns; three decimals count.
    pub const fn token_ratio(self) -> Ratio {
        self.token_ratio
    }

    /// A budget of this kind.
    pub(super) fn budget(self) -> ThrottleBudget {
        // Tried when it was read.
        ThrottleBudget::try_new(self.max_tokens, self.token_ratio).unwrap_or_default()
    }
}
