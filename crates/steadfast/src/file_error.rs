use std::error::Error;
use std::fmt;

/// Why a file is no policy: one line that names the place and the rule.
///
/// [`Error::source`] is the parser's own error, or what does not fit together, by its type.
#[derive(Debug)]
pub struct PolicyFileError {
    line: Option<usize>,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl PolicyFileError {
    /// A value that is none, or a field that nobody knows.
    pub(crate) fn syntax(text: &str, error: toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        Self {
            line: before.map(|before| before.matches('\n').count() + 1),
            message,
            source: Some(Box::new(error)),
        }
    }

    /// A value that breaks the rule of its field.
    #[cfg(feature = "client")]
    pub(crate) const fn value(message: String) -> Self {
        Self {
            line: None,
            message,
            source: None,
        }
    }

    /// Parts that do not fit together.
    pub(crate) fn conflict(error: impl Error + Send + Sync + 'static) -> Self {
        Self {
            line: None,
            message: error.to_string(),
            source: Some(Box::new(error)),
        }
    }

    /// The line of the file that is wrong, counted from 1, where it is one.
    pub const fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl Error for PolicyFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
