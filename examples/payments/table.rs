//! Seed A's table, and what must be true of it.

use std::fmt;

use crate::fault::{FaultPlan, Sending};
use crate::ledger::Count;
use crate::row::Row;

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) row: Row,
    pub(crate) orders: u32,
    /// What the ledger says.
    pub(crate) count: Count,
    /// What the clients say: orders that may or may not be paid.
    pub(crate) unknown: u32,
}

/// The names of the columns.
pub(crate) fn header() -> String {
    format!(
        "{:<23} {:>7} {:>8} {:>11} {:>8}  overcharged",
        "server", "orders", "charges", "duplicates", "unknown"
    )
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            row,
            orders,
            unknown,
            count,
        } = self;
        let Count {
            charges,
            duplicates,
            overcharged_cents,
        } = count;
        let dollars = thousands(overcharged_cents / 100);
        write!(
            f,
            "{row:<23} {orders:>7} {charges:>8} {duplicates:>11} {unknown:>8}  ${dollars}"
        )
    }
}

impl Line {
    /// What this line must say, or the sentence that it breaks.
    pub(crate) fn check(&self, plan: FaultPlan) -> Result<(), String> {
        let Self {
            row,
            orders,
            unknown,
            count,
        } = *self;
        let Count {
            charges,
            duplicates,
            ..
        } = count;
        let holds = match row {
            // With the default loss always so. A run of five orders may lose no answer.
            Row::NoKeysRepeat => {
                let lost = |order| {
                    plan.loses_answer(Sending {
                        row,
                        order,
                        attempt: 1,
                    })
                };
                duplicates > 0 || !(0..orders).any(lost)
            }
            Row::KeyAfterCharge => true,
            Row::KeyInSameTransaction => (charges, duplicates, unknown) == (orders, 0, 0),
            Row::NoKeysDefault => duplicates == 0,
        };
        let rule = match row {
            Row::NoKeysRepeat => "a client that repeats without keys charges twice",
            Row::KeyAfterCharge => "anything may happen",
            Row::KeyInSameTransaction => "every order is charged once, and no outcome is unknown",
            Row::NoKeysDefault => "nothing is charged twice",
        };
        if holds {
            Ok(())
        } else {
            Err(format!("{row} broke its rule: {rule}"))
        }
    }
}

/// `6740` is `6,740`.
fn thousands(amount: i64) -> String {
    match amount {
        0..1_000 => amount.to_string(),
        _ => format!("{},{:03}", thousands(amount / 1_000), amount % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_looks_like_that_of_seed_a() {
        let count = Count {
            charges: 2_337,
            duplicates: 337,
            overcharged_cents: 674_000,
        };
        let line = Line {
            row: Row::NoKeysRepeat,
            orders: 2_000,
            count,
            unknown: 0,
        };
        let printed = "no-keys-repeat             2000     2337         337        0  $6,740";
        assert_eq!(line.to_string(), printed);
    }

    #[test]
    fn a_second_charge_or_an_unknown_outcome_breaks_the_third_row() {
        let line = |charges, duplicates, unknown| {
            let count = Count {
                charges,
                duplicates,
                overcharged_cents: 0,
            };
            Line {
                row: Row::KeyInSameTransaction,
                orders: 2_000,
                count,
                unknown,
            }
        };
        let plan = FaultPlan::new(42, 0.15);
        assert!(line(2_000, 0, 0).check(plan).is_ok());
        assert!(line(2_001, 1, 0).check(plan).is_err());
        assert!(line(1_999, 0, 0).check(plan).is_err());
        assert!(line(2_000, 0, 1).check(plan).is_err());
    }

    #[test]
    fn a_first_row_without_duplicates_is_an_error_only_where_an_answer_was_lost() {
        let count = Count {
            charges: 2_000,
            duplicates: 0,
            overcharged_cents: 0,
        };
        let line = Line {
            row: Row::NoKeysRepeat,
            orders: 2_000,
            count,
            unknown: 0,
        };
        assert!(line.check(FaultPlan::new(42, 0.15)).is_err());
        assert!(line.check(FaultPlan::new(42, 0.0)).is_ok());
    }
}
