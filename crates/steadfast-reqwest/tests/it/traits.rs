//! Types that a user names, boxes and shares.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use steadfast_core::BoxError;
use steadfast_hyper::LeafBody;
use steadfast_reqwest::{
    Client, Error, Leaf, LeafFuture, RequestBuilder, ReqwestClassify, client_builder,
};
use steadfast_retry::{Retry, RetryConfig, RetryLayer};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt};

use crate::wrapped::*;

fn shared<T: Clone + Send + Sync + 'static>(_: &T) {}
fn sent<T: Send>(value: T) -> T {
    value
}

#[test]
fn auto_traits_are_what_clients_need() {
    shared(&leaf());
    shared(&Client::new(leaf()));
    shared(&ReqwestClassify);
    fn is<T: Send + Sync + 'static>() {}
    is::<Error>();
    is::<steadfast_reqwest::Response<reqwest::Body>>();
    fn future<T: Send + Unpin + 'static>() {}
    future::<LeafFuture>();
    future::<RequestBuilder<Leaf>>();
    // The whole call can be spawned.
    drop(sent(Client::new(leaf()).get("http://a.example/").send()));
}

/// A stack has a name, which a struct can hold.
#[derive(Clone)]
struct Till {
    client: Client<Retry<Leaf>>,
}

#[test]
fn a_stack_is_named_in_a_struct() {
    let config = RetryConfig::default().with_classify(ReqwestClassify);
    let till = Till {
        client: Client::new(RetryLayer::new(config).layer(leaf())),
    };
    shared(&till);
    assert!(till.client.get("http://a.example/").build().is_ok());
}

type Boxed = BoxCloneSyncService<Request<LeafBody>, Response<reqwest::Body>, BoxError>;

#[tokio::test]
async fn a_stack_is_boxed() {
    let leaf = ServiceExt::<Request<LeafBody>>::map_err(leaf(), BoxError::from);
    let client = Client::new(Boxed::new(leaf));
    shared(&client);
    let nowhere = format!("http://{}/", closed_port().await);
    assert!(client.get(nowhere).send().await.unwrap_err().is_call());
}

#[test]
fn a_leaf_takes_any_body() {
    fn leaf_of<B>()
    where
        Leaf: Service<Request<B>, Error = reqwest::Error>,
    {
    }
    leaf_of::<Full<Bytes>>();
    leaf_of::<LeafBody>();
    leaf_of::<reqwest::Body>();
    leaf_of::<String>();
    assert!(client_builder().build().is_ok());
}
