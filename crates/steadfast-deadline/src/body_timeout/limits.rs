//! Which limits has the body of this answer?

use std::time::{Duration, Instant};

use http::{HeaderMap, StatusCode};
use steadfast_core::{Cut, Deadline};

use crate::due::is_grpc;

/// What is configured. From [`Deadline::NO_LIMIT`] on there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(super) idle: Duration,
    pub(super) total: Duration,
}

/// What the request says about the body of its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) tunnel: bool,
    pub(super) grpc: bool,
    pub(super) due: Deadline,
}

/// The limits of one body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BodyLimits {
    pub(super) idle: Option<Duration>,
    pub(super) end: Option<End>,
}

/// The instant after which nothing more of a body is handed on, the time until then, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) at: Instant,
    pub(super) time: Duration,
    pub(super) cut: Cut,
}

impl Limits {
    /// The limits of the body under this head. The clock is read only where the body has an end.
    pub(super) fn of(
        self,
        asked: Asked,
        status: StatusCode,
        headers: &HeaderMap,
        clock: impl FnOnce() -> Instant,
    ) -> BodyLimits {
        let tunnel = asked.tunnel && status.is_success();
        if tunnel || status == StatusCode::SWITCHING_PROTOCOLS {
            return BodyLimits::default();
        }
        let due = match asked.grpc || is_grpc(headers) {
            true => asked.due,
            false => Deadline::NONE,
        };
        let total = some(self.total);
        let end = (total.is_some() || due != Deadline::NONE).then(|| {
            let now = clock();
            let total = total.map_or(Deadline::NONE, |total| Deadline::after(now, total));
            let cut = match total == due.earliest(total) {
                true => Cut::BodyTotal,
                false => Cut::Deadline,
            };
            let at = due.earliest(total).instant()?;
            let time = at.saturating_duration_since(now);
            (time < Deadline::NO_LIMIT).then_some(End { at, time, cut })
        });
        BodyLimits {
            idle: some(self.idle),
            end: end.flatten(),
        }
    }
}

fn some(limit: Duration) -> Option<Duration> {
    (limit < Deadline::NO_LIMIT).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    #[allow(clippy::disallowed_methods, reason = "any instant will do")]
    fn bodies_have_the_limits_of_their_kind() {
        let now = Instant::now();
        let due = Deadline::after(now, 9 * SECOND);
        let end = |seconds, cut| {
            let time = seconds * SECOND;
            Some(End {
                at: now + time,
                time,
                cut,
            })
        };
        let none = Duration::MAX;
        for (tunnel, grpc, due, status, total, want) in [
            (false, false, due, 200, none, None),
            (false, false, due, 200, 20 * SECOND, end(20, Cut::BodyTotal)),
            (false, true, due, 200, none, end(9, Cut::Deadline)),
            (false, true, due, 200, 20 * SECOND, end(9, Cut::Deadline)),
            (false, true, due, 200, 9 * SECOND, end(9, Cut::BodyTotal)),
            (false, true, due, 200, 5 * SECOND, end(5, Cut::BodyTotal)),
            (false, true, Deadline::NONE, 200, none, None),
            (
                false,
                true,
                Deadline::at(now - SECOND),
                200,
                none,
                Some(End {
                    at: now - SECOND,
                    time: Duration::ZERO,
                    cut: Cut::Deadline,
                }),
            ),
            (true, false, due, 407, SECOND, end(1, Cut::BodyTotal)),
        ] {
            let limits = Limits {
                idle: SECOND,
                total,
            };
            let status = StatusCode::from_u16(status).unwrap();
            let asked = Asked { tunnel, grpc, due };
            let body = limits.of(asked, status, &HeaderMap::new(), || now);
            assert_eq!(body.end, want, "{asked:?} {status} {total:?}");
            assert_eq!(body.idle, Some(SECOND));
        }
    }

    #[test]
    fn what_follows_an_upgrade_has_no_limit_and_reads_no_clock() {
        let limits = Limits {
            idle: SECOND,
            total: SECOND,
        };
        for (tunnel, status) in [(false, 101), (true, 200), (true, 204), (true, 101)] {
            let asked = Asked {
                tunnel,
                grpc: true,
                due: Deadline::NONE,
            };
            let status = StatusCode::from_u16(status).unwrap();
            let body = limits.of(asked, status, &HeaderMap::new(), || unreachable!());
            assert_eq!(body, BodyLimits::default());
        }
    }

    #[test]
    fn an_idle_limit_alone_reads_no_clock() {
        for (idle, want) in [(SECOND, Some(SECOND)), (Duration::MAX, None)] {
            let limits = Limits {
                idle,
                total: Duration::MAX,
            };
            let asked = Asked {
                tunnel: false,
                grpc: false,
                due: Deadline::NONE,
            };
            let body = limits.of(asked, StatusCode::OK, &HeaderMap::new(), || unreachable!());
            assert_eq!(
                body,
                BodyLimits {
                    idle: want,
                    end: None
                }
            );
        }
    }
}
