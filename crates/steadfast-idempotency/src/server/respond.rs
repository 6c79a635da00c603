use std::future::poll_fn;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use tower_service::Service;

use super::answer::Answer;
use super::body::ResponseBody;
use super::collect::{Collect, CollectError};
use super::config::IdempotencyConfig;
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
    let settlement = declared.unwrap_or_else(|| Settlement::of_status(status));
    if settlement == Settlement::Discard {
        let response = Response::from_parts(parts, ResponseBody::inner(body));
        // Only the handler itself can say that nothing happened where nothing is rolled back.
        return Ok(match declared {
            Some(_) => Worked::discard(Ok(response)),
            None => Worked::unknown(Ok(response)),
        });
    }

    let bytes = whole(body, config.response_limit(), guarantee).await?;
    let answer = Answer::new(status, bytes.clone())
        .with_headers(config.replayed_headers().filter(&parts.headers))
        .with_origin(method, path);
    let response = Response::from_parts(parts, ResponseBody::full(bytes));
    Ok(match settlement {
        Settlement::Commit => Worked::commit(Ok(response), answer),
        Settlement::Store => Worked::store(Ok(response), answer),
        Settlement::Discard => Worked::discard(Ok(response)),
    })
}

/// The whole body of an answer that is kept: nothing is sent before it is, so it is read first,
/// and one that cannot be repeated as it is is no end of the operation.
async fn whole<R: Body<Data = Bytes>>(
    body: R,
    limit: usize,
    guarantee: Guarantee,
) -> Result<Bytes, Problem> {
    let undone = guarantee.undone();
    let (code, why) = match Collect::new(body, limit).await {
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
    let marked = http::HeaderValue::from_static("true");
    response
        .headers_mut()
        .insert(config.replay_marker(), marked);
    response
}
