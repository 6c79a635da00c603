use sha2::{Digest, Sha256};
use steadfast_idempotency::server::Operation;

/// The advisory lock that stands for an operation, among all those of the database.
///
/// Each field is framed by its length, so that no two operations share a digest. Two digests with
/// the same first 64 bits make a needless 409 and nothing worse: the unique key guards the effect.
pub(super) fn of_operation(operation: &Operation) -> i64 {
    of([
        operation.namespace(),
        operation.scope(),
        operation.key().as_str(),
    ])
}

/// The lock of who may change the table.
pub(super) fn of_migration() -> i64 {
    of(["migrate"])
}

/// The lock of who sweeps.
pub(super) fn of_sweeper() -> i64 {
    of(["sweep"])
}

/// The lock of who sweeps leases.
pub(super) fn of_lease_sweeper() -> i64 {
    of(["sweep leases"])
}

fn of<'a>(fields: impl IntoIterator<Item = &'a str>) -> i64 {
    let mut hasher = Sha256::new_with_prefix("steadfast-idempotency");
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    let [a, b, c, d, e, f, g, h, ..] = digest;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_framed() {
        assert_ne!(of(["a", "b_c"]), of(["a_b", "c"]));
        assert_ne!(of(["ab", ""]), of(["a", "b"]));
        assert_ne!(of_migration(), of_sweeper());
    }

    /// Processes of two versions must exclude each other.
    #[test]
    fn the_number_of_a_lock_never_changes() {
        assert_eq!(of(["n", "s", "k"]), 3_012_991_953_441_467_081);
    }
}
