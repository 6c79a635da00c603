use std::ops::Deref;

use http::Uri;
use http::request::Parts;

/// Where a request was aimed before nested routers stripped their prefixes from its target.
///
/// Pass it to `IdempotencyConfig::with_target` with axum's `OriginalUri` for `T`. Without it
/// `/v1/charges` and `/v2/charges` of two nested routers are both `/charges` to the layer, and a
/// key that is used on both gets the answer of the first instead of a 422. The type is a parameter
/// because this crate knows axum-core only, which has no such type.
///
/// ```
/// use axum::extract::OriginalUri;
/// use steadfast_axum::original_target;
/// use steadfast_idempotency::server::IdempotencyConfig;
///
/// let config = IdempotencyConfig::new(|_| Some("the only caller"))
///     .with_target(original_target::<OriginalUri>);
/// ```
pub fn original_target<T>(parts: &Parts) -> Option<Uri>
where
    T: Deref<Target = Uri> + Send + Sync + 'static,
{
    parts
        .extensions
        .get::<T>()
        .map(|original| (**original).clone())
}
