//! Variables of the environment: a variable in, `true` out if it holds a secret.

use super::names::is_secret_variable;
use super::secrets_in_text;
use crate::workspace::Variable;

/// Returns `true` if a variable holds a secret: by its name, by the format of its value, or because
/// its value is not passed on.
pub(crate) fn is_secret(variable: &Variable) -> bool {
    match variable.value.as_deref() {
        None => true,
        Some("") => false,
        Some(value) => is_secret_variable(&variable.name) || !secrets_in_text(value).is_empty(),
    }
}

impl Variable {
    /// Returns `true` if the variable holds a secret: by its name, by the format of its value, or
    /// because its value is not passed on.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        is_secret(self)
    }
}
