//! The operator's token, which agents do not have. In: the headers of a request. Out: whether the
//! operator sends it.

use std::fmt;

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use super::error::ApiError;
use super::sessions::Sessions;

/// Token that is required to answer a question, to revoke an answer, and to delete records if the
/// configuration says so. It is stored in memory only.
#[derive(Clone)]
pub struct OperatorToken(String);

impl OperatorToken {
    /// A new one of 192 random bits.
    #[must_use]
    pub fn random() -> Self {
        Self(crate::random::random::<24>())
    }

    /// One that the operator chose; none if it is shorter than 16 characters, which could be
    /// guessed.
    #[must_use]
    pub fn new(token: &str) -> Option<Self> {
        let token = token.trim();
        (token.chars().count() >= 16).then(|| Self(token.to_owned()))
    }

    /// The token, for the terminal of the operator.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a request presents it; compares in a time that tells nothing.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        match self.presented(headers) {
            true => Ok(()),
            false => Err(ApiError::unauthorized()),
        }
    }

    fn presented(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let given = values
            .next()
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim());
        match (given, values.next()) {
            (Some(given), None) => given.as_bytes().ct_eq(self.0.as_bytes()).into(),
            _ => false,
        }
    }
}

/// Who may answer: whoever presents the token, or is signed in with it in a browser.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) token: OperatorToken,
    pub(crate) sessions: Sessions,
}

impl Operator {
    /// Says by which way the operator came.
    ///
    /// # Errors
    /// If it is not the operator.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<&'static str, ApiError> {
        match headers.contains_key(header::AUTHORIZATION) {
            true => self.token.check(headers).map(|()| "operator"),
            false => self.sessions.check(headers).map(|()| "console"),
        }
    }
}

/// Shows that there is one, never which.
impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorToken(…)")
    }
}
