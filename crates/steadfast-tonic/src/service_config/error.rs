use std::error::Error;
use std::fmt;

/// A service config that breaks a rule: which field, and the rule.
#[derive(Debug)]
pub struct InvalidServiceConfig {
    path: String,
    rule: String,
    source: Option<serde_json::Error>,
}

impl InvalidServiceConfig {
    pub(super) fn new(path: &str, rule: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            rule: rule.into(),
            source: None,
        }
    }

    pub(super) fn json(error: serde_json::Error) -> Self {
        Self {
            source: Some(error),
            ..Self::new("", "not JSON")
        }
    }

    /// The field, from the root: `methodConfig[0].retryPolicy.maxAttempts`; empty for the whole.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for InvalidServiceConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => write!(f, "the service config: {}", self.rule),
            path => write!(f, "{path}: {}", self.rule),
        }
    }
}

impl Error for InvalidServiceConfig {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}
