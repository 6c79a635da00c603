//! What goes wrong, and when: a pure function, so that the same seed gives the same table on every
//! machine, with any number of lanes.

use sha2::{Digest, Sha256};

use crate::row::Row;

/// How often a server that writes the key after the charge dies in between, as in seed A.
const CRASH_GAP: f64 = 0.03;

/// All faults of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultPlan {
    seed: u64,
    loss: f64,
}

/// One sending of one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) row: Row,
    pub(crate) order: u32,
    /// The first is 1.
    pub(crate) attempt: u32,
}

impl FaultPlan {
    /// The plan of this seed, where this share of the answers to an execution is lost.
    pub(crate) const fn new(seed: u64, loss: f64) -> Self {
        Self { seed, loss }
    }

    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the network loses the answer, if this sending is executed. Replays pass.
    pub(crate) fn loses_answer(&self, sending: Sending) -> bool {
        self.draw("lost answer", sending) < self.loss
    }

    /// Whether the server dies after the charge and before the key, if this sending is executed.
    pub(crate) fn dies_in_gap(&self, sending: Sending) -> bool {
        sending.row == Row::KeyAfterCharge && self.draw("death in the gap", sending) < CRASH_GAP
    }

    /// A number in [0, 1) that depends on nothing but its arguments.
    fn draw(&self, fault: &str, sending: Sending) -> f64 {
        let mut hash = Sha256::new();
        hash.update(self.seed.to_be_bytes());
        hash.update(sending.order.to_be_bytes());
        hash.update(sending.attempt.to_be_bytes());
        // Two texts of varying length need something between them.
        hash.update(sending.row.name());
        hash.update([0]);
        hash.update(fault);
        let digest: [u8; 32] = hash.finalize().into();
        let head = digest[..8]
            .iter()
            .fold(0_u64, |head, byte| head << 8 | u64::from(*byte));
        // The 53 bits that a float between 0 and 1 holds exactly.
        (head >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sendings(row: Row) -> impl Iterator<Item = Sending> {
        (0..5_000).flat_map(move |order| {
            (1..=4).map(move |attempt| Sending {
                row,
                order,
                attempt,
            })
        })
    }

    #[test]
    fn the_same_seed_gives_the_same_faults_in_every_release() {
        let plan = FaultPlan::new(42, 0.15);
        let lost = |row| -> Vec<u32> {
            let orders = (0..60).filter(|order| {
                plan.loses_answer(Sending {
                    row,
                    order: *order,
                    attempt: 1,
                })
            });
            orders.collect()
        };
        assert_eq!(lost(Row::NoKeysRepeat), LOST_42);
        assert_ne!(lost(Row::KeyInSameTransaction), LOST_42);
    }

    #[test]
    fn another_seed_order_or_attempt_gives_other_faults() {
        let sending = Sending {
            row: Row::KeyAfterCharge,
            order: 7,
            attempt: 1,
        };
        let draw = |seed, sending| FaultPlan::new(seed, 0.5).draw("lost answer", sending);
        let first = draw(42, sending);
        assert_ne!(first, draw(43, sending));
        assert_ne!(
            first,
            draw(
                42,
                Sending {
                    order: 8,
                    ..sending
                }
            )
        );
        assert_ne!(
            first,
            draw(
                42,
                Sending {
                    attempt: 2,
                    ..sending
                }
            )
        );
        assert_ne!(
            first,
            draw(
                42,
                Sending {
                    row: Row::NoKeysRepeat,
                    ..sending
                }
            )
        );
        assert_ne!(
            first,
            FaultPlan::new(42, 0.5).draw("death in the gap", sending)
        );
    }

    #[test]
    fn faults_come_as_often_as_they_should() {
        let plan = FaultPlan::new(42, 0.15);
        for row in Row::ALL {
            let lost = sendings(row)
                .filter(|sending| plan.loses_answer(*sending))
                .count();
            let died = sendings(row)
                .filter(|sending| plan.dies_in_gap(*sending))
                .count();
            // 20,000 draws: five standard deviations are 1.3% and 0.6%.
            let (lost, died) = (lost as f64 / 20_000.0, died as f64 / 20_000.0);
            assert!((lost - 0.15).abs() < 0.013, "{row}: {lost}");
            let deaths = if row == Row::KeyAfterCharge {
                CRASH_GAP
            } else {
                0.0
            };
            assert!((died - deaths).abs() < 0.006, "{row}: {died}");
        }
    }

    #[test]
    fn no_loss_loses_nothing_and_full_loss_everything() {
        let row = Row::NoKeysRepeat;
        assert!(!sendings(row).any(|sending| FaultPlan::new(1, 0.0).loses_answer(sending)));
        assert!(sendings(row).all(|sending| FaultPlan::new(1, 1.0).loses_answer(sending)));
    }

    /// Computed with another implementation.
    const LOST_42: [u32; 11] = [0, 8, 25, 26, 36, 41, 44, 45, 50, 52, 57];
}
