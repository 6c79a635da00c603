//! One error, bare and wrapped.

use std::error::Error;
use std::fmt;
use std::io;

use steadfast_core::{BoxError, Classify, Verdict};
use steadfast_hyper::HyperClassify;

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
    let bare = HyperClassify.error(&error);
    let boxed: BoxError = Box::new(Box::new(error));
    assert_eq!(HyperClassify.error(&*boxed), bare, "in a box in a box");
    let around: BoxError = Box::new(Around(Box::new(Around(boxed))));
    assert_eq!(HyperClassify.error(&*around), bare, "in two errors");
    let io = io::Error::other(around);
    assert_eq!(HyperClassify.error(&io), bare, "in an I/O error");
    bare
}
