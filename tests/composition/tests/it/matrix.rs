//! Each layer alone, and the stacks of all of them, over each thing that a layer stands around: a
//! client or server of hyper's or tonic's or a client of reqwest's on real sockets, an axum router, a
//! plain function. One cell a test.

mod client;
mod client_stack;
mod over;
mod served;
mod server;
mod standard;

/// A check of a client's layer as six tests, one for each service below it.
macro_rules! over_each {
    ($($check:ident),+ $(,)?) => {
        mod over_hyper {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::over::Hyper>().await;
            })+
        }
        mod over_hyper_http2 {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::over::Http2>().await;
            })+
        }
        mod over_reqwest {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::over::Reqwest>().await;
            })+
        }
        mod over_tonic {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::over::Tonic>().await;
            })+
        }
        mod over_axum {
            $(#[tokio::test(start_paused = true)]
            async fn $check() {
                super::$check::<crate::matrix::over::Axum>().await;
            })+
        }
        mod over_a_function {
            $(#[tokio::test(start_paused = true)]
            async fn $check() {
                super::$check::<crate::matrix::over::Function>().await;
            })+
        }
    };
}
use over_each;

/// A check of a server's layer as five tests, one for each way to serve.
macro_rules! served_by_each {
    ($($check:ident),+ $(,)?) => {
        mod served_by_hyper {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::served::Hyper>().await;
            })+
        }
        mod served_by_axum {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::served::Axum>().await;
            })+
        }
        mod served_by_axum_as_a_whole {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::served::AxumWhole>().await;
            })+
        }
        mod served_by_tonic {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::served::Tonic>().await;
            })+
        }
        mod called_as_a_function {
            $(#[tokio::test]
            async fn $check() {
                super::$check::<crate::matrix::served::Function>().await;
            })+
        }
    };
}
use served_by_each;
