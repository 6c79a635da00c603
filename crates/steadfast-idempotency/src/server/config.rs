use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, Method, Uri};

use super::engine::EngineConfig;
use super::fingerprint::Fingerprint;
use super::problem::PROBLEM_BASE;
use super::record::Record;
use super::replayed_headers::ReplayedHeaders;
use super::store_policy::StorePolicy;
use crate::{IDEMPOTENCY_KEY, KeySyntax};

mod hooks;
mod policy;
mod read;

pub use policy::{AnonymousKeys, KeyPolicy, Replay, StoredBody};

type ScopeOf = dyn Fn(&Parts) -> Option<Arc<str>> + Send + Sync;
type TargetOf = dyn Fn(&Parts) -> Option<Uri> + Send + Sync;
pub(super) type Checking = Pin<Box<dyn Future<Output = Replay> + Send>>;
type BeforeReplay = dyn Fn(Parts, Record) -> Checking + Send + Sync;
type FingerprintOf = dyn Fn(&Parts, &Uri, &[u8]) -> Fingerprint + Send + Sync;

/// The knobs of an [`IdempotencyLayer`](super::IdempotencyLayer).
///
/// ```
/// use std::time::Duration;
/// use http::{Method, request::Parts};
/// use steadfast_idempotency::{IDEMPOTENCY_KEY, KeySyntax};
/// use steadfast_idempotency::server::{
///     AnonymousKeys, IdempotencyConfig, KeyPolicy, StorePolicy, StoredBody,
/// };
///
/// #[derive(Clone)]
/// struct Account(String);
///
/// // Authentication, outside this layer, has put the account there.
/// let config = IdempotencyConfig::new(|parts: &Parts| {
///     parts.extensions.get::<Account>().map(|account| account.0.clone())
/// });
/// assert_eq!(config.namespace(), "default");
/// assert_eq!(config.header(), IDEMPOTENCY_KEY);
/// assert_eq!(config.syntax(), KeySyntax::Strict);
/// assert_eq!(config.key_policy(), KeyPolicy::Required);
/// assert_eq!(config.anonymous_keys(), AnonymousKeys::Refuse);
/// assert!(config.protects(&Method::POST) && config.protects(&Method::PATCH));
/// assert!(!config.protects(&Method::PUT) && !config.protects(&Method::GET));
/// assert_eq!(config.request_limit(), 1024 * 1024);
/// assert_eq!(config.request_timeout(), Duration::from_secs(30));
/// assert_eq!(config.response_limit(), 256 * 1024);
/// assert_eq!(config.stored_body(), StoredBody::Whole);
/// assert_eq!(config.store_policy(), &StorePolicy::default());
/// assert_eq!(config.replay_marker(), "idempotent-replayed");
/// assert_eq!(config.lifetime_header().unwrap(), "idempotency-key-lifetime");
/// ```
#[derive(Clone)]
pub struct IdempotencyConfig {
    scope: Arc<ScopeOf>,
    target: Option<Arc<TargetOf>>,
    fingerprint: Option<Arc<FingerprintOf>>,
    namespace: Arc<str>,
    header: HeaderName,
    syntax: KeySyntax,
    key_policy: KeyPolicy,
    anonymous_keys: AnonymousKeys,
    methods: Arc<[Method]>,
    request_limit: usize,
    request_timeout: Duration,
    response_limit: usize,
    stored_body: StoredBody,
    store_policy: StorePolicy,
    before_replay: Option<Arc<BeforeReplay>>,
    lifetime_header: Option<HeaderName>,
    replayed_headers: ReplayedHeaders,
    replay_marker: HeaderName,
    problem_base: Arc<str>,
    engine: EngineConfig,
}

/// Keys shorter than this may be guessed or met by chance where callers share a scope.
pub(crate) const ANONYMOUS_KEY_LENGTH: usize = 16;

const REQUEST_LIMIT: usize = 1024 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const RESPONSE_LIMIT: usize = 256 * 1024;
const REPLAY_MARKER: HeaderName = HeaderName::from_static("idempotent-replayed");
const LIFETIME_HEADER: HeaderName = HeaderName::from_static("idempotency-key-lifetime");

