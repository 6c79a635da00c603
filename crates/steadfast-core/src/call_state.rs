use std::sync::Arc;
use std::time::Instant;

use http::{Extensions, HeaderMap, Uri, header};

use crate::destination_key::host;
use crate::{Deadline, Safety};

/// What Steadfast's layers tell each other about one call: a single value in the request's
/// extensions.
///
/// An absent state means defaults. One type, because each value in [`Extensions`] costs
/// allocations. Anybody may set a field before the call:
///
/// ```
/// use http::Request;
/// use steadfast_core::{CallState, Safety};
///
/// let mut request = Request::post("http://ledger.example/entries").body(()).unwrap();
/// CallState::edit(request.extensions_mut(), |state| state.set_safety(Safety::Idempotent));
/// let state = CallState::of(request.extensions()).unwrap();
/// assert_eq!(state.safety(), Some(Safety::Idempotent));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallState {
    deadline: Deadline,
    safety: Option<Safety>,
    key: Option<CallKey>,
    destination: Option<Arc<str>>,
    attempt: Option<Attempt>,
    attempt_ends: Deadline,
    started: Option<Instant>,
    owned: bool,
}

/// The place of one sending among those of its call. The first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// Which attempt this is; the first is 1.
    pub number: u32,
    /// How many the call may make at most.
    pub max: u32,
}

/// The mark that a `KeyLayer` leaves on a call whose peer recognises repeats by their key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallKey {
    key: Arc<str>,
    lives_until: Deadline,
}

impl CallKey {
    /// A mark for this key; the peer remembers it for ever.
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self {
            key: key.into(),
            lives_until: Deadline::NONE,
        }
    }

    /// The instant after which the peer may have forgotten the key: no repeat is sent then.
    #[must_use]
    pub const fn with_lives_until(mut self, lives_until: Deadline) -> Self {
        self.lives_until = lives_until;
        self
    }

    /// The key's text, without quotes.
    pub fn as_str(&self) -> &str {
        &self.key
    }

    /// The instant after which no repeat may be sent.
    pub const fn lives_until(&self) -> Deadline {
        self.lives_until
    }
}

impl CallState {
    /// A state that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state that travels with a request.
    #[inline]
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    /// Changes the state that travels with a request; makes one if there is none.
    pub fn edit<R>(extensions: &mut Extensions, change: impl FnOnce(&mut Self) -> R) -> R {
        change(extensions.get_or_insert_default())
    }

    /// When the call must have ended. Default: none.
    #[inline]
    pub const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Shortens the deadline to `deadline`; a later one changes nothing.
    pub fn tighten_deadline(&mut self, deadline: Deadline) {
        self.deadline = self.deadline.earliest(deadline);
    }

    /// What the caller says a repeat may do; it wins over every other source.
    #[inline]
    pub const fn safety(&self) -> Option<Safety> {
        self.safety
    }

    /// Says what a repeat of this request may do.
    pub fn set_safety(&mut self, safety: Safety) {
        self.safety = Some(safety);
    }

    /// The key that a `KeyLayer` put or found on a route that honours keys.
    #[inline]
    pub const fn key(&self) -> Option<&CallKey> {
        self.key.as_ref()
    }

    /// Marks the call as recognised by its key.
    pub fn set_key(&mut self, key: CallKey) {
        self.key = Some(key);
    }

    /// The name of the destination that an adapter gave, where the URI has none.
    pub fn destination(&self) -> Option<&str> {
        self.destination.as_deref()
    }

    /// Names the destination.
    pub fn set_destination(&mut self, destination: impl Into<Arc<str>>) {
        self.destination = Some(destination.into());
    }

    /// Which attempt this request is; `None` outside a retry layer and on a first attempt that
    /// had no state.
    pub const fn attempt(&self) -> Option<Attempt> {
        self.attempt
    }

    /// Says which attempt this request is.
    pub const fn set_attempt(&mut self, attempt: Attempt) {
        self.attempt = Some(attempt);
    }

    /// When the head of this attempt's answer must have come, which may be before the call's
    /// deadline. Default: none.
    pub const fn attempt_ends(&self) -> Deadline {
        self.attempt_ends
    }

    /// Says when the head of this attempt's answer must have come. It holds for this attempt
    /// alone, so a later word replaces an earlier one.
    pub const fn set_attempt_ends(&mut self, deadline: Deadline) {
        self.attempt_ends = deadline;
    }

    /// When the call began, and so its first attempt; `None` where no layer around the attempts
    /// said so.
    pub const fn started(&self) -> Option<Instant> {
        self.started
    }

    /// Says when the call began. Who is further out knows better: the first word holds.
    pub fn set_started(&mut self, now: Instant) {
        self.started.get_or_insert(now);
    }

    /// Whether a retry loop further out repeats this call.
    #[inline]
    pub const fn is_owned(&self) -> bool {
        self.owned
    }

    /// Says that a retry loop further out repeats this call.
    pub const fn set_owned(&mut self) {
        self.owned = true;
    }
}

/// The destination of a request: the URI's authority without userinfo, else Host, else the name
/// that an adapter gave.
///
/// ```
/// use http::{Extensions, HeaderMap, Uri};
///
/// let uri = Uri::from_static("https://user:pw@api.example:8443/v1");
/// let (headers, extensions) = (HeaderMap::new(), Extensions::new());
/// let destination = steadfast_core::destination(&uri, &headers, &extensions);
/// assert_eq!(destination, Some("api.example:8443"));
/// ```
pub fn destination<'a>(
    uri: &'a Uri,
    headers: &'a HeaderMap,
    extensions: &'a Extensions,
) -> Option<&'a str> {
    destination_of(uri, headers, || CallState::of(extensions))
}

/// [`destination`] of a request whose state is at hand; it is asked for only where it gives the
/// name.
pub fn destination_of<'a>(
    uri: &'a Uri,
    headers: &'a HeaderMap,
    state: impl FnOnce() -> Option<&'a CallState>,
) -> Option<&'a str> {
    if let Some(authority) = uri.authority() {
        return Some(host(authority.as_str()));
    }
    if let Some(host) = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
    {
        return Some(host);
    }
    state().and_then(CallState::destination)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn a_deadline_can_only_be_tightened() {
        let now = std::time::Instant::now();
        let soon = Deadline::after(now, Duration::from_secs(1));
        let late = Deadline::after(now, Duration::from_secs(9));
        let mut state = CallState::new();
        state.tighten_deadline(late);
        state.tighten_deadline(soon);
        state.tighten_deadline(late);
        state.tighten_deadline(Deadline::NONE);
        assert_eq!(state.deadline(), soon);
    }

    #[test]
    fn destination_is_authority_then_host_then_name() {
        let mut headers = HeaderMap::new();
        let mut extensions = Extensions::new();
        let path = Uri::from_static("/v1");
        assert_eq!(destination(&path, &headers, &extensions), None);
        CallState::edit(&mut extensions, |state| state.set_destination("ledger"));
        assert_eq!(destination(&path, &headers, &extensions), Some("ledger"));
        headers.insert(header::HOST, http::HeaderValue::from_static("h.example"));
        assert_eq!(destination(&path, &headers, &extensions), Some("h.example"));
        let full = Uri::from_static("http://a.example/v1");
        assert_eq!(destination(&full, &headers, &extensions), Some("a.example"));
    }
}
