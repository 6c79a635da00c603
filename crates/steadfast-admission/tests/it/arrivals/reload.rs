//! Another config over a count that goes on.

use super::*;

fn retry() -> Request<()> {
    with("steadfast-attempt", "2/3")
}

fn around(layer: &ArrivalsLayer) -> Server {
    let answer = async |_: Request<()>| Ok(Response::new(Full::from("done")));
    layer.layer(service_fn(answer)).boxed_clone()
}

#[tokio::test(start_paused = true)]
async fn the_count_goes_on_under_another_share() {
    let layer = ArrivalsLayer::default();
    let before = around(&layer);
    for _ in 0..90 {
        assert_eq!(status(&before, first()).await, 200);
    }
    for _ in 0..9 {
        assert_eq!(status(&before, retry()).await, 200);
    }
    let share = Ratio::percent(10).unwrap();
    let after = around(&layer.reconfigured(ArrivalsConfig::default().with_share(share)));
    assert_eq!(status(&after, retry()).await, 200, "10 of 100");
    assert_eq!(status(&after, retry()).await, 503, "11 of 101");
    assert_eq!(status(&before, retry()).await, 200, "by its own share");
    // What came through either is counted for both.
    for _ in 0..20 {
        assert_eq!(status(&before, first()).await, 200);
    }
    assert_eq!(status(&after, retry()).await, 503, "13 of 123");
    for _ in 0..20 {
        assert_eq!(status(&before, first()).await, 200);
    }
    assert_eq!(status(&after, retry()).await, 200, "14 of 144");
}

#[tokio::test(start_paused = true)]
async fn a_config_of_another_window_starts_anew() {
    let layer = ArrivalsLayer::default();
    assert_eq!(until_refused(&around(&layer), 0).await, 19);
    let window = Duration::from_secs(60);
    let next = layer.reconfigured(ArrivalsConfig::default().with_window(window));
    assert_eq!(until_refused(&around(&next), 0).await, 19);
}
