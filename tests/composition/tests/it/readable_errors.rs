//! Traits that a user's own type meets: a missing bound must name the trait's purpose, not its
//! plumbing. What the compiler then prints stands in the documentation of each.

use std::fs;
use std::path::Path;

#[test]
fn every_trait_that_users_meet_says_in_words_what_is_missing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, name) in [
        ("crates/steadfast-core/src/classify.rs", "Classify"),
        ("crates/steadfast-core/src/event.rs", "Observe"),
        ("crates/steadfast-core/src/budget.rs", "Budget"),
        ("crates/steadfast-core/src/budget/keyed.rs", "BudgetFor"),
        (
            "crates/steadfast-idempotency/src/server/store.rs",
            "TxStore",
        ),
        ("crates/steadfast-reqwest/src/client/stack.rs", "Stack"),
    ] {
        let source = fs::read_to_string(root.join(file)).unwrap();
        let (before, _) = source.split_once(&format!("pub trait {name}:")).unwrap();
        let (_, attribute) = before
            .rsplit_once("#[diagnostic::on_unimplemented(")
            .unwrap();
        let attribute = attribute.trim_end();
        assert!(
            attribute.ends_with(")]"),
            "{name}: it stands before something else"
        );
        assert!(
            attribute.contains("message = ") && attribute.contains("note = "),
            "{name}"
        );
    }
}
