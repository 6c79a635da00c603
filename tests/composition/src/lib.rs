//! Whole stacks; see `tests/it`.
