//! A server's policy is replaced while requests go on.

use std::time::Duration;

use http::{Request, StatusCode};
use steadfast::Ratio;
use steadfast::server::{Draft, StandardLayer};
use tower::{Layer, ServiceExt};

use crate::server::{attempt, says};

#[tokio::test(start_paused = true)]
async fn services_made_before_follow_and_the_count_stays() {
    let layer = StandardLayer::default();
    let server = layer.layer(says(String::new));
    for _ in 0..16 {
        server.clone().oneshot(attempt("1/3")).await.unwrap();
    }
    for _ in 0..4 {
        let answer = server.clone().oneshot(attempt("2/3")).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
    }
    let arrivals = Draft::new().arrivals().clone();
    let stricter = Draft::new()
        .with_arrivals(arrivals.with_share(Ratio::percent(10).unwrap()))
        .with_maximum(Duration::from_secs(1));
    layer.handle().reload(stricter.check().unwrap());
    let answer = server.clone().oneshot(attempt("2/3")).await.unwrap();
    assert_eq!(
        answer.status(),
        StatusCode::SERVICE_UNAVAILABLE,
        "5 of 21 are known"
    );
    let deadline = server.oneshot(Request::new(())).await.unwrap();
    assert_eq!(deadline.status(), StatusCode::OK);
    assert_eq!(
        layer.handle().policy().as_draft().deadline().maximum(),
        Duration::from_secs(1)
    );
}
