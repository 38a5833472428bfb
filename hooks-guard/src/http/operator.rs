//! The operator's token, which agents do not have. Takes the headers of a request; returns an error
//! if the operator did not send it.

use std::fmt;

use axum::http::{HeaderMap, header};
use subtle::ConstantTimeEq;

use super::error::ApiError;
use super::sessions::Sessions;

/// Token that is required to answer a question, to revoke an answer, and, if configured, to delete
/// records. It is stored in memory only.
#[derive(Clone)]
pub struct OperatorToken(String);

impl OperatorToken {
    /// Returns a random token of 192 bits.
    #[must_use]
    pub fn random() -> Self {
        Self(crate::random::random::<24>())
    }

    /// Returns a token that the operator chose; `None` if it is shorter than 16 characters, which
    /// could be guessed.
    #[must_use]
    pub fn new(token: &str) -> Option<Self> {
        let token = token.trim();
        (token.chars().count() >= 16).then(|| Self(token.to_owned()))
    }

    /// Returns the token as text, for the terminal of the operator.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Checks that a request presents the token; compares in constant time.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let given = bearer_token(headers);
        match given.is_some_and(|given| given.as_bytes().ct_eq(self.0.as_bytes()).into()) {
            true => Ok(()),
            false => Err(ApiError::unauthorized()),
        }
    }
}

/// Returns the bearer token of a request; `None` if there is none, or more than one.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (scheme, token) = values.next()?.to_str().ok()?.split_once(' ')?;
    let is_only = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer");
    is_only.then(|| token.trim())
}

/// Credentials of the operator: the token, or a browser session that was opened with it.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) token: OperatorToken,
    pub(crate) sessions: Sessions,
}

impl Operator {
    /// Returns how the operator was authenticated.
    ///
    /// # Errors
    /// Returns an error if the operator did not send the request.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<&'static str, ApiError> {
        match headers.contains_key(header::AUTHORIZATION) {
            true => self.token.check(headers).map(|()| "operator"),
            false => self.sessions.check(headers).map(|()| "console"),
        }
    }
}

/// Does not reveal the token.
impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorToken(…)")
    }
}
