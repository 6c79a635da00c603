//! Reads HTTP/1.1 messages off a socket without changing a byte of them.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const MAX_HEADERS: usize = 128;
/// Far above any test's head; a peer that sends more is not speaking HTTP.
const MAX_HEAD: usize = 256 * 1024;

/// How the end of a body is found (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// The readable half of a connection, and what was read ahead.
#[derive(Debug)]
pub(crate) struct Reader<R> {
    io: R,
    ahead: BytesMut,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(crate) fn new(io: R) -> Self {
        Self {
            io,
            ahead: BytesMut::new(),
        }
    }

    /// Reads some more; 0 at the end of the stream.
    pub(crate) async fn fill(&mut self) -> io::Result<usize> {
        self.io.read_buf(&mut self.ahead).await
    }

    /// The next request's head and its bytes; `None` if the peer closed before its first byte.
    pub(crate) async fn request(&mut self) -> io::Result<Option<(Request<()>, Bytes)>> {
        self.head(|bytes| {
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut parsed = httparse::Request::new(&mut headers);
            let httparse::Status::Complete(length) = parsed.parse(bytes).map_err(invalid)? else {
                return Ok(None);
            };
            let method = parsed.method.unwrap_or_default().as_bytes();
            let mut request = Request::new(());
            *request.method_mut() = Method::from_bytes(method).map_err(invalid)?;
            *request.uri_mut() = parsed.path.unwrap_or_default().parse().map_err(invalid)?;
            *request.headers_mut() = header_map(parsed.headers)?;
            Ok(Some((request, length)))
        })
        .await
    }

    /// The next answer's head and its bytes; `None` if the peer closed before its first byte.
    pub(crate) async fn response(&mut self) -> io::Result<Option<(Response<()>, Bytes)>> {
        self.head(|bytes| {
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut parsed = httparse::Response::new(&mut headers);
            let httparse::Status::Complete(length) = parsed.parse(bytes).map_err(invalid)? else {
                return Ok(None);
            };
            let mut response = Response::new(());
            *response.status_mut() = parsed
                .code
                .unwrap_or_default()
                .try_into()
                .map_err(invalid)?;
            *response.headers_mut() = header_map(parsed.headers)?;
            Ok(Some((response, length)))
        })
        .await
    }

    async fn head<T>(
        &mut self,
        parse: impl Fn(&[u8]) -> io::Result<Option<(T, usize)>>,
    ) -> io::Result<Option<(T, Bytes)>> {
        loop {
            if let Some((head, length)) = parse(&self.ahead)? {
                return Ok(Some((head, self.ahead.split_to(length).freeze())));
            }
            if self.ahead.len() > MAX_HEAD {
                return Err(invalid("the head is too long"));
            }
            if self.fill().await? == 0 {
                return match self.ahead.is_empty() {
                    true => Ok(None),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// Copies a body, framing included, as its pieces arrive.
    pub(crate) async fn body<W: AsyncWrite + Unpin>(
        &mut self,
        framing: Framing,
        to: &mut W,
    ) -> io::Result<()> {
        match framing {
            Framing::Length(length) => self.copy(length, to).await,
            Framing::UntilClose => loop {
                let length = self.ahead.len() as u64;
                self.copy(length, to).await?;
                if self.fill().await? == 0 {
                    return Ok(());
                }
            },
            Framing::Chunked => {
                while let Some(length) = self.chunk_size(to).await? {
                    // The chunk ends in a line break of its own.
                    self.copy(length.saturating_add(2), to).await?;
                }
                // Trailers, if any, and an empty line.
                while self.line(to).await? > 2 {}
                Ok(())
            }
        }
    }

    /// Copies the line that announces a chunk; `None` for the last one.
    async fn chunk_size<W: AsyncWrite + Unpin>(&mut self, to: &mut W) -> io::Result<Option<u64>> {
        loop {
            match httparse::parse_chunk_size(&self.ahead).map_err(|_| invalid("a chunk's size"))? {
                httparse::Status::Complete((length, size)) => {
                    self.copy(length as u64, to).await?;
                    return Ok((size > 0).then_some(size));
                }
                httparse::Status::Partial => self.fill_more().await?,
            }
        }
    }

    /// Copies one line and says how long it is.
    async fn line<W: AsyncWrite + Unpin>(&mut self, to: &mut W) -> io::Result<u64> {
        loop {
            if let Some(end) = self.ahead.iter().position(|byte| *byte == b'\n') {
                let length = end as u64 + 1;
                self.copy(length, to).await?;
                return Ok(length);
            }
            self.fill_more().await?;
        }
    }

    async fn copy<W: AsyncWrite + Unpin>(&mut self, mut left: u64, to: &mut W) -> io::Result<()> {
        while left > 0 {
            if self.ahead.is_empty() {
                self.fill_more().await?;
            }
            let here = usize::try_from(left)
                .unwrap_or(usize::MAX)
                .min(self.ahead.len());
            to.write_all(&self.ahead[..here]).await?;
            self.ahead.advance(here);
            left -= here as u64;
        }
        to.flush().await
    }

    async fn fill_more(&mut self) -> io::Result<()> {
        match self.fill().await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

impl Reader<tokio::net::tcp::ReadHalf<'_>> {
    /// Waits until there is something to read, or an end.
    pub(crate) async fn arrival(&self) -> io::Result<()> {
        match self.ahead.is_empty() {
            true => self.io.readable().await,
            false => Ok(()),
        }
    }
}

/// The framing of a request's body.
pub(crate) fn request_framing(headers: &HeaderMap) -> io::Result<Framing> {
    Ok(declared(headers)?.unwrap_or(Framing::Length(0)))
}

/// The framing of the body of the answer to `method`.
pub(crate) fn response_framing(method: &Method, answer: &Response<()>) -> io::Result<Framing> {
    let bodiless = matches!(answer.status().as_u16(), 100..=199 | 204 | 304);
    if bodiless || method == Method::HEAD {
        return Ok(Framing::Length(0));
    }
    Ok(declared(answer.headers())?.unwrap_or(Framing::UntilClose))
}

fn declared(headers: &HeaderMap) -> io::Result<Option<Framing>> {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        return Ok(Some(Framing::Chunked));
    }
    let Some(length) = headers.get(header::CONTENT_LENGTH) else {
        return Ok(None);
    };
    let length = length.to_str().map_err(invalid)?.parse().map_err(invalid)?;
    Ok(Some(Framing::Length(length)))
}

fn header_map(parsed: &[httparse::Header<'_>]) -> io::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for header in parsed {
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(invalid)?;
        headers.append(
            name,
            HeaderValue::from_bytes(header.value).map_err(invalid)?,
        );
    }
    Ok(headers)
}

fn invalid(error: impl Into<crate::BoxError>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
