//! The client: hyper-util's, inside the layers of Steadfast.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast::budget::RatioBudget;
use steadfast::deadline::AttemptTimeoutLayer;
use steadfast::hyper::HyperClassify;
use steadfast::idempotency::OperationKey;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{Backoff, BoxError, CallState, Failure, Outcome, Ratio, Report, Safety};
use tower::util::BoxCloneSyncService;
use tower::{ServiceBuilder, ServiceExt};

use crate::attempt::AttemptHeaderLayer;
use crate::ledger::{Charge, Receipt};
use crate::row::Row;
use crate::server::ORDER;

const MAX_ATTEMPTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(3);
/// Short, since nothing here is overloaded: nobody is spared by a longer wait.
const BACKOFF_BASE: Duration = Duration::from_millis(1);
const BACKOFF_CAP: Duration = Duration::from_millis(10);
/// Three retries a call, all that four attempts can make: it never says no. The default, a tenth
/// of the calls, would: more answers are lost than that, and each lost answer whose repeat is
/// refused is an order whose outcome is unknown.
const BUDGET_PERCENT: u32 = 300;

/// What the client believes, for the table's first lines.
pub(crate) fn describe() -> String {
    let default = Row::NoKeysDefault;
    [
        format!("clients: at most {MAX_ATTEMPTS} attempts;"),
        format!("backoff {BACKOFF_BASE:?} to {BACKOFF_CAP:?}, full jitter: nothing is overloaded;"),
        format!(
            "retry budget {BUDGET_PERCENT}% of the calls: the usual 10% is less than the loss;"
        ),
        format!("row {default}: every default"),
    ]
    .join("\n")
}

type Answer = Response<steadfast::retry::ResponseBody<hyper::body::Incoming>>;

/// One sequential client of one payment server.
#[derive(Clone)]
pub(crate) struct PaymentClient {
    stack: BoxCloneSyncService<Request<Full<Bytes>>, Answer, BoxError>,
    url: String,
    /// What the client says about repeats, where it says anything.
    safety: Option<Safety>,
}

/// How an order ended, as far as the client knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Paid {
    /// The server said so.
    Confirmed(Receipt),
    /// It may have happened. Somebody has to look before it is done again.
    Unknown,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) replayed: bool,
    pub(crate) body: Bytes,
    report: Option<Report>,
}

impl PaymentClient {
    /// A client as this row has it, of the server at this address.
    pub(crate) fn new(row: Row, server: SocketAddr) -> Result<Self, BoxError> {
        let retry = match row {
            Row::NoKeysDefault => RetryConfig::default(),
            _ => RetryConfig::default()
                .with_max_attempts(MAX_ATTEMPTS)
                .with_backoff(
                    Backoff::default()
                        .with_base(BACKOFF_BASE)
                        .with_cap(BACKOFF_CAP),
                )
                .with_budget(RatioBudget::new(Ratio::percent(BUDGET_PERCENT)?)),
        };
        // A route is a promise: this server recognises a repeat by its key.
        let routes = match row.has_keys() {
            true => Routes::new().post(&server.to_string(), "/charges")?,
            false => Routes::new(),
        };
        let hyper = Client::builder(TokioExecutor::new())
            // A connection an attempt: one that died in the pool when a server was killed would be
            // a fault that the plan does not know.
            .pool_max_idle_per_host(0)
            .build_http();
        let stack = ServiceBuilder::new()
            .layer(KeyLayer::new(KeyConfig::new(routes)))
            .layer(RetryLayer::new(retry.with_classify(HyperClassify)))
            .layer(AttemptTimeoutLayer::default())
            .layer(AttemptHeaderLayer)
            .service(hyper);
        Ok(Self {
            stack: BoxCloneSyncService::new(stack),
            url: format!("http://{server}/charges"),
            // The lie of the first row: a repeat of this POST is not harmless.
            safety: (row == Row::NoKeysRepeat).then_some(Safety::Idempotent),
        })
    }

    /// Pays one order: one call, however many attempts.
    pub(crate) async fn pay(&self, order: u32, charge: &Charge) -> Result<Paid, BoxError> {
        let reply = match self.send(order, charge, None).await {
            Ok(reply) => reply,
            Err(error) => match Failure::find(&*error).map(|failure| failure.report().outcome) {
                Some(Outcome::Unknown) => return Ok(Paid::Unknown),
                _ => return Err(error),
            },
        };
        match (reply.status, reply.report.map(|report| report.outcome)) {
            (StatusCode::CREATED, _) => Ok(Paid::Confirmed(serde_json::from_slice(&reply.body)?)),
            (_, Some(Outcome::Unknown)) => Ok(Paid::Unknown),
            _ => Err(format!("order {order} was answered {reply}").into()),
        }
    }

    /// Sends one charge, with the key that its owner has for it or the one that the stack makes.
    pub(crate) async fn send(
        &self,
        order: u32,
        charge: &Charge,
        key: Option<OperationKey>,
    ) -> Result<Reply, BoxError> {
        let mut request = Request::post(&self.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(ORDER, order)
            .body(Full::from(serde_json::to_vec(charge)?))?;
        if let Some(safety) = self.safety {
            CallState::edit(request.extensions_mut(), |state| state.set_safety(safety));
        }
        if let Some(key) = key {
            request.extensions_mut().insert(key);
        }
        let (head, body) = self.stack.clone().oneshot(request).await?.into_parts();
        Ok(Reply {
            status: head.status,
            replayed: head.headers.contains_key("idempotent-replayed"),
            report: head.extensions.get().copied(),
            body: body.collect().await?.to_bytes(),
        })
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}
