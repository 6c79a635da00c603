/// What a retry layer does while it works for a request whose caller's loop repeats it
/// ([`CallContext::owner`](steadfast_core::CallContext::owner)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpstreamOwner {
    /// Leaves the repeats to that loop: it sends each call once. Four attempts at each of three
    /// hops are four, not 64.
    #[default]
    PassThrough,
    /// Repeats all the same: for calls that outlive the request they are made for.
    Ignore,
}
