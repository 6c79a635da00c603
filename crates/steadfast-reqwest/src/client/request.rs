use std::fmt;
use std::future::poll_fn;
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body::Body;
use http_body_util::Full;
use reqwest::Url;
use steadfast_core::{BoxError, CallState, Safety};
use steadfast_deadline::LimitOverride;
use steadfast_hyper::LeafBody;
use steadfast_idempotency::OperationKey;

use super::{Error, Response, Stack};

/// A request in the making; [`send`](Self::send) sends it.
///
/// What is wrong with one of its parts is the error of `send`, the first wrong one.
#[must_use = "nothing is sent before `send`"]
pub struct RequestBuilder<S> {
    stack: S,
    method: Method,
    made: Result<Made, Error>,
}

struct Made {
    url: Url,
    headers: HeaderMap,
    extensions: Extensions,
    body: LeafBody,
}

impl<S> RequestBuilder<S> {
    pub(super) fn new(stack: S, method: Method, url: Result<Url, Error>) -> Self {
        let made = url.map(|url| Made {
            url,
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            body: LeafBody::default(),
        });
        Self {
            stack,
            method,
            made,
        }
    }

    /// Adds a header line.
    pub fn header<N, V>(self, name: N, value: V) -> Self
    where
        N: TryInto<HeaderName, Error: Into<http::Error>>,
        V: TryInto<HeaderValue, Error: Into<http::Error>>,
    {
        self.change(|made| {
            let name = name.try_into().map_err(Into::into)?;
            let value = value.try_into().map_err(Into::into)?;
            made.headers.append(name, value);
            Ok(())
        })
    }

    /// Sets these headers, in place of those of the same names.
    pub fn headers(self, headers: HeaderMap) -> Self {
        self.change(|made| {
            for name in headers.keys() {
                made.headers.remove(name);
            }
            made.headers.extend(headers);
            Ok(())
        })
    }

    /// Sets `Authorization: Bearer` with this token, which is marked as sensitive.
    pub fn bearer_auth(self, token: impl fmt::Display) -> Self {
        self.change(|made| {
            let mut value = HeaderValue::try_from(format!("Bearer {token}"))?;
            value.set_sensitive(true);
            made.headers.insert(AUTHORIZATION, value);
            Ok(())
        })
    }

    /// Adds pairs to the URL's query, percent-encoded.
    pub fn query<K, V>(self, pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        self.change(|made| {
            made.url.query_pairs_mut().extend_pairs(pairs);
            Ok(())
        })
    }

    /// Sets the body. It can be sent again as often as the retry layer likes.
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        self.stream(Full::new(body.into()))
    }

    /// Sets a body that is read while it is sent. A retry layer keeps what went by, up to its
    /// replay limit; beyond that the request goes out once.
    pub fn stream<B>(self, body: B) -> Self
    where
        B: Body<Data: Buf, Error: Into<BoxError>> + Send + 'static,
    {
        self.change(|made| {
            made.body = LeafBody::new(body);
            Ok(())
        })
    }

    /// Sets the body to this value as JSON, and the content type unless there is one.
    #[cfg(feature = "json")]
    pub fn json(self, value: &(impl serde::Serialize + ?Sized)) -> Self {
        self.change(|made| {
            made.typed(
                "application/json",
                serde_json::to_vec(value).map_err(Box::new)?,
            );
            Ok(())
        })
    }

    /// Sets the body to these pairs as a form, and the content type unless there is one.
    pub fn form<K, V>(self, pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        self.change(|made| {
            // The query of a URL is written in the same format.
            let mut scratch = made.url.clone();
            scratch.query_pairs_mut().clear().extend_pairs(pairs);
            let body = scratch.query().unwrap_or_default().to_owned();
            made.typed("application/x-www-form-urlencoded", body);
            Ok(())
        })
    }

    /// Gives the whole call this much time, in place of the limit that its
    /// [`CallLimit`](steadfast_deadline::CallLimit) layer has. A deadline of the request that is
    /// being served may still end it before.
    pub fn timeout(self, limit: Duration) -> Self {
        self.extension(LimitOverride::new(limit))
    }

    /// Sends this key, which the caller has written down with its own record, where the stack's
    /// key layer knows the route to honour keys.
    pub fn operation_key(self, key: OperationKey) -> Self {
        self.extension(key)
    }

    /// Says what a repeat of this request may do; it wins over every other source.
    pub fn safety(self, safety: Safety) -> Self {
        self.change(|made| {
            CallState::edit(&mut made.extensions, |state| state.set_safety(safety));
            Ok(())
        })
    }

    /// Puts a value into the request's extensions: `RetryOverrides` for one.
    pub fn extension<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        self.change(|made| {
            made.extensions.insert(value);
            Ok(())
        })
    }

    /// The request as it would be sent.
    ///
    /// # Errors
    ///
    /// The first part that was wrong.
    pub fn build(self) -> Result<Request<LeafBody>, Error> {
        let made = self.made?;
        let request = Request::builder().method(self.method);
        // A URL of no host, `data:` for one, has no place to be sent to.
        let request = request.uri(made.url.as_str()).body(made.body);
        let mut request = request.map_err(Error::builder)?;
        *request.headers_mut() = made.headers;
        *request.extensions_mut() = made.extensions;
        Ok(request)
    }

    /// Sends the request and waits for the head of its answer, whatever its status.
    ///
    /// Dropped, it ends the call: what the layers hold for it they give back.
    ///
    /// # Errors
    ///
    /// What was wrong with the request, or what the stack ended the call with.
    pub async fn send(self) -> Result<Response<S::Answer>, Error>
    where
        S: Stack,
    {
        let mut stack = self.stack.clone();
        let request = self.build()?;
        poll_fn(|cx| stack.poll_ready(cx))
            .await
            .map_err(Error::call)?;
        let answer = stack.call(request).await.map_err(Error::call)?;
        Ok(Response::new(answer))
    }

    fn change(mut self, change: impl FnOnce(&mut Made) -> Result<(), BoxedHttp>) -> Self {
        if let Ok(made) = &mut self.made {
            if let Err(wrong) = change(made) {
                self.made = Err(Error::builder(wrong.0));
            }
        }
        self
    }
}

impl Made {
    fn typed(&mut self, kind: &'static str, body: impl Into<Bytes>) {
        let kind = HeaderValue::from_static(kind);
        self.headers.entry(CONTENT_TYPE).or_insert(kind);
        self.body = LeafBody::new(Full::new(body.into()));
    }
}

/// So that `?` takes the errors of http and of JSON alike.
struct BoxedHttp(BoxError);

impl<E: Into<BoxError>> From<E> for BoxedHttp {
    fn from(wrong: E) -> Self {
        Self(wrong.into())
    }
}

impl<S> fmt::Debug for RequestBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBuilder")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
