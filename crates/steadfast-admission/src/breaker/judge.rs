//! What a call shows about its peer, read off its answer or error.

use std::error::Error;
use std::time::Duration;

use http::{Extensions, HeaderMap, StatusCode};
use steadfast_core::grpc::{Code, Transport};
use steadfast_core::{Answer, Cut, Delivery, Elapsed, Failure, Hint, Rejected, Verdict};

use super::BreakerConfig;
use super::circuit::Outcome;
use crate::clock;

/// An answer's head.
#[derive(Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) extensions: &'a Extensions,
}

/// What is known once the head is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    Now(Outcome),
    /// The body has to end well.
    AtEnd(Stream),
}

/// How a body is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Http,
    /// By its trailers; dropped before them it shows nothing.
    Grpc,
}

#[inline]
pub(super) fn answer(config: &BreakerConfig, head: Head<'_>) -> Judged {
    let status = head.status.as_u16();
    if status < 400 {
        if !head.headers.is_empty() && is_grpc(head.headers) {
            return match Code::of(head.headers) {
                Some(code) => Judged::Now(of_code(config, code, head.headers)),
                None => Judged::AtEnd(Stream::Grpc),
            };
        }
        let says = config
            .classify
            .answer(&Answer::new(head.status, head.headers));
        return match says.is_success() {
            true => Judged::AtEnd(Stream::Http),
            false => Judged::Now(Outcome::Failure {
                hint: Duration::ZERO,
            }),
        };
    }
    Judged::Now(failed(config, head))
}

#[cold]
fn failed(config: &BreakerConfig, head: Head<'_>) -> Outcome {
    let says = config
        .classify
        .answer(&Answer::new(head.status, head.headers));
    let outcome = by_status(head.status);
    match outcome {
        _ if says.is_success() => Outcome::Success,
        Outcome::Failure { .. } => Outcome::Failure {
            hint: asked(config, head.headers, Some(head.extensions)),
        },
        other => other,
    }
}

/// 5xx and 408 are the peer's failures. 429 is its word to one caller, and every other 4xx a
/// caller's mistake (O-32).
const fn by_status(status: StatusCode) -> Outcome {
    match status.as_u16() {
        408 | 500.. => Outcome::Failure {
            hint: Duration::ZERO,
        },
        429 => Outcome::Nothing,
        _ => Outcome::Alive,
    }
}

/// What the trailers of a gRPC stream show. Without a status it was cut off.
pub(super) fn trailers(config: &BreakerConfig, trailers: Option<&HeaderMap>) -> Outcome {
    match trailers.and_then(|trailers| Some((Code::of(trailers)?, trailers))) {
        Some((code, trailers)) => of_code(config, code, trailers),
        None => Outcome::Failure {
            hint: Duration::ZERO,
        },
    }
}

fn of_code(config: &BreakerConfig, code: Code, headers: &HeaderMap) -> Outcome {
    match code {
        Code::Ok => Outcome::Success,
        Code::Unknown
        | Code::DeadlineExceeded
        | Code::Internal
        | Code::Unavailable
        | Code::DataLoss => Outcome::Failure {
            hint: asked(config, headers, None),
        },
        // Said to one caller, as 429 is; and a cancelled call was the caller's wish.
        Code::ResourceExhausted | Code::Cancelled => Outcome::Nothing,
        _ => Outcome::Alive,
    }
}

/// How long the peer asked to be left alone, where that is looked at.
fn asked(config: &BreakerConfig, headers: &HeaderMap, extensions: Option<&Extensions>) -> Duration {
    let Some(hints) = &config.hints else {
        return Duration::ZERO;
    };
    // A hint layer below has read it already.
    let known = extensions.and_then(|extensions| extensions.get::<Hint>());
    let hint = known.copied();
    let hint = hint.unwrap_or_else(|| hints.read(headers, clock::wall));
    // A pushback of gRPC's too. That is about one call, but the circuit opens anyhow, and the call
    // that opened it was not to be made again any sooner.
    hint.wait().unwrap_or_default()
}

/// What an error shows, of a call or of a body.
#[cold]
pub(super) fn error(config: &BreakerConfig, error: &(dyn Error + 'static)) -> Outcome {
    // Of a call of several attempts, seen from outside its retry loop: whatever ended it, the peer
    // had its chances.
    let report = Failure::find(error).map(Failure::report);
    if report.is_some_and(|it| it.attempts > 1 && it.outcome == steadfast_core::Outcome::Unknown) {
        return Outcome::Failure {
            hint: Duration::ZERO,
        };
    }
    // The caller's deadline cut it shorter than the time that the peer was to have.
    let cut = Elapsed::find(error).map(Elapsed::cut);
    if cut == Some(Cut::Deadline) || Rejected::find(error).is_some() {
        return Outcome::Nothing;
    }
    match config.classify.error(error) {
        Verdict::Rejected(_) => Outcome::Nothing,
        // It never went out, and never will: the request or the settings are wrong.
        Verdict::Permanent(Delivery::Unsent) => Outcome::Nothing,
        _ => Outcome::Failure {
            hint: Duration::ZERO,
        },
    }
}

/// gRPC over HTTP/2; gRPC-Web has its trailers in the body.
fn is_grpc(headers: &HeaderMap) -> bool {
    Transport::of(headers) == Some(Transport::Http2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    fn of(status: u16) -> Outcome {
        by_status(StatusCode::from_u16(status).unwrap())
    }

    #[test]
    fn a_clients_mistake_is_no_failure_of_the_peers() {
        let failure = Outcome::Failure {
            hint: Duration::ZERO,
        };
        for status in [400, 401, 403, 404, 409, 412, 413, 422, 425] {
            assert_eq!(of(status), Outcome::Alive, "{status}");
        }
        assert_eq!(of(429), Outcome::Nothing);
        for status in [408, 500, 501, 502, 503, 504, 507] {
            assert_eq!(of(status), failure, "{status}");
        }
    }

    #[test]
    fn a_grpc_stream_without_a_status_was_cut_off() {
        let config = BreakerConfig::default();
        assert!(matches!(trailers(&config, None), Outcome::Failure { .. }));
        let empty = HeaderMap::new();
        assert!(matches!(
            trailers(&config, Some(&empty)),
            Outcome::Failure { .. }
        ));
    }

    #[test]
    fn a_call_that_failed_more_than_once_has_failed_whatever_ended_it() {
        use steadfast_core::{Outcome as Effect, Reason, Report};
        let config = BreakerConfig::default();
        let of = |attempts, effect| {
            let report = Report::new(attempts, Duration::ZERO, Some(Reason::Deadline), effect);
            let cut = Elapsed::new(Duration::from_secs(30), Cut::Deadline);
            error(&config, &Failure::new(report, cut))
        };
        assert!(matches!(of(3, Effect::Unknown), Outcome::Failure { .. }));
        assert_eq!(of(1, Effect::Unknown), Outcome::Nothing);
        assert_eq!(of(0, Effect::NotApplied), Outcome::Nothing);
    }

    #[test]
    fn a_timeout_is_the_peers_only_where_it_had_the_time_it_was_to_have() {
        let config = BreakerConfig::default();
        let of = |cut| error(&config, &Elapsed::new(Duration::from_secs(1), cut));
        assert_eq!(of(Cut::Deadline), Outcome::Nothing);
        for cut in [
            Cut::AttemptTimeout,
            Cut::BodyIdle,
            Cut::BodyTotal,
            Cut::Connect,
        ] {
            assert!(matches!(of(cut), Outcome::Failure { .. }), "{cut:?}");
        }
    }
}
