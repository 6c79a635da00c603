//! The four rows of the table: what the client believes and what the server does about it.

use std::fmt;

use clap::ValueEnum;

/// One pairing of a client's policy with a server's design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Row {
    /// The server knows no keys; the client was told to repeat anyway.
    NoKeysRepeat,
    /// The server charges, and then remembers the key.
    KeyAfterCharge,
    /// The server commits charge, key and answer together.
    KeyInSameTransaction,
    /// The server knows no keys; the client has Steadfast's defaults.
    NoKeysDefault,
}

impl Row {
    /// The order in which they run and are printed.
    pub(crate) const ALL: [Self; 4] = [
        Self::NoKeysRepeat,
        Self::KeyAfterCharge,
        Self::KeyInSameTransaction,
        Self::NoKeysDefault,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NoKeysRepeat => "no-keys-repeat",
            Self::KeyAfterCharge => "key-after-charge",
            Self::KeyInSameTransaction => "key-in-same-transaction",
            Self::NoKeysDefault => "no-keys-default",
        }
    }

    /// Whether this row's server honours keys.
    pub(crate) const fn has_keys(self) -> bool {
        matches!(self, Self::KeyAfterCharge | Self::KeyInSameTransaction)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad`, so that the table's widths apply.
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_printed_as_it_is_passed_to_a_server_process() {
        for row in Row::ALL {
            let value = row.to_possible_value().unwrap();
            assert_eq!(value.get_name(), row.name());
        }
    }
}
