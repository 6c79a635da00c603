use http::{HeaderValue, Method};
use steadfast_idempotency::server::KeyPolicy;
use steadfast_idempotency::{IDEMPOTENCY_KEY, KeySyntax};

use super::rig::{Req, Server, answer, charge, config, post};

fn with_field(value: &[u8]) -> Req {
    let mut request = post("k", "x");
    let value = HeaderValue::from_bytes(value).unwrap();
    request.headers_mut().insert(IDEMPOTENCY_KEY, value);
    request
}

#[tokio::test(start_paused = true)]
async fn malformed_keys_reach_neither_handler_nor_store() {
    let server = Server::new(charge);
    let quoted = |text: String| format!("\"{text}\"").into_bytes();
    let rows: [(&str, Vec<u8>); 10] = [
        ("empty field", vec![]),
        ("blanks", b"   ".to_vec()),
        ("empty string", b"\"\"".to_vec()),
        ("256 characters", quoted("k".repeat(256))),
        ("control byte", b"\"a\tb\"".to_vec()),
        ("not ASCII", "\"ключ\"".as_bytes().to_vec()),
        (
            "bare UUID, digit first",
            b"8e03978e-40d5-43dd-bc93-6894a57f9324".to_vec(),
        ),
        ("bare token", b"e03978e".to_vec()),
        ("unclosed", b"\"abc".to_vec()),
        ("a list", b"\"a\", \"b\"".to_vec()),
    ];
    for (name, value) in rows {
        assert_eq!(
            server.send(with_field(&value)).await.refusal(),
            "400 key-malformed",
            "{name}"
        );
    }
    let mut twice = post("k", "x");
    twice
        .headers_mut()
        .append(IDEMPOTENCY_KEY, HeaderValue::from_static("\"k\""));
    assert_eq!(server.send(twice).await.refusal(), "400 key-malformed");
    assert_eq!((server.runs(), server.store.steps().len()), (0, 0));

    assert_eq!(
        server
            .send(with_field(&quoted("k".repeat(255))))
            .await
            .status,
        201
    );
    assert_eq!(server.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn lenient_syntax_reads_quoted_and_bare_forms_as_one_key() {
    let server = Server::with(config().with_syntax(KeySyntax::Lenient), charge);
    let bare = b"8e03978e-40d5-43dd-bc93-6894a57f9324";
    assert_eq!(server.send(with_field(bare)).await.status, 201);
    let quoted = b"\"8e03978e-40d5-43dd-bc93-6894a57f9324\"";
    assert!(server.send(with_field(quoted)).await.is_replay());
}

fn keyless() -> Req {
    let mut request = post("k", "x");
    request.headers_mut().remove(IDEMPOTENCY_KEY);
    request
}

#[tokio::test(start_paused = true)]
async fn a_missing_key_is_refused_unless_the_route_lets_it_pass() {
    let server = Server::new(charge);
    assert_eq!(server.send(keyless()).await.refusal(), "400 key-missing");
    assert_eq!((server.runs(), server.store.steps().len()), (0, 0));

    let config = config().with_key_policy(KeyPolicy::Optional);
    let server = Server::with(config, async |_| answer(200, "unprotected"));
    assert_eq!(server.send(keyless()).await.body, "unprotected");
    assert_eq!((server.runs(), server.store.steps().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn on_safe_and_other_methods_a_key_is_ignored_and_nothing_stored() {
    let config = config().with_methods([Method::POST, Method::GET]);
    let server = Server::with(config, async |_| answer(200, "read"));
    let methods = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];
    for (at, method) in methods.into_iter().enumerate() {
        for field in [&b"\"k\""[..], b"\xff"] {
            let mut request = with_field(field);
            *request.method_mut() = method.parse().unwrap();
            assert_eq!(server.send(request).await.status, 200, "{method}");
        }
        assert_eq!(server.runs(), 2 * (at + 1));
    }
    assert_eq!(server.store.steps().len(), 0);
}
