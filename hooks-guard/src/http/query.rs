//! Query parameters. Takes a query string; returns typed values, or the API error of the first
//! invalid parameter.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::error::ApiError;
use crate::audit::{Filter, UserResponse};
use crate::classify::{Crud, Decision};
use crate::mask;

/// Parameters of a request. If a parameter is repeated, the last value counts.
pub(crate) struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let axum::extract::Query(pairs) = pairs.map_err(|_| {
            ApiError::new(
                axum::http::StatusCode::BAD_REQUEST,
                "INVALID_FILTER",
                "invalid query string; use `name=value` pairs with percent-encoding",
            )
        })?;
        Ok(Self(pairs))
    }
}

/// Documents the parameters that [`Query::filter`] reads.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "the OpenAPI document is generated from the fields"
)]
pub(crate) struct FilterParameters {
    /// Only decisions of this class
    #[param(required = false)]
    classification: Crud,
    /// Only decisions with this answer
    #[param(required = false)]
    response: UserResponse,
    /// Only decisions of this kind; `AUTO_ALLOWED` is allowed without a question
    #[param(required = false)]
    decision: Decision,
    /// Only decisions after this time
    #[param(required = false, format = DateTime)]
    since: String,
    /// Only decisions before this time
    #[param(required = false, format = DateTime)]
    until: String,
    /// Only commands that contain this text, ignoring case
    #[param(required = false)]
    command_filter: String,
    /// Only requests of this agent
    #[param(required = false)]
    agent: String,
    /// Only requests of this session
    #[param(required = false)]
    session_id: String,
}

impl Query {
    /// Returns the value of a parameter; empty if any of its occurrences has no value.
    fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(key, _)| key == name);
        let last = values.clone().next_back();
        let empty = values.find(|(_, value)| value.is_empty());
        empty.or(last).map(|(_, value)| value.as_str())
    }

    /// Returns the text of a parameter. An empty value is an error, for all types of parameters: a
    /// client that failed to compute a value would otherwise get an unfiltered result.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        match self.value(name) {
            Some("") => Err(ApiError::invalid_parameter(
                name,
                "a value; omit it for the default",
            )),
            value => Ok(value),
        }
    }

    /// Parses a number; an invalid or negative one is an error.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, ApiError> {
        self.value(name)
            .map(|text| {
                // Saturates at the maximum.
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                match digits {
                    true => Ok(text.parse().unwrap_or(u64::MAX)),
                    false => Err(ApiError::invalid_parameter(name, "a non-negative integer")),
                }
            })
            .transpose()
    }

    /// Returns the name of an agent or a session in its stored form: secrets in names are masked.
    pub(crate) fn stored_name(&self, name: &str) -> Result<Option<String>, ApiError> {
        Ok(self.text(name)?.map(mask::name))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, ApiError> {
        match self.value(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(ApiError::invalid_parameter(name, "true or false")),
        }
    }

    /// Parses an RFC 3339 time with any offset, or a date, which means midnight UTC. An unescaped
    /// `+` arrives as a space and is accepted.
    pub(crate) fn date(&self, name: &str) -> Result<Option<Timestamp>, ApiError> {
        let Some(text) = self.value(name) else {
            return Ok(None);
        };
        let escaped = text.replace(' ', "+");
        let midnight = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
        [text, escaped.as_str()]
            .iter()
            .find_map(|text| text.parse::<Timestamp>().ok())
            .or_else(|| midnight().map(|date| date.timestamp()))
            .map(Some)
            .ok_or_else(|| ApiError::invalid_date(name))
    }

    /// Parses the filters of the trail. A record has to match all of them.
    pub(crate) fn filter(&self) -> Result<Filter, ApiError> {
        const CLASSES: [Crud; 4] = [Crud::Read, Crud::Create, Crud::Update, Crud::Delete];
        const RESPONSES: [UserResponse; 3] = [
            UserResponse::Approved,
            UserResponse::Denied,
            UserResponse::Timeout,
        ];
        const DECISIONS: [Decision; 2] = [Decision::AutoAllowed, Decision::RequiresConfirmation];
        let names = &["READ", "CREATE", "UPDATE", "DELETE"];
        let classification = self.choice("classification", &CLASSES, names)?;
        let response = self.choice("response", &RESPONSES, &["APPROVED", "DENIED", "TIMEOUT"])?;
        let names = &["AUTO_ALLOWED", "REQUIRES_CONFIRMATION"];
        let decision = self.choice("decision", &DECISIONS, names)?;
        Ok(Filter {
            classification,
            response,
            decision,
            since: self.date("since")?,
            // The end is exclusive. Default: the current time.
            until: Some(self.date("until")?.unwrap_or_else(Timestamp::now)),
            command: self.text("command_filter")?.map(str::to_owned),
            agent: self.stored_name("agent")?,
            session_id: self.stored_name("session_id")?,
        })
    }

    /// Parses a parameter that must be one of `names`.
    pub(crate) fn choice<T: Copy, const N: usize>(
        &self,
        name: &str,
        values: &[T; N],
        names: &'static [&'static str; N],
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.value(name) else {
            return Ok(None);
        };
        match names.iter().position(|name| *name == text) {
            Some(at) => Ok(Some(values[at])),
            None => Err(ApiError::invalid_choice(name, text, names)),
        }
    }
}
