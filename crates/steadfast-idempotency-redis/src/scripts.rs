use redis::Script;

/// What changes a record, each in one atomic step of the server.
pub(crate) struct Scripts {
    pub(crate) claim: Script,
    pub(crate) say: Script,
    pub(crate) find: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self {
            claim: Script::new(include_str!("../lua/claim.lua")),
            say: Script::new(include_str!("../lua/say.lua")),
            find: Script::new(include_str!("../lua/find.lua")),
        }
    }
}
