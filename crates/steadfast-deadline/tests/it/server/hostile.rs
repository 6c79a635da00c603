//! A header says whatever its sender likes.

use proptest::prelude::*;

use super::*;

const NAMES: [&str; 3] = [ENVOY, "connect-timeout-ms", "grpc-timeout"];

fn end_of(lines: &[(usize, Vec<u8>)], grpc: bool) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let handler: Handler = Probe::script([Step::never()]);
        let config = InboundConfig::new().with_maximum(300 * MS);
        let mut request = Request::new(());
        if grpc {
            let media = "application/grpc".parse().unwrap();
            request.headers_mut().insert("content-type", media);
        }
        for (name, value) in lines {
            let value = http::HeaderValue::from_bytes(value).unwrap();
            request.headers_mut().append(NAMES[*name], value);
        }
        let got = send(&served(config, handler), request).await;
        assert_eq!(got.status.as_u16(), if grpc { 200 } else { 504 });
        got.after
    })
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[0-9]{0,30}[HMSmun]?".prop_map(String::into_bytes),
        "[-+]?[0-9]{1,10}(\\.[0-9]+|e[0-9]+)?[a-zA-Z]?".prop_map(String::into_bytes),
        proptest::collection::vec(prop_oneof![0x20_u8..0x7f, 0x80_u8..=0xff], 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_header_lengthens_or_panics(
        lines in proptest::collection::vec((0..NAMES.len(), value()), 0..5),
        grpc: bool,
    ) {
        prop_assert!(end_of(&lines, grpc) <= 290 * MS);
    }

    #[test]
    fn another_line_never_lengthens(
        lines in proptest::collection::vec((0..NAMES.len(), value()), 1..4),
        grpc: bool,
    ) {
        let all = end_of(&lines, grpc);
        let fewer = end_of(&lines[1..], grpc);
        prop_assert!(all <= fewer, "{all:?} {fewer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_says_nothing_and_is_told_by_name() {
    let log = Log::default();
    let config = InboundConfig::new().with_observer(log.observer());
    for value in ["", "soon", "-1", "1.5", "1e9", "99999999999999999999999"] {
        let handler: Handler = Probe::script([Step::answer(ok())]);
        let request = Request::post("/").header(ENVOY, value).body(()).unwrap();
        assert_eq!(
            send(&served(config.clone(), handler), request).await.status,
            200,
            "{value}"
        );
        assert_eq!(log.take(), [("ignored", None, 0, 0, false)], "{value}");
    }
}
