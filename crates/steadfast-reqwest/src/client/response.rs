use std::fmt;

use bytes::{Buf, Bytes};
use http::{Extensions, HeaderMap, StatusCode, Version};
use http_body::Body;
use http_body_util::{BodyExt, Limited};
use steadfast_core::{BoxError, Report};

use super::Error;

/// An answer of which the head has come.
///
/// While its body is not read, the layers hold for it what they hold: a place of the bulkhead, the
/// breaker's watch. Dropped, it gives all of that back.
pub struct Response<R> {
    inner: http::Response<R>,
}

impl<R> Response<R> {
    pub(super) const fn new(inner: http::Response<R>) -> Self {
        Self { inner }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The protocol's version.
    pub fn version(&self) -> Version {
        self.inner.version()
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// What layers left beside the answer.
    pub fn extensions(&self) -> &Extensions {
        self.inner.extensions()
    }

    /// How the call went, where it took more than one attempt or ended as a failure.
    pub fn report(&self) -> Option<&Report> {
        self.inner.extensions().get()
    }

    /// The answer itself.
    pub fn into_inner(self) -> http::Response<R> {
        self.inner
    }

    /// An error for a status of 400 and above, with the call's report; the body is dropped.
    ///
    /// # Errors
    ///
    /// The status, see [`Error::status`].
    pub fn error_for_status(self) -> Result<Self, Error> {
        let status = self.status();
        match status.is_client_error() || status.is_server_error() {
            true => Err(Error::status_of(status, self.report().copied())),
            false => Ok(self),
        }
    }
}

impl<R> Response<R>
where
    R: Body<Data: Buf, Error: Into<BoxError>>,
{
    /// The whole body, however long: [`bytes_up_to`](Self::bytes_up_to) where the peer is not
    /// trusted.
    ///
    /// # Errors
    ///
    /// When the body breaks off.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        let body = self.inner.into_body().collect().await;
        Ok(body.map_err(Error::body)?.to_bytes())
    }

    /// The whole body, if it has no more than `limit` bytes.
    ///
    /// # Errors
    ///
    /// When the body breaks off or is longer.
    pub async fn bytes_up_to(self, limit: usize) -> Result<Bytes, Error> {
        let body = Limited::new(self.inner.into_body(), limit).collect().await;
        Ok(body.map_err(Error::body)?.to_bytes())
    }

    /// The whole body as text; bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    ///
    /// When the body breaks off.
    pub async fn text(self) -> Result<String, Error> {
        let bytes = self.bytes().await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The whole body as a value written in JSON.
    ///
    /// # Errors
    ///
    /// When the body breaks off, or is not that JSON.
    #[cfg(feature = "json")]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(Error::decode)
    }
}

impl<R> fmt::Debug for Response<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header values may be secrets.
        f.debug_struct("Response")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
