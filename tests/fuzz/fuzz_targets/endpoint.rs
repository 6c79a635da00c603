//! Destinations and path patterns of rules: what is accepted matches what it spells.
#![no_main]

use http::{Extensions, HeaderMap, Uri};
use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_core::Endpoint;

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(data) else {
        return Corpus::Reject;
    };
    let mut lines = text.split('\n');
    let (Some(destination), Some(path)) = (lines.next(), lines.next()) else {
        return Corpus::Reject;
    };
    let endpoint = match Endpoint::new(destination, path) {
        Ok(endpoint) => endpoint,
        Err(error) => {
            assert!(
                !error.to_string().contains('\n'),
                "one line, whatever the value was"
            );
            return Corpus::Keep;
        }
    };
    let matches = |uri: &Uri| endpoint.matches(uri, &HeaderMap::new(), &Extensions::new());
    if let Some(uri) = lines.next().and_then(|uri| uri.parse().ok()) {
        let _ = matches(&uri);
    }
    // A pattern without parameters is a path: the request for it is one that matches.
    if !path.contains(['{', '?', '#']) && destination != "*" {
        if let Ok(uri) = format!("http://{destination}{path}").parse::<Uri>() {
            if uri.path() == path {
                assert!(matches(&uri), "{uri}");
            }
        }
    }
    Corpus::Keep
});
