//! One error, bare and wrapped, and a client to get it from.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http_body_util::Full;
use steadfast_core::{BoxError, Classify, Delivery, Verdict};
use steadfast_reqwest::{Leaf, ReqwestClassify, client_builder};
use tokio::net::TcpListener;

pub(crate) const UNSENT: Verdict = Verdict::Transient(Delivery::Unsent);
pub(crate) const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);
pub(crate) const INVALID: Verdict = Verdict::Permanent(Delivery::Unsent);

/// A layer's error around another, as people write them.
#[derive(Debug)]
struct Around(BoxError);

impl fmt::Display for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("something around")
    }
}

impl Error for Around {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// The verdict, which no wrapping may change (O-14).
pub(crate) fn verdict(error: impl Error + Send + Sync + 'static) -> Verdict {
    let bare = ReqwestClassify.error(&error);
    let boxed: BoxError = Box::new(Box::new(error));
    assert_eq!(ReqwestClassify.error(&*boxed), bare, "in a box in a box");
    let around: BoxError = Box::new(Around(Box::new(Around(boxed))));
    assert_eq!(ReqwestClassify.error(&*around), bare, "in two errors");
    let io = io::Error::other(around);
    assert_eq!(ReqwestClassify.error(&io), bare, "in an I/O error");
    bare
}

pub(crate) fn leaf() -> Leaf {
    Leaf::new(client_builder().no_proxy().build().unwrap())
}

pub(crate) fn http2() -> Leaf {
    let client = client_builder().no_proxy().http2_prior_knowledge();
    Leaf::new(client.build().unwrap())
}

pub(crate) fn full(text: &'static str) -> Full<Bytes> {
    Full::new(Bytes::from(text))
}

/// Where nobody listens.
pub(crate) async fn closed_port() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    listener.local_addr().unwrap()
}
