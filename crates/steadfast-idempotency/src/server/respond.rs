use std::future::poll_fn;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use tower_service::Service;

use super::answer::Answer;
use super::body::ResponseBody;
use super::collect::{Collect, CollectError, Collected};
use super::config::{IdempotencyConfig, StoredBody};
use super::engine::Worked;
use super::execute::Guarantee;
use super::problem::{Code, Problem};
use super::record::Record;
use super::settlement::Settlement;

/// What the layer hands back: an answer, or the inner service's own error.
pub(crate) type Answered<R, E> = Result<Response<ResponseBody<R>>, E>;

/// Gets the handler ready, calls it and settles what is kept of it.
pub(crate) async fn respond<S, B, R>(
    mut service: S,
    request: Request<B>,
    config: &IdempotencyConfig,
    guarantee: Guarantee,
) -> Worked<Answered<R, S::Error>>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Body<Data = Bytes>,
{
    let origin = (request.method().clone(), request.uri().path().to_owned());
    let ready = poll_fn(|cx| service.poll_ready(cx)).await;
    let response = match ready {
        Ok(()) => service.call(request).await,
        Err(error) => Err(error),
    };
    let response = match response {
        Ok(response) => response,
        Err(error) => return Worked::unknown(Err(error)),
    };
    match settle(response, origin, config, guarantee).await {
        Ok(worked) => worked,
        Err(problem) => Worked::unknown(Ok(refusal(problem, config))),
    }
}

async fn settle<R, E>(
    response: Response<R>,
    (method, path): (Method, String),
    config: &IdempotencyConfig,
    guarantee: Guarantee,
) -> Result<Worked<Answered<R, E>>, Problem>
where
    R: Body<Data = Bytes>,
{
    let (mut parts, body) = response.into_parts();
    let status = parts.status;
    if status.is_informational() {
        let undone = guarantee.undone();
        let detail = format!("a {status} answer is no end of an operation; {undone}");
        return Err(Problem::new(Code::UpgradeRefused, detail));
    }
    let declared = parts.extensions.remove::<Settlement>();
    let settlement = declared.unwrap_or_else(|| config.store_policy().settlement(status));
    if settlement == Settlement::Discard {
        let response = Response::from_parts(parts, ResponseBody::inner(body));
        // Only the handler itself can say that nothing happened where nothing is rolled back.
        return Ok(match declared {
            Some(_) => Worked::discard(Ok(response)),
            None => Worked::unknown(Ok(response)),
        });
    }

    let headers = config.replayed_headers().filter(&parts.headers);
    let (body, answer) = match keep(body, config, guarantee).await? {
        Kept::Whole(bytes) => {
            let answer = Answer::new(status, bytes.clone()).with_headers(headers);
            (ResponseBody::full(bytes), answer)
        }
        Kept::Tombstone(body) => (body, tombstone(status, headers)),
    };
    let answer = answer.with_origin(method, path);
    let response = Response::from_parts(parts, body);
    Ok(match settlement {
        Settlement::Commit => Worked::commit(Ok(response), answer),
        Settlement::Store => Worked::store(Ok(response), answer),
        Settlement::Discard => Worked::discard(Ok(response)),
    })
}

/// What is kept of a body, and what its first caller gets.
enum Kept<R> {
    Whole(Bytes),
    Tombstone(ResponseBody<R>),
}

async fn keep<R: Body<Data = Bytes>>(
    body: R,
    config: &IdempotencyConfig,
    guarantee: Guarantee,
) -> Result<Kept<R>, Problem> {
    let limit = config.response_limit();
    let stored = match (config.stored_body(), guarantee) {
        // What a lease did cannot be undone because its answer is long.
        (StoredBody::Whole, Guarantee::Leased) => StoredBody::UpToLimit,
        (stored, _) => stored,
    };
    match stored {
        StoredBody::Never => Ok(Kept::Tombstone(ResponseBody::inner(body))),
        StoredBody::UpToLimit => {
            let hint = body.size_hint();
            if hint.lower() > limit as u64 {
                return Ok(Kept::Tombstone(ResponseBody::inner(body)));
            }
            if hint.upper().is_some_and(|upper| upper <= limit as u64) {
                return whole(body, limit, guarantee).await.map(Kept::Whole);
            }
            // Only one that does not say how long it is has to be movable when half read.
            let mut reading = Collect::new(Box::pin(body), limit);
            match (&mut reading).await {
                Err(CollectError::TooLarge) => {
                    let (first, rest) = reading.into_parts();
                    Ok(Kept::Tombstone(ResponseBody::rest(first, rest)))
                }
                read => readable(read, limit, guarantee).map(Kept::Whole),
            }
        }
        StoredBody::Whole => whole(body, limit, guarantee).await.map(Kept::Whole),
    }
}

/// Says of an answer that its body was not kept.
pub const BODY_OMITTED: HeaderName = HeaderName::from_static("idempotent-body-omitted");

fn tombstone(status: StatusCode, mut headers: HeaderMap) -> Answer {
    // They describe bytes that are not there; an empty body is no gzip.
    for name in [header::CONTENT_TYPE, header::CONTENT_ENCODING] {
        headers.remove(name);
    }
    headers.insert(BODY_OMITTED, HeaderValue::from_static("true"));
    Answer::new(status, Bytes::new()).with_headers(headers)
}

/// The whole body of an answer that is kept: nothing is sent before it is, so it is read first,
/// and one that cannot be repeated as it is is no end of the operation.
async fn whole<R: Body<Data = Bytes>>(
    body: R,
    limit: usize,
    guarantee: Guarantee,
) -> Result<Bytes, Problem> {
    readable(Collect::new(body, limit).await, limit, guarantee)
}

fn readable<E>(
    read: Result<Collected, CollectError<E>>,
    limit: usize,
    guarantee: Guarantee,
) -> Result<Bytes, Problem> {
    let undone = guarantee.undone();
    let (code, why) = match read {
        Ok(collected) if collected.trailers => (
            Code::ResponseTrailers,
            "the answer has trailers, which are not kept for repeats".into(),
        ),
        Ok(collected) => return Ok(collected.bytes),
        Err(CollectError::TooLarge) => (
            Code::ResponseTooLarge,
            format!("the answer is over the limit of {limit} bytes"),
        ),
        Err(CollectError::Body(_)) => (
            Code::ResponseBodyFailed,
            "the answer's body failed before its end".into(),
        ),
    };
    Err(Problem::new(code, format!("{why}; {undone}")))
}

/// A problem as the layer's answer.
pub(crate) fn refusal<R>(
    problem: Problem,
    config: &IdempotencyConfig,
) -> Response<ResponseBody<R>> {
    problem
        .into_response(config.problem_base())
        .map(ResponseBody::full)
}

/// A record as the layer's answer, marked.
pub(crate) fn replay<R>(record: Record, config: &IdempotencyConfig) -> Response<ResponseBody<R>> {
    let answer = record.answer;
    let mut response = Response::new(ResponseBody::full(answer.body));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    let marked = HeaderValue::from_static("true");
    response
        .headers_mut()
        .insert(config.replay_marker(), marked);
    response
}

/// Says on an answer to a key how long the key is remembered, in whole seconds.
pub(crate) fn advertise<R>(response: &mut Response<R>, config: &IdempotencyConfig) {
    /// The largest integer of a structured field (RFC 9651 3.3.1).
    const LARGEST: u64 = 999_999_999_999_999;
    if let Some(name) = config.lifetime_header() {
        let seconds = config.engine().retention().as_secs().min(LARGEST);
        let value = HeaderValue::from(seconds);
        response.headers_mut().insert(name, value);
    }
}
