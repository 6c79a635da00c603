//! The program, as it is called.

use std::process::{Command, Output};

fn lab(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_steadfast-lab"))
        .args(line.split_whitespace())
        .output()
        .unwrap()
}

fn printed(line: &str) -> String {
    let output = lab(line);
    assert!(output.status.success(), "{line}: {output:?}");
    assert!(output.stderr.is_empty(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bad_input_is_one_line_and_exit_code_two_and_nothing_written() {
    for line in [
        "",
        "strom",
        "storm --sede 3",
        "storm --capacity 0",
        "storm --json --csv",
        "storm --floor 3",
        "amplify --budget much",
        "amplify --budget -1",
        "amplify --layers 12",
        "payments --reply-loss 1.5",
        "payments --reply-loss NaN",
        "payments --server somebody",
        "payments --all --server none",
        "metastable --load 0",
        "metastable --after 5",
    ] {
        let output = lab(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{line}: {said}");
        assert!(said.starts_with("steadfast-lab: "), "{line}: {said}");
    }
}

#[test]
fn the_same_seed_has_the_same_bytes_in_every_form() {
    for line in ["storm --seeds 3", "amplify", "payments --all"] {
        for form in ["", "--json", "--csv"] {
            let line = format!("{line} {form}");
            assert_eq!(printed(&line), printed(&line), "{line}");
        }
    }
}

#[test]
fn the_tables_are_readable_in_every_form() {
    let text = printed("storm");
    assert!(
        text.contains("\nfull jitter    2499         5.0              45\n"),
        "{text}"
    );
    let csv = printed("storm --csv");
    assert!(csv.contains("\nfull jitter,2499,5.0,45\n"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&printed("storm --json")).unwrap();
    assert_eq!(json["tables"]["policies"][2]["calls"], 2499);
    assert_eq!(json["command"], "storm");
}

#[test]
fn amplify_says_what_each_layer_makes_of_one_request() {
    let text = printed("amplify");
    assert!(text.contains("1 / 4 / 16 / 64"), "{text}");
    assert!(text.contains("1000 x 3 = 3000"), "{text}");
    assert!(text.contains("1331"), "{text}");
}

#[test]
fn lines_fit_a_terminal_of_a_hundred_columns() {
    for line in [
        "storm --costly-rejections",
        "amplify",
        "payments --all",
        "metastable --retries none --load 60% --after 20",
    ] {
        let text = printed(line);
        // The sentences around a table are the terminal's to wrap.
        let rows = text.split("\n\n").skip(1).step_by(2);
        for row in rows.flat_map(str::lines) {
            assert!(row.len() <= 100, "{line}: {row}");
        }
    }
}

#[test]
fn help_has_examples_and_shells_have_completions() {
    for line in [
        "--help",
        "storm --help",
        "amplify --help",
        "payments --help",
        "metastable --help",
    ] {
        assert!(printed(line).contains("Examples:"), "{line}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            printed(&format!("completions {shell}")).contains("metastable"),
            "{shell}"
        );
    }
}
