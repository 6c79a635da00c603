use http::StatusCode;

/// Which problem it is. The texts are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// 400: the route requires a key and the request has none.
    KeyMissing,
    /// 400: the key header is there and is not one key.
    KeyMalformed,
    /// 403: the request belongs to no caller.
    ScopeMissing,
    /// 400: the request body broke off.
    BodyUnreadable,
    /// 408: the request body came too slowly.
    BodyTimeout,
    /// 413: the request body is over the limit.
    BodyTooLarge,
    /// 422: the key was used for another request.
    KeyReused,
    /// 422: the key says itself that it is older than what is remembered.
    KeyExpired,
    /// 409 with Retry-After: the same request is running.
    InProgress,
    /// 409 with a long Retry-After: an earlier run was lost, and what it did is not known.
    OutcomeUnknown,
    /// 403: the answer is kept, and this request may not have it any more.
    ReplayRefused,
    /// 503 with Retry-After: the store failed; nothing is committed or a repeat will show it.
    StoreUnavailable,
    /// 503 with Retry-After: the handler took too long and was dropped.
    WorkLimitExceeded,
    /// 503 with Retry-After: the server is going down.
    Interrupted,
    /// 500: the handler panicked.
    HandlerPanicked,
    /// 500: the answer is over the limit, so nothing is kept.
    ResponseTooLarge,
    /// 500: the answer's body failed, so nothing is kept.
    ResponseBodyFailed,
    /// 500: the answer has trailers, which are not stored, so nothing is kept.
    ResponseTrailers,
    /// 500: the answer is informational or an upgrade, so nothing is kept.
    UpgradeRefused,
    /// 500: the handler kept its transaction; the effect was rolled back.
    TransactionNotReturned,
    /// 500: the handler succeeded without its transaction, so its writes are elsewhere.
    TransactionNotUsed,
    /// 500: the handler ended its transaction; its effect may be committed without a record.
    TransactionEnded,
}

impl Code {
    /// The text of the `code` member and the end of `type`.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// The status it is answered with.
    pub const fn status(self) -> StatusCode {
        self.row().1
    }

    /// What `Retry-After` says, in seconds.
    pub const fn retry_after(self) -> Option<u64> {
        match self {
            Self::InProgress
            | Self::StoreUnavailable
            | Self::WorkLimitExceeded
            | Self::Interrupted => Some(1),
            // It takes a probe that finds something, or an operator.
            Self::OutcomeUnknown => Some(60),
            _ => None,
        }
    }

    pub(super) const fn title(self) -> &'static str {
        self.row().2
    }

    const fn row(self) -> (&'static str, StatusCode, &'static str) {
        use StatusCode as S;
        const BROKEN: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;
        const LATER: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
        match self {
            Self::KeyMissing => ("key-missing", S::BAD_REQUEST, "Idempotency key missing"),
            Self::KeyMalformed => ("key-malformed", S::BAD_REQUEST, "Idempotency key malformed"),
            Self::ScopeMissing => ("scope-missing", S::FORBIDDEN, "Caller unknown"),
            Self::BodyUnreadable => ("body-unreadable", S::BAD_REQUEST, "Body unreadable"),
            Self::BodyTimeout => ("body-timeout", S::REQUEST_TIMEOUT, "Body too slow"),
            Self::BodyTooLarge => ("body-too-large", S::PAYLOAD_TOO_LARGE, "Body too large"),
            Self::KeyReused => (
                "key-reused",
                S::UNPROCESSABLE_ENTITY,
                "Idempotency key reused",
            ),
            Self::KeyExpired => (
                "key-expired",
                S::UNPROCESSABLE_ENTITY,
                "Idempotency key expired",
            ),
            Self::OutcomeUnknown => ("outcome-unknown", S::CONFLICT, "Outcome unknown"),
            Self::ReplayRefused => ("replay-refused", S::FORBIDDEN, "Replay refused"),
            Self::InProgress => ("in-progress", S::CONFLICT, "Request in progress"),
            Self::StoreUnavailable => ("store-unavailable", LATER, "Store unavailable"),
            Self::WorkLimitExceeded => ("work-limit-exceeded", LATER, "Handler too slow"),
            Self::Interrupted => ("interrupted", LATER, "Server going down"),
            Self::HandlerPanicked => ("handler-panicked", BROKEN, "Handler panicked"),
            Self::ResponseTooLarge => ("response-too-large", BROKEN, "Response too large"),
            Self::ResponseBodyFailed => ("response-body-failed", BROKEN, "Response body failed"),
            Self::ResponseTrailers => ("response-trailers", BROKEN, "Response has trailers"),
            Self::UpgradeRefused => ("upgrade-refused", BROKEN, "Upgrade refused"),
            Self::TransactionNotReturned => (
                "transaction-not-returned",
                BROKEN,
                "Transaction not returned",
            ),
            Self::TransactionNotUsed => ("transaction-not-used", BROKEN, "Transaction not used"),
            Self::TransactionEnded => ("transaction-ended", BROKEN, "Transaction ended"),
        }
    }
}
