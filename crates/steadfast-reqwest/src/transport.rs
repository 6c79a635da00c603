use steadfast_hyper::DEFAULT_CONNECT_TIMEOUT;

/// The start of a `reqwest::Client` that does what it is told, once.
///
/// Three settings, and nothing else is changed; what is set after them holds:
///
/// - `retry(retry::never())`: by itself reqwest repeats a refused stream up to two times, unseen by
///   budget, attempt count and observer;
/// - `redirect(Policy::none())`: by itself reqwest follows up to ten redirects, with all headers
///   but those of its own short list, so that an idempotency key reaches a host that nobody chose.
///   And a hop that could not be connected would look as if nothing was ever sent;
/// - `connect_timeout`: [`DEFAULT_CONNECT_TIMEOUT`], where reqwest has none. It covers resolving,
///   connecting and the TLS handshake.
///
/// TLS, proxies and protocol versions are the user's, by reqwest's features and settings.
///
/// ```
/// use std::time::Duration;
/// use steadfast_reqwest::{Leaf, client_builder};
///
/// let client = client_builder()
///     .user_agent("till/1.0")
///     .connect_timeout(Duration::from_secs(2))
///     .build()?;
/// let leaf = Leaf::new(client);
/// # let _ = leaf;
/// # Ok::<(), reqwest::Error>(())
/// ```
pub fn client_builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(DEFAULT_CONNECT_TIMEOUT)
}
