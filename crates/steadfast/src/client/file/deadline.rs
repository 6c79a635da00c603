use http::HeaderName;
use serde::Deserialize;
use steadfast_deadline::{BodyTimeoutLayer, PropagateConfig};

use crate::human::{Header, Text, Time};

/// `[body]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BodyTimes {
    idle: Option<Time>,
    total: Option<Time>,
}

impl BodyTimes {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut body: BodyTimeoutLayer) -> BodyTimeoutLayer {
        if let Some(Time(idle)) = self.idle {
            body = body.with_idle(idle);
        }
        if let Some(Time(total)) = self.total {
            body = body.with_total(total);
        }
        body
    }
}

/// `[propagation]`
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Propagation {
    headers: Option<Vec<Header>>,
    margin: Option<Time>,
    operation_header: Option<Text<HeaderName>>,
    attempt_header: Option<Text<HeaderName>>,
    age_header: Option<Text<HeaderName>>,
}

impl Propagation {
    /// What the profile says, changed by what stands here.
    pub(super) fn said(self, mut told: PropagateConfig) -> PropagateConfig {
        if let Some(headers) = self.headers {
            told = told.with_headers(headers.into_iter().map(Into::into));
        }
        if let Some(Time(margin)) = self.margin {
            told = told.with_margin(margin);
        }
        if let Some(Text(name)) = self.operation_header {
            told = told.with_operation_header(name);
        }
        if let Some(Text(name)) = self.attempt_header {
            told = told.with_attempt_header(name);
        }
        if let Some(Text(name)) = self.age_header {
            told = told.with_age_header(name);
        }
        told
    }
}
