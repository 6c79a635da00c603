//! HTTP/2 frames (RFC 9113 §4.1), as many kinds as a server needs that knows its client.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Kinds of frames (RFC 9113 §6).
pub(super) mod kind {
    pub(crate) const DATA: u8 = 0x0;
    pub(crate) const HEADERS: u8 = 0x1;
    pub(crate) const RST_STREAM: u8 = 0x3;
    pub(crate) const SETTINGS: u8 = 0x4;
    pub(crate) const PING: u8 = 0x6;
    pub(crate) const GOAWAY: u8 = 0x7;
    pub(crate) const WINDOW_UPDATE: u8 = 0x8;
}

pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;

/// Our own SETTINGS_MAX_FRAME_SIZE and the client's: the initial one (RFC 9113 §6.5.2).
pub(super) const MAX_PAYLOAD: usize = 16_384;

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

/// Reads the client's preface (RFC 9113 §3.4).
pub(super) async fn preface<R: AsyncRead + Unpin>(io: &mut R) -> io::Result<()> {
    let mut preface = [0; 24];
    io.read_exact(&mut preface).await?;
    match &preface == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "no HTTP/2")),
    }
}

impl Frame {
    pub(super) fn new(kind: u8, flags: u8, stream: u32, payload: impl Into<Vec<u8>>) -> Self {
        let payload = payload.into();
        Self {
            kind,
            flags,
            stream,
            payload,
        }
    }

    pub(super) fn settings(payload: &[u8]) -> Self {
        Self::new(kind::SETTINGS, 0, 0, payload)
    }

    pub(super) fn settings_ack() -> Self {
        Self::new(kind::SETTINGS, ACK, 0, [])
    }

    /// The answer to this PING.
    pub(super) fn pong(&self) -> Self {
        Self::new(kind::PING, ACK, 0, self.payload.clone())
    }

    /// Lets the peer send so many bytes more.
    pub(super) fn credit(stream: u32, bytes: usize) -> Self {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX >> 1);
        Self::new(kind::WINDOW_UPDATE, 0, stream, bytes.to_be_bytes())
    }

    pub(super) async fn read<R: AsyncRead + Unpin>(io: &mut R) -> io::Result<Self> {
        let mut head = [0; 9];
        io.read_exact(&mut head).await?;
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = head;
        let length = u32::from_be_bytes([0, l0, l1, l2]) as usize;
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & (u32::MAX >> 1);
        let mut payload = vec![0; length];
        io.read_exact(&mut payload).await?;
        Ok(Self {
            kind,
            flags,
            stream,
            payload,
        })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let [_, l0, l1, l2] = u32::try_from(self.payload.len()).unwrap_or(0).to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        let mut bytes = vec![l0, l1, l2, self.kind, self.flags, s0, s1, s2, s3];
        bytes.extend_from_slice(&self.payload);
        bytes
    }
}
