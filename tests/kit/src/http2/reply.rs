use bytes::Bytes;

use super::frame::{END_HEADERS, END_STREAM, Frame, MAX_PAYLOAD, kind};

/// An error code of RFC 9113 §7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Nothing is wrong; in a GOAWAY: the connection ends gracefully.
    pub const NO_ERROR: Self = Self(0x0);
    /// The peer broke.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// The stream was not processed (§8.7).
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(0x8);
    /// The client does too much.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// The peer wants another protocol.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);
}

/// What an [`Http2Server`](super::Http2Server) does with one request, by default when its end was
/// seen.
#[derive(Clone, Debug)]
pub struct Reply {
    acts: Vec<Act>,
    early: bool,
    closes: bool,
}

#[derive(Clone, Debug)]
enum Act {
    Head {
        status: u16,
        headers: Vec<(String, String)>,
        ends: bool,
    },
    Data {
        bytes: Bytes,
        ends: bool,
    },
    Trailers(Vec<(String, String)>),
    Reset(ErrorCode),
    GoAway {
        last: u32,
        code: ErrorCode,
    },
}

impl Reply {
    fn new(acts: impl IntoIterator<Item = Act>) -> Self {
        let acts = acts.into_iter().collect();
        Self {
            acts,
            early: false,
            closes: false,
        }
    }

    /// Nothing, and the stream stays open.
    pub fn stall() -> Self {
        Self::new([])
    }

    /// An answer of this status with this body.
    pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Self {
        let bytes = body.into();
        let head = Act::Head {
            status,
            headers: owned(headers),
            ends: false,
        };
        Self::new([head, Act::Data { bytes, ends: true }])
    }

    /// An answer that ends with trailers.
    pub fn answer_with_trailers(
        status: u16,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
        trailers: &[(&str, &str)],
    ) -> Self {
        let bytes = body.into();
        let head = Act::Head {
            status,
            headers: owned(headers),
            ends: false,
        };
        let data = Act::Data { bytes, ends: false };
        Self::new([head, data, Act::Trailers(owned(trailers))])
    }

    /// An answer of which only a head comes, as gRPC's "trailers only".
    pub fn head_only(status: u16, headers: &[(&str, &str)]) -> Self {
        Self::new([Act::Head {
            status,
            headers: owned(headers),
            ends: true,
        }])
    }

    /// RST_STREAM with this code and nothing before it.
    pub fn reset(code: ErrorCode) -> Self {
        Self::new([Act::Reset(code)])
    }

    /// An answer that breaks off after these bytes of its body, with RST_STREAM.
    pub fn cut(status: u16, body: impl Into<Bytes>, code: ErrorCode) -> Self {
        let bytes = body.into();
        let head = Act::Head {
            status,
            headers: Vec::new(),
            ends: false,
        };
        Self::new([head, Act::Data { bytes, ends: false }, Act::Reset(code)])
    }

    /// GOAWAY that names this stream as the last one that was processed.
    pub fn go_away(last: u32, code: ErrorCode) -> Self {
        Self::new([Act::GoAway { last, code }])
    }

    /// Acts on the request's head, without waiting for its body.
    #[must_use]
    pub fn early(mut self) -> Self {
        self.early = true;
        self
    }

    /// Closes the connection afterwards.
    #[must_use]
    pub fn and_close(mut self) -> Self {
        self.closes = true;
        self
    }

    pub(super) const fn is_early(&self) -> bool {
        self.early
    }

    pub(super) const fn closes(&self) -> bool {
        self.closes
    }

    pub(super) fn frames(&self, stream: u32) -> Vec<Vec<u8>> {
        self.acts
            .iter()
            .flat_map(|act| act.frames(stream))
            .map(|it| it.bytes())
            .collect()
    }
}

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

impl Act {
    fn frames(&self, stream: u32) -> Vec<Frame> {
        let ending = |ends: &bool| if *ends { END_STREAM } else { 0 };
        match self {
            Self::Head {
                status,
                headers,
                ends,
            } => {
                // Literal without indexing, name 8 of the static table (RFC 7541 §6.2.2).
                let mut block = vec![0x08];
                string(&mut block, &status.to_string());
                literals(&mut block, headers);
                vec![Frame::new(
                    kind::HEADERS,
                    END_HEADERS | ending(ends),
                    stream,
                    block,
                )]
            }
            Self::Data { bytes, ends } => {
                let mut frames = bytes
                    .chunks(MAX_PAYLOAD)
                    .map(|chunk| Frame::new(kind::DATA, 0, stream, chunk))
                    .collect::<Vec<_>>();
                match frames.last_mut() {
                    Some(last) => last.flags = ending(ends),
                    None => frames.push(Frame::new(kind::DATA, ending(ends), stream, [])),
                }
                frames
            }
            Self::Trailers(trailers) => {
                let mut block = Vec::new();
                literals(&mut block, trailers);
                vec![Frame::new(
                    kind::HEADERS,
                    END_HEADERS | END_STREAM,
                    stream,
                    block,
                )]
            }
            Self::Reset(code) => {
                vec![Frame::new(
                    kind::RST_STREAM,
                    0,
                    stream,
                    code.0.to_be_bytes(),
                )]
            }
            Self::GoAway { last, code } => {
                let payload = [last.to_be_bytes(), code.0.to_be_bytes()].concat();
                vec![Frame::new(kind::GOAWAY, 0, 0, payload)]
            }
        }
    }
}

/// Literal fields without indexing, with new names (RFC 7541 §6.2.2).
fn literals(block: &mut Vec<u8>, headers: &[(String, String)]) {
    for (name, value) in headers {
        block.push(0x00);
        string(block, name);
        string(block, value);
    }
}

/// A string that is not Huffman coded (RFC 7541 §5.2).
fn string(block: &mut Vec<u8>, text: &str) {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 127);
    block.push(length.unwrap_or_else(|| panic!("{text:?} has 127 bytes or more")));
    block.extend_from_slice(text.as_bytes());
}
