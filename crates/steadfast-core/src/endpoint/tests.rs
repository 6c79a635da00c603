use http::Uri;

use super::*;

fn matches(endpoint: &Endpoint, uri: &'static str) -> bool {
    endpoint.matches(
        &Uri::from_static(uri),
        &HeaderMap::new(),
        &Extensions::new(),
    )
}

#[test]
fn paths_match_whole_segments() {
    for (pattern, path, want) in [
        ("/charges", "/charges", true),
        ("/charges", "/charges/", false),
        ("/charges", "/charges/1", false),
        ("/charges", "/charge", false),
        ("/charges", "/Charges", false),
        ("/charges", "/v1/charges", false),
        ("/", "/", true),
        ("/", "/charges", false),
        ("/charges/{id}", "/charges/1", true),
        ("/charges/{id}", "/charges", false),
        ("/charges/{id}", "/charges/", false),
        ("/charges/{id}", "/charges/1/capture", false),
        ("/charges/{id}/capture", "/charges/1/capture", true),
        ("/charges/{id}/capture", "/charges//capture", false),
        ("/v1/{*rest}", "/v1/charges/1", true),
        ("/v1/{*rest}", "/v1/", true),
        ("/v1/{*rest}", "/v1", false),
        ("/v1/{*rest}", "/v10/charges", false),
        ("/{*rest}", "/", true),
        ("/{*rest}", "/a//b", true),
        ("/{a}/{*rest}", "/a/b/c", true),
        ("/{a}/{*rest}", "/a", false),
    ] {
        assert_eq!(
            Path::parse(pattern).unwrap().matches(path),
            want,
            "{pattern} {path}"
        );
    }
}

#[test]
fn destinations_match_in_any_case_and_with_the_schemes_own_port() {
    for (declared, uri, want) in [
        ("payments.example", "https://payments.example/", true),
        ("payments.example", "https://PAYMENTS.Example/", true),
        ("Payments.Example", "https://payments.example/", true),
        ("payments.example", "https://payments.example:443/", true),
        ("payments.example:443", "https://payments.example/", true),
        ("payments.example", "http://payments.example:80/", true),
        ("payments.example", "http://payments.example:443/", false),
        (
            "payments.example:8443",
            "https://payments.example:8443/",
            true,
        ),
        ("payments.example:8443", "https://payments.example/", false),
        ("payments.example", "https://payments.example:8443/", false),
        ("payments.example", "https://payments.example.evil/", false),
        ("payments.example", "https://api.payments.example/", false),
        ("[::1]:8080", "http://[::1]:8080/", true),
        ("[::1]", "http://[::1]:80/", true),
        ("[::1]", "http://[::2]/", false),
        ("*", "https://anything:1/", true),
        ("*", "/", true),
        ("payments.example", "/", false),
    ] {
        let endpoint = Endpoint::all_of(declared).unwrap();
        assert_eq!(matches(&endpoint, uri), want, "{declared} {uri}");
    }
}

#[test]
fn an_endpoint_that_cannot_be_is_refused_by_value_and_rule() {
    for bad in [
        "",
        "https://a",
        "a/b",
        "u@a",
        "a b",
        "a:x",
        "a:70000",
        "*.a",
        "::1",
        ":80",
    ] {
        let error = Endpoint::new(bad, "/").unwrap_err().to_string();
        assert!(
            error.contains(bad) && error.contains("must be a host"),
            "{bad}: {error}"
        );
    }
    for (bad, rule) in [
        ("", "begin with a slash"),
        ("charges", "begin with a slash"),
        ("/a?b=c", "without query"),
        ("/ключ", "percent-encoded"),
        ("/a b", "percent-encoded"),
        ("/{*rest}/b", "nothing may follow"),
        ("/*", "a wildcard must be"),
        ("/a{id}", "a wildcard must be"),
    ] {
        let error = Endpoint::new("a", bad).unwrap_err().to_string();
        assert!(
            error.contains(bad) && error.contains(rule),
            "{bad}: {error}"
        );
    }
}
