use http::{HeaderName, Response, StatusCode};
use http_body_util::Full;
use steadfast_idempotency::server::ReplayedHeaders;

use super::rig::{Req, Server, config, post, take};

const REPLAYED: [(&str, &str); 9] = [
    ("content-type", "application/json; charset=utf-8"),
    ("content-language", "de"),
    ("content-encoding", "identity"),
    ("location", "/charges/1"),
    ("content-location", "/charges/1.json"),
    ("etag", "W/\"1\""),
    ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("link", "</charges/2>; rel=next"),
    ("x-receipt", "17"),
];

const NOT_REPLAYED: [(&str, &str); 15] = [
    ("set-cookie", "session=1"),
    ("www-authenticate", "Basic"),
    ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("x-request-id", "1"),
    ("traceparent", "00-1"),
    ("ratelimit-limit", "10"),
    ("x-ratelimit-remaining", "9"),
    ("retry-after", "1"),
    ("connection", "close"),
    ("keep-alive", "timeout=5"),
    ("vary", "accept"),
    ("age", "1"),
    ("server", "steady"),
    ("access-control-allow-origin", "*"),
    ("x-unknown", "1"),
];

#[tokio::test(start_paused = true)]
async fn a_replay_equals_the_first_answer_in_what_describes_it_and_in_nothing_else() {
    let receipt = HeaderName::from_static("x-receipt");
    let headers = ReplayedHeaders::default().with(receipt).unwrap();
    let server = Server::with(
        config().with_replayed_headers(headers),
        async |request: Req| {
            take(&request).effects.push("charge".to_owned());
            let mut response = Response::builder().status(StatusCode::CREATED);
            for (name, value) in REPLAYED.into_iter().chain(NOT_REPLAYED) {
                response = response.header(name, value);
            }
            response = response.header("link", "</charges/0>; rel=prev");
            Ok(response.body(Full::from("{\"id\":1}"))?)
        },
    );
    let first = server.send(post("k", "x")).await;
    assert!(!first.is_replay());
    for (name, value) in REPLAYED.into_iter().chain(NOT_REPLAYED) {
        assert_eq!(first.headers[name], value);
    }

    let again = server.send(post("k", "x")).await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    let mut expected = first.headers.clone();
    for (name, _) in NOT_REPLAYED {
        expected.remove(name);
    }
    expected.insert("idempotent-replayed", "true".parse().unwrap());
    assert_eq!(again.headers, expected);
    assert_eq!(again.headers.get_all("link").iter().count(), 2);
    assert_eq!(server.send(post("k", "x")).await, again);
    assert_eq!(server.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_replays_as_an_empty_answer() {
    let server = Server::new(async |request: Req| {
        take(&request).effects.push("charge".to_owned());
        super::rig::answer(204, "")
    });
    server.send(post("k", "x")).await;
    let again = server.send(post("k", "x")).await;
    let names: Vec<_> = again.headers.keys().map(HeaderName::as_str).collect();
    assert_eq!((again.status.as_u16(), again.body.len()), (204, 0));
    assert_eq!(names, ["idempotent-replayed", "idempotency-key-lifetime"]);
}

#[tokio::test(start_paused = true)]
async fn the_marker_is_the_users_to_name() {
    let marker = HeaderName::from_static("x-replayed");
    let server = Server::with(config().with_replay_marker(marker), super::rig::charge);
    server.send(post("k", "x")).await;
    let again = server.send(post("k", "x")).await;
    assert_eq!(again.headers["x-replayed"], "true");
    assert!(!again.is_replay());
}

#[tokio::test(start_paused = true)]
async fn replays_ask_for_no_writer() {
    use super::store::Step;
    let server = Server::new(super::rig::charge);
    server.send(post("k", "x")).await;
    let before = server.store.steps().len();
    server.send(post("k", "x")).await;
    assert_eq!(server.store.steps()[before..], [Step::Find]);
}

#[tokio::test(start_paused = true)]
async fn a_stored_record_holds_no_secret_of_its_exchange() {
    use steadfast_idempotency::server::TxStore;
    let server = Server::new(async |request: Req| {
        take(&request).effects.push("charge".to_owned());
        let mut response = super::rig::answer(201, "receipt 1")?;
        for (name, value) in [
            ("set-cookie", "session=s3cret"),
            ("www-authenticate", "s3cret"),
            ("x-request-id", "s3cret"),
        ] {
            response.headers_mut().insert(name, value.parse()?);
        }
        Ok(response)
    });
    let mut request = post("k", "card=s3cret");
    *request.uri_mut() = "https://user:s3cret@pay.example/charges?token=s3cret"
        .parse()
        .unwrap();
    for (name, value) in [("authorization", "Bearer s3cret"), ("cookie", "c=s3cret")] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    assert_eq!(server.send(request).await.status, 201);
    let operation = crate::leased::rig::operation("k");
    let record = server.store.find(&operation).await.unwrap().unwrap();
    let (method, path) = record.answer.origin.clone().unwrap();
    let kept = format!(
        "{method} {path} {} {record:?} {:?}",
        String::from_utf8_lossy(&record.answer.encode_headers()),
        record.answer.body,
    );
    assert!(
        kept.contains("POST /charges ") && !kept.contains("s3cret"),
        "{kept}"
    );
}
