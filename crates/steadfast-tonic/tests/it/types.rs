//! Types that can be named, boxed, cloned and sent.

use steadfast_tonic::*;
use tonic::transport::Channel;

use crate::peer::{Client, Stack};

/// A client in a struct, as a service's state has it.
#[derive(Clone)]
#[allow(dead_code)]
struct State {
    greeter: Client,
}

#[test]
fn stacks_and_layers_can_be_sent_shared_and_cloned() {
    fn shared<T: Clone + Send + Sync + 'static>() -> usize {
        size_of::<T>()
    }
    assert!(shared::<State>() >= shared::<Stack>());
    assert!(shared::<Stack>() > shared::<Leaf<Channel>>());
    shared::<StatusLayer>();
    shared::<DestinationLayer>();
    shared::<ServiceConfigLayer>();
    shared::<ServiceConfig>();
    shared::<LeafLayer>();
    shared::<TonicClassify>();
    shared::<RetryInfo>();
}
