//! Variables of the environment: a variable in, `true` out if it holds a secret.

use url::Url;

use super::names::is_secret_variable;
use super::tokens::find;
use crate::workspace::Variable;

impl Variable {
    /// Returns `true` if the variable holds a secret: by its name, by the format of its value, or
    /// because its value is not passed on.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        match self.value.as_deref() {
            None => true,
            Some("") => false,
            Some(value) => {
                is_secret_variable(&self.name)
                    || find(value).next().is_some()
                    || has_password(value)
            }
        }
    }
}

/// Returns `true` if a text is an address with a password.
fn has_password(text: &str) -> bool {
    text.contains('@') && Url::parse(text).is_ok_and(|url| url.password().is_some())
}
