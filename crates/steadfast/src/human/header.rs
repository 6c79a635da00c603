use http::HeaderName;
use serde::Deserialize;
use steadfast_core::{TimeoutFormat, TimeoutHeader};

use super::Text;

/// A header that tells the time left.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    name: Text<HeaderName>,
    format: Format,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Format {
    Grpc,
    Connect,
    Millis,
    Seconds,
}

impl From<Header> for TimeoutHeader {
    fn from(Header { name, format }: Header) -> Self {
        let format = match format {
            Format::Grpc => TimeoutFormat::Grpc,
            Format::Connect => TimeoutFormat::Connect,
            Format::Millis => TimeoutFormat::Millis,
            Format::Seconds => TimeoutFormat::Seconds,
        };
        Self::new(name.0, format)
    }
}
