//! [`LazyRegex`]: a regular expression that is compiled on first use.

use std::sync::OnceLock;

use regex::Regex;

/// Regular expression that is compiled on first use: compiling all patterns takes longer than
/// classifying a command. `\w` is restricted to ASCII, the alphabet of tokens.
#[derive(Debug)]
pub(crate) struct LazyRegex {
    source: fn() -> String,
    compiled: OnceLock<Regex>,
}

impl LazyRegex {
    /// Returns an expression with the source that a function returns.
    pub(crate) const fn new(source: fn() -> String) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the compiled expression.
    ///
    /// # Panics
    /// Panics if the source is not a regular expression.
    pub(crate) fn get(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let source = (self.source)().replace(r"\w", "[[:word:]]");
            Regex::new(&source).expect("the source is part of this crate, and a test compiles it")
        })
    }
}
