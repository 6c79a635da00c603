use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, Method};

use super::{AnonymousKeys, Checking, IdempotencyConfig, KeyPolicy, StoredBody};
use crate::KeySyntax;
use crate::server::engine::EngineConfig;
use crate::server::fingerprint::Fingerprint;
use crate::server::record::Record;
use crate::server::replayed_headers::ReplayedHeaders;
use crate::server::store_policy::StorePolicy;

impl IdempotencyConfig {
    /// What shares keys.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The header that carries the key.
    pub const fn header(&self) -> &HeaderName {
        &self.header
    }

    /// How keys are read.
    pub const fn syntax(&self) -> KeySyntax {
        self.syntax
    }

    /// What a request without a key is.
    pub const fn key_policy(&self) -> KeyPolicy {
        self.key_policy
    }

    /// What a request without a scope is.
    pub const fn anonymous_keys(&self) -> AnonymousKeys {
        self.anonymous_keys
    }

    /// Whether requests with this method are protected.
    pub fn protects(&self, method: &Method) -> bool {
        !method.is_safe() && self.methods.contains(method)
    }

    /// The largest request body in bytes.
    pub const fn request_limit(&self) -> usize {
        self.request_limit
    }

    /// How long the request body may take to arrive.
    pub const fn request_timeout(&self) -> Duration {
        self.request_timeout
    }

    /// The largest answer in bytes.
    pub const fn response_limit(&self) -> usize {
        self.response_limit
    }

    /// What is kept of an answer's body.
    pub const fn stored_body(&self) -> StoredBody {
        self.stored_body
    }

    /// Which answers are kept, by their status.
    pub const fn store_policy(&self) -> &StorePolicy {
        &self.store_policy
    }

    /// The header that says how many seconds a key is remembered.
    pub const fn lifetime_header(&self) -> Option<&HeaderName> {
        self.lifetime_header.as_ref()
    }

    /// Which headers a replay carries.
    pub const fn replayed_headers(&self) -> &ReplayedHeaders {
        &self.replayed_headers
    }

    /// The header that marks a replay.
    pub const fn replay_marker(&self) -> &HeaderName {
        &self.replay_marker
    }

    /// The start of every problem's `type`.
    pub fn problem_base(&self) -> &str {
        &self.problem_base
    }

    /// The limits of handler and store, the retention and the strictness.
    pub const fn engine(&self) -> &EngineConfig {
        &self.engine
    }

    pub(crate) fn scope_of(&self, parts: &Parts) -> Option<Arc<str>> {
        (self.scope)(parts).filter(|scope| !scope.is_empty())
    }

    pub(crate) fn namespace_handle(&self) -> Arc<str> {
        Arc::clone(&self.namespace)
    }

    /// The head of a request, where it is needed before a replay.
    pub(crate) fn remembered(&self, parts: &Parts) -> Option<Parts> {
        self.before_replay.as_ref().map(|_| parts.clone())
    }

    /// What must be waited for before a replay. None: nothing.
    pub(crate) fn check_replay(&self, parts: Option<Parts>, record: &Record) -> Option<Checking> {
        let before = self.before_replay.as_ref()?;
        Some(before(parts?, record.clone()))
    }

    pub(crate) fn fingerprint_of(&self, parts: &Parts, body: &[u8]) -> Fingerprint {
        let target = self.target.as_ref().and_then(|target| target(parts));
        let target = target.as_ref().unwrap_or(&parts.uri);
        match &self.fingerprint {
            Some(fingerprint) => fingerprint(parts, target, body),
            None => Fingerprint::of_request(parts, target, body),
        }
    }
}
