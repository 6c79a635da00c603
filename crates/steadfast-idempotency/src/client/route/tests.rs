use http::Request;

use super::*;

fn matches(route: &Route, method: Method, uri: &'static str) -> bool {
    route.matches(&Request::builder().method(method).uri(uri).body(()).unwrap())
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
fn a_safe_method_gets_no_key_and_says_so() {
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
