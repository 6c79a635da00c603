//! What does the next hop read? Pure: `(config, what is known, headers) -> headers`.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use steadfast_core::{Announced, TimeoutFormat, grpc};

use crate::PropagateConfig;
use crate::due::is_grpc;

/// Less time is left than a header can tell: the attempt is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLate;

/// How much time is left; `None` where there is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    /// Up to the end of the call.
    pub(super) call: Option<Duration>,
    /// Up to the end of this attempt, never more than the call's.
    pub(super) attempt: Option<Duration>,
}

/// Replaces the headers of time by what is left.
///
/// A time of the request's own that is shorter stays: nothing here lengthens a limit. Where there
/// is no deadline, only gRPC's is kept, which callers set themselves (tonic's `set_timeout`);
/// others are another hop's, copied. One that cannot be read goes.
pub(super) fn time_left(
    config: &PropagateConfig,
    left: Left,
    headers: &mut HeaderMap,
) -> Result<(), TooLate> {
    let grpc = is_grpc(headers);
    let less = |left: Duration| left.saturating_sub(config.margin());
    let call = left.call.map_or(Duration::MAX, less);
    let attempt = left.attempt.map_or(Duration::MAX, less);
    for header in config.headers() {
        let applies = match header.format() {
            TimeoutFormat::Grpc => grpc,
            TimeoutFormat::Connect => !grpc,
            _ => true,
        };
        // Of a gRPC call it covers the stream, which may go on after the head.
        let left = if grpc { call } else { attempt };
        let counts = left != Duration::MAX || header.format() == TimeoutFormat::Grpc;
        let lines = headers.get_all(header.name()).iter();
        let own = lines
            .filter_map(|line| header.format().decode(line.as_bytes()).ok())
            .min()
            .filter(|_| counts);
        let told = match applies {
            true => header
                .format()
                .encode(own.map_or(left, |own| own.min(left))),
            false => Announced::Nothing,
        };
        match told {
            Announced::Left(value) => drop(headers.insert(header.name(), value)),
            Announced::Nothing => drop(headers.remove(header.name())),
            Announced::TooLittle => return Err(TooLate),
        }
    }
    // Also where no header applies to this request.
    if attempt.is_zero() {
        Err(TooLate)
    } else {
        Ok(())
    }
}

/// Puts the operation's id in the place of another; leaves the request's own where there is none.
pub(super) fn operation(config: &PropagateConfig, id: Option<&str>, headers: &mut HeaderMap) {
    let value = id.and_then(|id| HeaderValue::from_str(id).ok());
    if let (Some(name), Some(value)) = (config.operation_header(), value) {
        headers.insert(name, value);
    }
}

/// Tells which attempt this is; one that nobody counted is the first.
pub(super) fn attempt(config: &PropagateConfig, number: u32, headers: &mut HeaderMap) {
    match config.attempt_header() {
        Some(name) if *name != grpc::PREVIOUS_ATTEMPTS => {
            headers.insert(name, number.into());
        }
        Some(name) if number > 1 => drop(headers.insert(name, (number - 1).into())),
        Some(name) => drop(headers.remove(name)),
        None => {}
    }
}

/// Tells how long ago the call began.
pub(super) fn age(config: &PropagateConfig, age: Option<Duration>, headers: &mut HeaderMap) {
    let Some(name) = config.age_header() else {
        return;
    };
    match age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)) {
        Some(age) => drop(headers.insert(name, age.into())),
        None => drop(headers.remove(name)),
    }
}

#[cfg(test)]
mod tests;
