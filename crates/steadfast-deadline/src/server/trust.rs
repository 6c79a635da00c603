/// How much of what a request says about its call is believed.
///
/// Whoever is believed can only shorten: a header never gives more time than the server's own
/// maximum or a context that is already in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InboundTrust {
    /// Nothing: no header is looked at, and only the server's maximum holds.
    Nothing,
    /// How long the caller waits. A liar shortens nobody's time but their own.
    #[default]
    Deadline,
    /// Also which attempt this is, who repeats the call and which operation it belongs to, for
    /// callers that are ours: these steer what this server's own clients do and report.
    Everything,
}

impl InboundTrust {
    pub(crate) const fn in_deadline(self) -> bool {
        !matches!(self, Self::Nothing)
    }

    pub(crate) const fn in_attempt(self) -> bool {
        matches!(self, Self::Everything)
    }
}
