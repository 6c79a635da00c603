//! How large a run is.

use clap::{Args, ValueEnum};

use crate::design::Design;

/// Where keys and effects are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    Sqlite,
    Postgres,
}

/// A run's size, and its seed.
#[derive(Clone, Debug, Args)]
pub(crate) struct Plan {
    #[arg(long, value_enum, default_value = "sqlite")]
    pub(crate) store: Store,
    #[arg(long, value_enum, default_value = "sound")]
    pub(crate) design: Design,
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// At least this many keys.
    #[arg(long, default_value_t = 150)]
    pub(crate) keys: u64,
    /// At least this many SIGKILLs.
    #[arg(long, default_value_t = 5)]
    pub(crate) kills: u32,
    /// At least this many restarts of the database.
    #[arg(long, default_value_t = 0)]
    pub(crate) restarts: u32,
    /// The longest a run may take before it is given up.
    #[arg(long, default_value_t = 120)]
    pub(crate) limit_secs: u64,
}

impl Plan {
    /// The default size.
    pub(crate) const fn of(store: Store, seed: u64) -> Self {
        Self {
            store,
            design: Design::Sound,
            seed,
            keys: 150,
            kills: 5,
            restarts: 0,
            limit_secs: 120,
        }
    }
}
