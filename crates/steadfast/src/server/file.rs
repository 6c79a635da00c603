//! What a server's policy looks like in a file, for serde.

use std::num::NonZeroU32;

use http::HeaderName;
use serde::Deserialize;
use steadfast_admission::arrivals::ArrivalsConfig;
use steadfast_core::{AttemptHeader, OwnerMark};
use steadfast_deadline::server::{InboundConfig, InboundTrust, Mode};

use super::{Draft, Policy};
use crate::PolicyFileError;
use crate::human::{Acts, Header, Share, Text, Time};

/// All that a file may say; what it does not say is the default.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    deadline: Deadline,
    arrivals: Arrivals,
}

/// `[deadline]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Deadline {
    mode: Option<Ends>,
    maximum: Option<Time>,
    answer_margin: Option<Time>,
    trust: Option<Trust>,
    headers: Option<Vec<Header>>,
    operation_header: Option<Text<HeaderName>>,
    owner_mark: Option<Text<HeaderName>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    Enforce,
    Measure,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Trust {
    Nothing,
    Deadline,
    Everything,
}

/// `[arrivals]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arrivals {
    mode: Option<Acts>,
    share: Option<Share>,
    window: Option<Time>,
    minimum: Option<NonZeroU32>,
    marks: Option<Vec<Mark>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Mark {
    #[serde(rename = "steadfast-attempt")]
    Steadfast,
    #[serde(rename = "x-envoy-attempt-count")]
    Envoy,
    #[serde(rename = "grpc-previous-rpc-attempts")]
    Grpc,
    #[serde(rename = "amz-sdk-request")]
    Amz,
}

impl Deadline {
    fn said(self) -> InboundConfig {
        let mut config = InboundConfig::new();
        match self.mode {
            None => {}
            Some(Ends::Enforce) => config = config.with_mode(Mode::Enforce),
            Some(Ends::Measure) => config = config.with_mode(Mode::Measure),
        }
        if let Some(Time(maximum)) = self.maximum {
            config = config.with_maximum(maximum);
        }
        if let Some(Time(margin)) = self.answer_margin {
            config = config.with_answer_margin(margin);
        }
        match self.trust {
            None => {}
            Some(Trust::Nothing) => config = config.with_trust(InboundTrust::Nothing),
            Some(Trust::Deadline) => config = config.with_trust(InboundTrust::Deadline),
            Some(Trust::Everything) => config = config.with_trust(InboundTrust::Everything),
        }
        if let Some(headers) = self.headers {
            config = config.with_headers(headers.into_iter().map(Into::into));
        }
        if let Some(Text(name)) = self.operation_header {
            config = config.with_operation_header(name);
        }
        if let Some(Text(name)) = self.owner_mark {
            config = config.with_owner_mark(OwnerMark::new(name));
        }
        config
    }
}

impl Arrivals {
    fn said(self) -> ArrivalsConfig {
        let mut config = ArrivalsConfig::new();
        if let Some(mode) = self.mode {
            config = config.with_mode(mode.into());
        }
        if let Some(Share(share)) = self.share {
            config = config.with_share(share);
        }
        if let Some(Time(window)) = self.window {
            config = config.with_window(window);
        }
        if let Some(minimum) = self.minimum {
            config = config.with_minimum(minimum);
        }
        if let Some(marks) = self.marks {
            config = config.with_marks(marks.into_iter().map(Into::into));
        }
        config
    }
}

impl From<Mark> for AttemptHeader {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Steadfast => Self::Steadfast,
            Mark::Envoy => Self::Envoy,
            Mark::Grpc => Self::Grpc,
            Mark::Amz => Self::Amz,
        }
    }
}

impl File {
    fn draft(self) -> Draft {
        Draft::new()
            .with_deadline(self.deadline.said())
            .with_arrivals(self.arrivals.said())
    }
}

/// From any format that serde reads; [`Policy::from_toml`] has an example.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let draft = File::deserialize(deserializer)?.draft();
        draft.check().map_err(serde::de::Error::custom)
    }
}

impl Policy {
    /// The policy that a TOML file says.
    ///
    /// # Errors
    ///
    /// Names the line of an unknown field or of a value that cannot be one, or the part that could
    /// not do what it says.
    ///
    /// ```
    /// use std::time::Duration;
    /// use steadfast::server::Policy;
    ///
    /// let policy = Policy::from_toml(
    ///     r#"
    ///     [deadline]
    ///     maximum = "20s"
    ///     trust = "everything"
    ///
    ///     [arrivals]
    ///     share = "25%"
    ///     "#,
    /// )?;
    /// assert_eq!(policy.as_draft().deadline().maximum(), Duration::from_secs(20));
    ///
    /// let error = Policy::from_toml("[arrivals]\nshare = \"100%\"").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "arrivals.share is 100%: retries are never above it; set a lower one, or mode = \"off\"",
    /// );
    /// # Ok::<(), steadfast::PolicyFileError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, PolicyFileError> {
        let file: File =
            toml::from_str(text).map_err(|error| PolicyFileError::syntax(text, error))?;
        file.draft().check().map_err(PolicyFileError::conflict)
    }
}

#[cfg(test)]
mod tests;
