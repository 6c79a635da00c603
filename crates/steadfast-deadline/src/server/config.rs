use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{Extensions, HeaderMap, HeaderName};
use steadfast_core::{Observe, OwnerMark, TimeoutHeader};

use super::trust::InboundTrust;

/// The longest time of a request whatever its caller says: none.
///
/// The layer does not know the application: a limit for all of it would also cut its long polls.
pub const DEFAULT_MAXIMUM: Duration = Duration::MAX;

/// The end of the caller's time that is kept for the answer's way home: 10 ms, several round
/// trips inside one region. It never takes more than half of the time.
pub const DEFAULT_ANSWER_MARGIN: Duration = Duration::from_millis(10);

/// The headers that are read unless others are configured: `grpc-timeout` (on gRPC requests
/// only), `x-envoy-expected-rq-timeout-ms` and `connect-timeout-ms`.
pub const fn default_headers() -> [TimeoutHeader; 3] {
    [
        TimeoutHeader::grpc(),
        TimeoutHeader::envoy(),
        TimeoutHeader::connect(),
    ]
}

/// Whether ends are acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// What has expired is refused, and what expires is cut.
    #[default]
    Enforce,
    /// Only events tell what would have been refused and cut. No deadline is put in force
    /// either: outbound calls would be cut by it.
    Measure,
}

type TrustFor = Arc<dyn Fn(&HeaderMap, &Extensions) -> InboundTrust + Send + Sync>;

/// What an [`InboundDeadlineLayer`](super::InboundDeadlineLayer) does.
///
/// Every value is valid; none panics.
///
/// ```
/// use std::time::Duration;
/// use http::{Extensions, HeaderMap};
/// use steadfast_deadline::server::{InboundConfig, InboundTrust, Mode, default_headers};
///
/// let config = InboundConfig::default();
/// assert_eq!(config.headers(), default_headers());
/// assert_eq!(config.maximum(), Duration::MAX);
/// assert_eq!(config.answer_margin(), Duration::from_millis(10));
/// assert_eq!(config.mode(), Mode::Enforce);
/// assert_eq!(config.operation_header(), None);
/// let trust = config.trust_of(&HeaderMap::new(), &Extensions::new());
/// assert_eq!(trust, InboundTrust::Deadline);
/// ```
#[derive(Clone)]
pub struct InboundConfig {
    headers: Vec<TimeoutHeader>,
    maximum: Duration,
    answer_margin: Duration,
    mode: Mode,
    trust: InboundTrust,
    trust_for: Option<TrustFor>,
    operation_header: Option<HeaderName>,
    owner_mark: OwnerMark,
    observer: Option<Arc<dyn Observe>>,
}

impl Default for InboundConfig {
    fn default() -> Self {
        Self {
            headers: default_headers().into(),
            maximum: DEFAULT_MAXIMUM,
            answer_margin: DEFAULT_ANSWER_MARGIN,
            mode: Mode::default(),
            trust: InboundTrust::default(),
            trust_for: None,
            operation_header: None,
            owner_mark: OwnerMark::default(),
            observer: None,
        }
    }
}

impl InboundConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets which headers tell how long the caller waits; of several the shortest time holds.
    /// Default: [`default_headers`].
    #[must_use]
    pub fn with_headers(mut self, headers: impl IntoIterator<Item = TimeoutHeader>) -> Self {
        self.headers = headers.into_iter().collect();
        self
    }

    /// Sets the longest time of a request, whatever its caller says, also where it says nothing.
    /// Default: [`DEFAULT_MAXIMUM`]; `Duration::MAX` is none, zero refuses every request.
    #[must_use]
    pub const fn with_maximum(mut self, maximum: Duration) -> Self {
        self.maximum = maximum;
        self
    }

    /// Sets how much earlier than the caller the handler ends, so that the answer arrives in
    /// time. At most half of the time is taken. Default: [`DEFAULT_ANSWER_MARGIN`].
    #[must_use]
    pub const fn with_answer_margin(mut self, margin: Duration) -> Self {
        self.answer_margin = margin;
        self
    }

    /// Sets whether ends are acted on or only measured. Default: [`Mode::Enforce`].
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how much every caller is believed. Default: [`InboundTrust::Deadline`].
    #[must_use]
    pub fn with_trust(mut self, trust: InboundTrust) -> Self {
        self.trust = trust;
        self.trust_for = None;
        self
    }

    /// Sets the header by which a loop further up says that it repeats the call; it is believed
    /// of those who are trusted with everything ([`InboundTrust::Everything`]), and makes this
    /// server's own retry layers leave the repeats to that loop. Default:
    /// [`OwnerMark::default`].
    #[must_use]
    pub fn with_owner_mark(mut self, mark: OwnerMark) -> Self {
        self.owner_mark = mark;
        self
    }

    /// The header by which a loop further up says that it repeats the call.
    pub const fn owner_mark(&self) -> &OwnerMark {
        &self.owner_mark
    }

    /// Sets what decides how much a caller is believed, by the request's headers and by what
    /// layers further out know of the peer. Default: all alike, see
    /// [`with_trust`](Self::with_trust).
    #[must_use]
    pub fn with_trust_for(
        mut self,
        trust: impl Fn(&HeaderMap, &Extensions) -> InboundTrust + Send + Sync + 'static,
    ) -> Self {
        self.trust_for = Some(Arc::new(trust));
        self
    }

    /// Sets which header carries the id of the operation that the request belongs to; it is read
    /// from callers who are believed in [everything](InboundTrust::Everything). Default: none.
    #[must_use]
    pub fn with_operation_header(mut self, name: HeaderName) -> Self {
        self.operation_header = Some(name);
        self
    }

    /// Sets who is told of deadlines received, met, refused and expired. Default: nobody.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Observe) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// The headers that tell how long the caller waits.
    pub fn headers(&self) -> &[TimeoutHeader] {
        &self.headers
    }

    /// The longest time of a request.
    pub const fn maximum(&self) -> Duration {
        self.maximum
    }

    /// How much earlier than the caller the handler ends.
    pub const fn answer_margin(&self) -> Duration {
        self.answer_margin
    }

    /// Whether ends are acted on.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// How much the sender of these is believed.
    pub fn trust_of(&self, headers: &HeaderMap, extensions: &Extensions) -> InboundTrust {
        match &self.trust_for {
            Some(trust) => trust(headers, extensions),
            None => self.trust,
        }
    }

    /// The header that carries the operation's id.
    pub const fn operation_header(&self) -> Option<&HeaderName> {
        self.operation_header.as_ref()
    }

    pub(crate) const fn observer(&self) -> Option<&Arc<dyn Observe>> {
        self.observer.as_ref()
    }
}

impl fmt::Debug for InboundConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboundConfig")
            .field("headers", &self.headers)
            .field("maximum", &self.maximum)
            .field("answer_margin", &self.answer_margin)
            .field("mode", &self.mode)
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}
