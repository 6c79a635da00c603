use http::Method;
use reqwest::Url;

mod error;
mod request;
mod response;
mod stack;

pub use error::Error;
pub use request::RequestBuilder;
pub use response::Response;
pub use stack::Stack;

/// A client with reqwest's feel over any stack of layers.
///
/// It takes URLs as reqwest does, and puts what a call wants of the layers (time, key, safety) on
/// its request. Below it may be anything that is a [`Stack`]: layers over a
/// [`Leaf`](crate::Leaf), over hyper-util's client, over a router in a test.
///
/// ```no_run
/// use steadfast_reqwest::{Client, Leaf};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Leaf::try_new()?);
/// let greeting = client.get("http://greeter.example/hello").send().await?.text().await?;
/// # let _ = greeting;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Client<S> {
    stack: S,
}

impl<S> Client<S> {
    /// A client that sends through `stack`.
    pub const fn new(stack: S) -> Self {
        Self { stack }
    }

    /// The stack below.
    pub const fn get_ref(&self) -> &S {
        &self.stack
    }
}

impl<S: Clone> Client<S> {
    /// Begins a GET.
    pub fn get(&self, url: impl AsRef<str>) -> RequestBuilder<S> {
        self.request(Method::GET, url)
    }

    /// Begins a HEAD.
    pub fn head(&self, url: impl AsRef<str>) -> RequestBuilder<S> {
        self.request(Method::HEAD, url)
    }

    /// Begins a POST.
    pub fn post(&self, url: impl AsRef<str>) -> RequestBuilder<S> {
        self.request(Method::POST, url)
    }

    /// Begins a PUT.
    pub fn put(&self, url: impl AsRef<str>) -> RequestBuilder<S> {
        self.request(Method::PUT, url)
    }

    /// Begins a PATCH.
    pub fn patch(&self, url: impl AsRef<str>) -> RequestBuilder<S> {
        self.request(Method::PATCH, url)
    }

    /// Begins a DELETE.
    pub fn delete(&self, url: impl AsRef<str>) -> RequestBuilder<S> {
        self.request(Method::DELETE, url)
    }

    /// Begins a request of any method. A text that is no URL is the error of its `send`.
    pub fn request(&self, method: Method, url: impl AsRef<str>) -> RequestBuilder<S> {
        let url = Url::parse(url.as_ref()).map_err(Error::builder);
        RequestBuilder::new(self.stack.clone(), method, url)
    }
}
