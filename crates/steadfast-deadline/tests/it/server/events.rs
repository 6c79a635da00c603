//! What an observer learns of a request's end.

use http::Method;

use super::*;

async fn observed(request: Request<()>, takes: Duration) -> Vec<Told> {
    let log = Log::default();
    let config = InboundConfig::new()
        .with_maximum(900 * MS)
        .with_observer(log.observer());
    let handler: Handler = Probe::script([Step::answer(ok()).after(takes)]);
    send(&served(config, handler), request).await;
    log.take()
}

#[tokio::test(start_paused = true)]
async fn each_end_is_told_with_what_was_left() {
    assert_eq!(
        observed(waiting(300), 100 * MS).await,
        [
            ("received", Some(300), 0, 290, true),
            ("met", Some(300), 100, 190, true)
        ],
    );
    assert_eq!(
        observed(waiting(300), 400 * MS).await,
        [
            ("received", Some(300), 0, 290, true),
            ("expired", Some(300), 290, 0, true)
        ],
    );
    assert_eq!(
        observed(waiting(0), MS).await,
        [
            ("received", Some(0), 0, 0, true),
            ("refused", Some(0), 0, 0, true)
        ],
    );
    assert_eq!(
        observed(Request::new(()), 10 * MS).await,
        [
            ("received", None, 0, 890, true),
            ("met", None, 10, 880, true)
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_end_is_not_told_of() {
    let log = Log::default();
    let config = InboundConfig::new().with_observer(log.observer());
    let handler: Handler = Probe::script([Step::answer(ok())]);
    send(&served(config, handler), Request::new(())).await;
    assert_eq!(log.take(), []);
}

#[tokio::test(start_paused = true)]
async fn events_name_the_method_and_an_ignored_header() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let config = InboundConfig::new().with_observer(move |event: &Event<'_>| {
        let line = match event {
            Event::DeadlineIgnored(it) => (it.subject.method.cloned(), it.name.to_string()),
            Event::DeadlineMet(it) => (it.subject.method.cloned(), "met".into()),
            _ => return,
        };
        sink.lock().unwrap().push(line);
    });
    let handler: Handler = Probe::script([Step::answer(ok())]);
    let mut request = waiting(100);
    request
        .headers_mut()
        .insert("connect-timeout-ms", "x".parse().unwrap());
    send(&served(config, handler), request).await;
    let post = Some(Method::POST);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            (post.clone(), "connect-timeout-ms".to_owned()),
            (post, "met".to_owned())
        ],
    );
}
