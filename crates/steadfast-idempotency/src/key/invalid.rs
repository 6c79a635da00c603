use std::error::Error;
use std::fmt;

/// A text or a field that is no idempotency key.
///
/// Says the value, shortened and escaped so that it can be logged and sent back, and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    excerpt: Box<str>,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Once,
    StructuredString,
    NotEmpty,
    Length,
    Ascii,
    NotBlank,
}

/// Most bytes of a bad value that an error repeats, before escaping.
const EXCERPT: usize = 40;

impl InvalidKey {
    pub(super) fn new(value: &[u8], rule: Rule) -> Self {
        Self {
            excerpt: excerpt(value),
            rule,
        }
    }

    /// The rule that the value breaks, without the value.
    pub const fn rule(&self) -> &'static str {
        match self.rule {
            Rule::Once => "it must be sent once",
            Rule::StructuredString => {
                "it must be a Structured Field String, in double quotes (RFC 9651 section 3.3.3)"
            }
            Rule::NotEmpty => "it must not be empty",
            Rule::Length => "it must have at most 255 characters",
            Rule::Ascii => "it must be printable ASCII",
            Rule::NotBlank => "it must not be blank",
        }
    }
}

pub(crate) fn excerpt(value: &[u8]) -> Box<str> {
    let shown = &value[..value.len().min(EXCERPT)];
    let more = if shown.len() < value.len() { "..." } else { "" };
    format!("{}{more}", shown.escape_ascii()).into()
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is not an idempotency key: {}",
            self.excerpt,
            self.rule()
        )
    }
}

impl Error for InvalidKey {}
