use http::{Request, request};

/// A request of which a [`Probe`](crate::Probe) keeps what a test asks about later.
pub trait Message: Send + 'static {
    /// What is kept: the part that is not the body.
    type Head: Clone + Send + 'static;

    /// Copies it.
    fn head(&self) -> Self::Head;
}

impl<B: Send + 'static> Message for Request<B> {
    type Head = request::Parts;

    fn head(&self) -> request::Parts {
        let mut head = Request::new(()).into_parts().0;
        head.method = self.method().clone();
        head.uri = self.uri().clone();
        head.version = self.version();
        head.headers = self.headers().clone();
        head.extensions = self.extensions().clone();
        head
    }
}

macro_rules! kept_whole {
    ($($kind:ty),*) => {
        $(impl Message for $kind {
            type Head = Self;

            fn head(&self) -> Self {
                self.clone()
            }
        })*
    };
}

kept_whole!((), bool, u32, u64, usize, &'static str, String);
