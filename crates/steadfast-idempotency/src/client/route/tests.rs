use http::Uri;

use super::*;

fn matches(route: &Route, method: Method, uri: &'static str) -> bool {
    let uri = Uri::from_static(uri);
    let destination = uri.authority().map(|authority| authority.as_str());
    route.matches(&method, uri.scheme(), destination, uri.path())
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
        let route = Route::write(declared, "/{*any}").unwrap();
        assert_eq!(matches(&route, Method::POST, uri), want, "{declared} {uri}");
    }
}

#[test]
fn a_route_is_for_its_own_methods() {
    let post = Route::post("*", "/a").unwrap();
    let patch = Route::patch("*", "/a").unwrap();
    let write = Route::write("*", "/a").unwrap();
    let delete = Route::method(Method::DELETE, "*", "/a").unwrap();
    for (method, want) in [
        (Method::POST, [true, false, true, false]),
        (Method::PATCH, [false, true, true, false]),
        (Method::DELETE, [false, false, false, true]),
        (Method::PUT, [false; 4]),
        (Method::GET, [false; 4]),
    ] {
        let got = [&post, &patch, &write, &delete].map(|r| matches(r, method.clone(), "/a"));
        assert_eq!(got, want, "{method}");
    }
}

#[test]
fn a_route_that_cannot_be_is_refused_by_value_and_rule() {
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
        let error = Route::post(bad, "/").unwrap_err().to_string();
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
        let error = Route::post("a", bad).unwrap_err().to_string();
        assert!(
            error.contains(bad) && error.contains(rule),
            "{bad}: {error}"
        );
    }
    for safe in [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE] {
        let error = Route::method(safe.clone(), "a", "/")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(safe.as_str()) && error.contains("safe"),
            "{error}"
        );
    }
}