impl IdempotencyConfig {
    /// The defaults, with the function that names the caller a request belongs to.
    ///
    /// It reads what authentication left in the extensions, never a header that the caller chose
    /// itself. None and the empty string both mean that there is no caller.
    pub fn new<F, T>(scope: F) -> Self
    where
        F: Fn(&Parts) -> Option<T> + Send + Sync + 'static,
        T: Into<Arc<str>>,
    {
        Self {
            scope: Arc::new(move |parts| scope(parts).map(Into::into)),
            target: None,
            fingerprint: None,
            namespace: "default".into(),
            header: IDEMPOTENCY_KEY,
            syntax: KeySyntax::Strict,
            key_policy: KeyPolicy::Required,
            anonymous_keys: AnonymousKeys::Refuse,
            methods: Arc::new([Method::POST, Method::PATCH]),
            request_limit: REQUEST_LIMIT,
            request_timeout: REQUEST_TIMEOUT,
            response_limit: RESPONSE_LIMIT,
            stored_body: StoredBody::Whole,
            store_policy: StorePolicy::default(),
            before_replay: None,
            lifetime_header: Some(LIFETIME_HEADER),
            replayed_headers: ReplayedHeaders::default(),
            replay_marker: REPLAY_MARKER,
            problem_base: PROBLEM_BASE.into(),
            engine: EngineConfig::default(),
        }
    }

    /// Sets what shares keys: services or tenants of one database that must not meet take
    /// different namespaces. Default `default`.
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<Arc<str>>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets the header that carries the key. Default `Idempotency-Key`.
    #[must_use]
    pub fn with_header(mut self, header: HeaderName) -> Self {
        self.header = header;
        self
    }

    /// Sets how keys are read. Default: structured-field strings only.
    #[must_use]
    pub fn with_syntax(mut self, syntax: KeySyntax) -> Self {
        self.syntax = syntax;
        self
    }

    /// Sets what a request without a key is. Default: refused.
    #[must_use]
    pub fn with_key_policy(mut self, policy: KeyPolicy) -> Self {
        self.key_policy = policy;
        self
    }

    /// Sets what a request without a scope is. Default: refused.
    #[must_use]
    pub fn with_anonymous_keys(mut self, policy: AnonymousKeys) -> Self {
        self.anonymous_keys = policy;
        self
    }

    /// Sets the protected methods. Default POST and PATCH. Safe methods never are: on them a key
    /// is ignored and nothing stored, whatever this says.
    #[must_use]
    pub fn with_methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = methods.into_iter().collect();
        self
    }

    /// Sets the largest request body, in bytes. Default 1 MiB; 413 above.
    #[must_use]
    pub fn with_request_limit(mut self, bytes: usize) -> Self {
        self.request_limit = bytes;
        self
    }

    /// Sets how long the request body may take to arrive. Default 30 s; 408 after.
    #[must_use]
    pub fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Sets the largest answer, in bytes of its body. Default 256 KiB; above it the effect is
    /// rolled back, because an answer that was cut could not be repeated.
    #[must_use]
    pub fn with_response_limit(mut self, bytes: usize) -> Self {
        self.response_limit = bytes;
        self
    }

    /// Sets what is kept of an answer's body. Default: all of it, or nothing.
    #[must_use]
    pub fn with_stored_body(mut self, stored: StoredBody) -> Self {
        self.stored_body = stored;
        self
    }

    /// Sets which answers are kept, by their status. Default: success and final refusals.
    #[must_use]
    pub fn with_store_policy(mut self, policy: StorePolicy) -> Self {
        self.store_policy = policy;
        self
    }

    /// Sets the header that says how many seconds a key is remembered, on every answer to one.
    /// Default `Idempotency-Key-Lifetime`; None says nothing.
    #[must_use]
    pub fn with_lifetime_header(mut self, name: Option<HeaderName>) -> Self {
        self.lifetime_header = name;
        self
    }

    /// Sets which headers a replay carries.
    #[must_use]
    pub fn with_replayed_headers(mut self, headers: ReplayedHeaders) -> Self {
        self.replayed_headers = headers;
        self
    }

    /// Sets the header that marks a replay, with the value `true`. Default `Idempotent-Replayed`.
    #[must_use]
    pub fn with_replay_marker(mut self, name: HeaderName) -> Self {
        self.replay_marker = name;
        self
    }

    /// Sets the start of every problem's `type`. Default [`PROBLEM_BASE`].
    #[must_use]
    pub fn with_problem_base(mut self, base: impl Into<Arc<str>>) -> Self {
        self.problem_base = base.into();
        self
    }

    /// Sets the limits of handler and store, the retention and the strictness.
    #[must_use]
    pub fn with_engine(mut self, engine: EngineConfig) -> Self {
        self.engine = engine;
        self
    }
}

impl fmt::Debug for IdempotencyConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyConfig")
            .field("namespace", &self.namespace)
            .field("header", &self.header)
            .field("syntax", &self.syntax)
            .field("key_policy", &self.key_policy)
            .field("anonymous_keys", &self.anonymous_keys)
            .field("methods", &self.methods)
            .field("request_limit", &self.request_limit)
            .field("request_timeout", &self.request_timeout)
            .field("response_limit", &self.response_limit)
            .field("stored_body", &self.stored_body)
            .field("store_policy", &self.store_policy)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}
