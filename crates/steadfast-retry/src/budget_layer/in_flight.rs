use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use http::{Response, StatusCode};
use steadfast_core::budget::{Ending, Permit, Sending};
use steadfast_core::grpc::{Code, RetryableCodes, Transport};
use steadfast_core::{Answer, BoxError, Hint, Verdict};

use super::BudgetLayer;
use super::count::Counter;
use crate::clock;

/// An attempt on its way, of whose end the budget has yet to be told. Told once, at the latest
/// when it is dropped.
pub(super) struct InFlight {
    layer: Arc<BudgetLayer>,
    counter: Option<Arc<Counter>>,
    sending: Sending,
    permit: Option<Permit>,
    sent_at: Instant,
}

impl InFlight {
    pub(super) fn first(
        layer: Arc<BudgetLayer>,
        counter: Option<Arc<Counter>>,
        sent_at: Instant,
    ) -> Self {
        Self {
            layer,
            counter,
            sending: Sending::First,
            permit: Some(Permit::free()),
            sent_at,
        }
    }

    pub(super) fn later(
        layer: Arc<BudgetLayer>,
        counter: Option<Arc<Counter>>,
        permit: Permit,
        sent_at: Instant,
    ) -> Self {
        Self {
            layer,
            counter,
            sending: Sending::Retry,
            permit: Some(permit),
            sent_at,
        }
    }

    pub(super) fn on_answer<R>(mut self, response: &Response<R>) {
        let status = response.status();
        let mut answer = Answer::new(status, response.headers());
        if status.as_u16() >= 400 {
            answer.hint = Hint::of(response.headers(), clock::wall);
        }
        // gRPC's status of an answer without a body stands in the head.
        let code = match Transport::of(response.headers()) {
            Some(Transport::Http2) => Code::of(response.headers()),
            _ => None,
        };
        let verdict = match code {
            Some(code) => code.verdict(RetryableCodes::default()),
            None => self.layer.classify.answer(&answer),
        };
        if let Some(counter) = &self.counter {
            counter.set_throttled(
                status == StatusCode::TOO_MANY_REQUESTS || code == Some(Code::ResourceExhausted),
            );
        }
        self.tell(ending(verdict));
    }

    pub(super) fn on_error(mut self, error: &BoxError) {
        let ending = ending(self.layer.classify.error(&**error));
        if let Some(counter) = &self.counter {
            counter.set_throttled(false);
            if ending == Ending::NotSent {
                counter.uncount_one();
            }
        }
        self.tell(ending);
    }

    fn tell(&mut self, ending: Ending) {
        let Some(mut permit) = self.permit.take() else {
            return;
        };
        // The instant of the sending: where a refused call is taken back, it is from there.
        let Self { layer, sending, .. } = self;
        layer.budget.on_outcome(*sending, ending, self.sent_at);
        match ending {
            // Dropped unsent, the permit gives its cost back.
            Ending::NotSent => {}
            Ending::Success => permit.succeeded(),
            Ending::Failure | Ending::Neither => permit.sent(),
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.tell(Ending::Neither);
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight")
            .field("sending", &self.sending)
            .field("permit", &self.permit)
            .finish_non_exhaustive()
    }
}

fn ending(verdict: Verdict) -> Ending {
    match verdict {
        Verdict::Success => Ending::Success,
        Verdict::Transient(_) | Verdict::Refused | Verdict::PeerSaidNo(_) => Ending::Failure,
        Verdict::Permanent(_) => Ending::Neither,
        Verdict::Rejected(_) => Ending::NotSent,
    }
}
