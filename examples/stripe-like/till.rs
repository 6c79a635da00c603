//! The client: a till that charges orders.

use std::time::Duration;

use serde::Deserialize;
use steadfast::client::{Draft, Profile, Standard, StandardLayer};
use steadfast::idempotency::client::{KeyConfig, KeySource, Routes};
use steadfast::idempotency::{KeyFormat, OperationKey};
use steadfast::reqwest::{Client, Error, Leaf, ReqwestClassify, client_builder};
use steadfast::{Backoff, BoxError};
use tower::Layer;

use crate::api::Api;

pub(crate) struct Till {
    client: Client<Standard<Leaf>>,
    charges: String,
    notes: String,
}

/// A charge that was made, and how that went.
#[derive(Debug)]
pub(crate) struct Charge {
    pub(crate) id: String,
    pub(crate) attempts: u32,
    pub(crate) replayed: bool,
}

#[derive(Deserialize)]
struct Receipt {
    id: String,
}

impl Till {
    pub(crate) fn new(api: &Api) -> Result<Self, BoxError> {
        let keys = KeyConfig::new(Routes::new().post(&api.authority(), "/v1/charges")?)
            // A bare text, as Stripe has them, and for as long as Stripe remembers them.
            .with_format(KeyFormat::Raw)
            .with_source(KeySource::RequireExplicit)
            .with_lifetime(Duration::from_secs(24 * 60 * 60));
        let draft = Draft::of(Profile::Payment);
        let policy = draft
            .with_keys(keys)
            // Quick, for a story that is told in a second.
            .with_backoff(Backoff::default().with_base(Duration::from_millis(10)))
            .check()?;
        let layer = StandardLayer::new(policy).with_classify(ReqwestClassify);
        let http = client_builder().no_proxy().user_agent("till/1.0").build()?;
        Ok(Self {
            client: Client::new(layer.layer(Leaf::new(http))),
            charges: api.url("/v1/charges"),
            notes: api.url("/v1/notes"),
        })
    }

    pub(crate) async fn charge(&self, key: &OperationKey, cents: u32) -> Result<Charge, Error> {
        let answer = self
            .client
            .post(&self.charges)
            .bearer_auth("sk_test_7")
            .operation_key(key.clone())
            .form([("amount", cents.to_string().as_str()), ("currency", "eur")])
            .send()
            .await?
            .error_for_status()?;
        let attempts = answer.report().map_or(1, |report| report.attempts);
        let replayed = answer.headers().contains_key("idempotent-replayed");
        let Receipt { id } = answer.json().await?;
        Ok(Charge {
            id,
            attempts,
            replayed,
        })
    }

    /// Leaves a note: a write without a key.
    pub(crate) async fn note(&self, text: &str) -> Result<(), Error> {
        let answer = self.client.post(&self.notes).bearer_auth("sk_test_7");
        answer
            .body(text.to_owned())
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}
