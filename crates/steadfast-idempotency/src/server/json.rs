//! JSON with the differences that do not matter taken out.

use std::borrow::Cow;

/// As deep as serde_json goes by default: deeper values are compared byte by byte.
const DEPTH: usize = 128;

/// A value with its strings decoded, its numbers as they were written and its members sorted.
///
/// Numbers stay text: through a double, two amounts of eighteen digits would be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json<'a> {
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
    Array(Vec<Json<'a>>),
    String(Cow<'a, str>),
    /// A number, `true`, `false` or `null`.
    Plain(&'a str),
}

impl<'a> Json<'a> {
    /// None: it is no JSON, is too deep, or says a member twice, so that readers differ about it.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        // The grammar is serde_json's business; what follows only takes apart.
        serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
        Reader { text, at: 0 }.value(DEPTH)
    }

    /// The value at a JSON Pointer (RFC 6901).
    pub(super) fn at(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer
            .strip_prefix('/')?
            .split('/')
            .try_fold(self, |value, token| {
                let token = token.replace("~1", "/").replace("~0", "~");
                match value {
                    Json::Object(members) => {
                        let found = members.iter().find(|(name, _)| *name == token);
                        found.map(|(_, value)| value)
                    }
                    Json::Array(items) => token.parse().ok().and_then(|at: usize| items.get(at)),
                    Json::String(_) | Json::Plain(_) => None,
                }
            })
    }

    /// Feeds the value, each part framed by its kind and length.
    pub(super) fn feed(&self, out: &mut Vec<u8>) {
        match self {
            Self::Object(members) => {
                frame(out, b'{', members.len());
                for (name, value) in members {
                    text(out, name);
                    value.feed(out);
                }
            }
            Self::Array(items) => {
                frame(out, b'[', items.len());
                items.iter().for_each(|item| item.feed(out));
            }
            Self::String(string) => text(out, string),
            Self::Plain(plain) => {
                frame(out, b'=', plain.len());
                out.extend_from_slice(plain.as_bytes());
            }
        }
    }
}

fn frame(out: &mut Vec<u8>, kind: u8, len: usize) {
    out.push(kind);
    out.extend_from_slice(&(len as u64).to_be_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    frame(out, b'"', text.len());
    out.extend_from_slice(text.as_bytes());
}

/// Reads text that is known to be JSON; anything else is None, never a panic.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        let depth = depth.checked_sub(1)?;
        match self.peek()? {
            b'{' => {
                let mut members = Vec::new();
                self.list(b'}', |reader| {
                    let name = reader.string()?;
                    reader.take(b':')?;
                    members.push((name, reader.value(depth)?));
                    Some(())
                })?;
                members.sort_by(|a, b| a.0.cmp(&b.0));
                let twice = members.windows(2).any(|pair| pair[0].0 == pair[1].0);
                (!twice).then_some(Json::Object(members))
            }
            b'[' => {
                let mut items = Vec::new();
                self.list(b']', |reader| {
                    items.push(reader.value(depth)?);
                    Some(())
                })?;
                Some(Json::Array(items))
            }
            b'"' => self.string().map(Json::String),
            _ => {
                let rest = self.text.get(self.at..)?;
                let ends = |c: char| matches!(c, ',' | ']' | '}' | ' ' | '\t' | '\n' | '\r');
                let len = rest.find(ends).unwrap_or(rest.len());
                self.at += len;
                rest.get(..len).map(Json::Plain)
            }
        }
    }

    fn list(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        if self.peek()? == end {
            self.at += 1;
            return Some(());
        }
        loop {
            item(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == end => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.peek().filter(|byte| *byte == b'"')?;
        let start = self.at;
        let mut escaped = false;
        let inside = self.text.as_bytes().get(start + 1..)?;
        let len = inside.iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        })?;
        self.at = start + len + 2;
        let quoted = self.text.get(start..self.at)?;
        let plain = quoted.get(1..len + 1)?;
        match plain.contains('\\') {
            false => Some(Cow::Borrowed(plain)),
            true => serde_json::from_str(quoted).ok().map(Cow::Owned),
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.peek().filter(|next| *next == byte)?;
        self.at += 1;
        Some(())
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }
}
