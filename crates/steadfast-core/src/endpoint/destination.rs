use http::uri::Scheme;

use super::InvalidEndpoint;

/// Whose an endpoint is.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    Any,
    Named { host: Box<str>, port: Option<u16> },
}

const RULE: &str = "it must be a host with an optional port, or '*'";

impl Destination {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidEndpoint> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let foreign = |byte: u8| !byte.is_ascii_graphic() || b"/@?#*\"\\".contains(&byte);
        let (host, port) = split(text);
        if host.is_empty() || text.bytes().any(foreign) || (port.is_none() && ends_like_port(host))
        {
            return Err(InvalidEndpoint::new("destination", text, RULE));
        }
        Ok(Self::Named {
            host: host.into(),
            port,
        })
    }

    pub(super) fn matches(&self, scheme: Option<&Scheme>, destination: Option<&str>) -> bool {
        let Self::Named { host, port } = self else {
            return true;
        };
        let Some((other, other_port)) = destination.map(split) else {
            return false;
        };
        let own = match scheme {
            Some(scheme) if *scheme == Scheme::HTTPS => Some(443),
            Some(scheme) if *scheme == Scheme::HTTP => Some(80),
            _ => None,
        };
        host.eq_ignore_ascii_case(other) && port.or(own) == other_port.or(own)
    }
}

/// Host and port; a port that is none stays with the host, so that it matches nothing declared.
fn split(text: &str) -> (&str, Option<u16>) {
    if let Some((host, port)) = text.rsplit_once(':') {
        if let Ok(port) = port.parse() {
            if !host.contains(':') || host.ends_with(']') {
                return (host, Some(port));
            }
        }
    }
    (text, None)
}

/// Whether a colon is left that no IPv6 address in brackets explains.
fn ends_like_port(host: &str) -> bool {
    host.contains(':') && !(host.starts_with('[') && host.ends_with(']'))
}
