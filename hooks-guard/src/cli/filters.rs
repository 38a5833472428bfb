//! Filters of the audit trail. In: options, with values as the commands print them. Out: the
//! selected decisions.

use std::ffi::OsStr;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hooks_guard::audit::{AuditRecord, Filter, UserResponse};
use hooks_guard::classify::{Crud, Decision};
use hooks_runtime::display::escape;
use jiff::Timestamp;

use super::when;

#[derive(Debug, Args)]
pub(super) struct Filters {
    /// Only this class.
    #[arg(long, visible_alias = "class", ignore_case = true, value_parser = classes())]
    classification: Option<Crud>,
    /// Only this answer, as `audit list` prints it, also with its author (`"DENIED by console"`).
    /// `allowed` selects decisions without a question, `pending` open questions.
    #[arg(
        long,
        visible_aliases = ["answer", "status"],
        ignore_case = true,
        value_parser = AnswerParser
    )]
    response: Option<AnswerFilter>,
    /// Only this decision, as `check` prints it, or `allowed`, `"needs approval"`. `DENIED` selects
    /// denials by rules and hooks.
    #[arg(long, ignore_case = true, value_parser = decisions())]
    decision: Option<DecisionFilter>,
    /// Only decisions after this time, such as `yesterday`, `2h`, `3 days`, `2026-05-01` or
    /// `2026-05-01T10:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    since: Option<Timestamp>,
    /// Only decisions before this time.
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    until: Option<Timestamp>,
    /// Only commands that contain this text.
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,
    /// Only requests of this agent.
    #[arg(long)]
    agent: Option<String>,
    /// Only requests of this session.
    #[arg(long, visible_alias = "session")]
    session_id: Option<String>,
}

/// An answer, as `audit list` prints it.
#[derive(Clone, Debug)]
enum AnswerFilter {
    Given(UserResponse),
    /// An answer with its author.
    GivenBy(UserResponse, String),
    /// Allowed without a question.
    Allowed,
    /// Not answered yet.
    Pending,
    /// Left to the agent, which has not reported that the command ran.
    LeftToAgent,
}

/// A decision, as `check` prints it.
#[derive(Clone, Copy, Debug)]
enum DecisionFilter {
    Made(Decision),
    /// Denied by a rule or a hook.
    Denied,
}

/// Returns a parser of the classes, ignoring case.
fn classes() -> impl TypedValueParser<Value = Crud> {
    PossibleValuesParser::new(["READ", "CREATE", "UPDATE", "DELETE"]).try_map(parsed)
}

/// Returns a parser of the decisions, ignoring case.
fn decisions() -> impl TypedValueParser<Value = DecisionFilter> {
    let values = [
        PossibleValue::new("AUTO_ALLOWED").alias("allowed"),
        PossibleValue::new("REQUIRES_CONFIRMATION").alias("needs approval"),
        PossibleValue::new("DENIED"),
    ];
    PossibleValuesParser::new(values).map(|text| match text.to_ascii_lowercase().as_str() {
        "auto_allowed" | "allowed" => DecisionFilter::Made(Decision::AutoAllowed),
        "denied" => DecisionFilter::Denied,
        _ => DecisionFilter::Made(Decision::RequiresConfirmation),
    })
}

/// Parses a value by its JSON name, ignoring case.
fn parsed<T: serde::de::DeserializeOwned>(text: String) -> Result<T, serde_json::Error> {
    serde_json::from_value(text.to_ascii_uppercase().into())
}

/// Parser of the answers, ignoring case.
#[derive(Clone)]
struct AnswerParser;

impl AnswerParser {
    fn values() -> PossibleValuesParser {
        PossibleValuesParser::new([
            PossibleValue::new("APPROVED"),
            PossibleValue::new("DENIED"),
            PossibleValue::new("TIMEOUT"),
            PossibleValue::new("allowed"),
            PossibleValue::new("pending"),
            // `watch` prints the longer text.
            PossibleValue::new("left to agent").alias("left to the agent's prompt"),
        ])
    }
}

impl TypedValueParser for AnswerParser {
    type Value = AnswerFilter;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<AnswerFilter, clap::Error> {
        let text = value.to_string_lossy();
        if let Some((response, by)) = text.split_once(" by ")
            && let Ok(response) = parsed(response.to_owned())
        {
            return Ok(AnswerFilter::GivenBy(response, by.to_owned()));
        }
        let text = Self::values().parse_ref(command, arg, value)?;
        Ok(match text.to_ascii_lowercase().as_str() {
            "approved" => AnswerFilter::Given(UserResponse::Approved),
            "denied" => AnswerFilter::Given(UserResponse::Denied),
            "timeout" => AnswerFilter::Given(UserResponse::Timeout),
            "allowed" => AnswerFilter::Allowed,
            "pending" => AnswerFilter::Pending,
            _ => AnswerFilter::LeftToAgent,
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values: Vec<PossibleValue> = Self::values().possible_values()?.collect();
        Some(Box::new(values.into_iter()))
    }
}

/// The decisions that the options select.
pub(super) struct Selection {
    /// The conditions that the trail evaluates.
    pub(super) filter: Filter,
    response: Option<AnswerFilter>,
    decision: Option<DecisionFilter>,
}

impl From<Filters> for Selection {
    fn from(filters: Filters) -> Self {
        use AnswerFilter::{Allowed, Given, GivenBy, LeftToAgent, Pending};

        let (response, of_answer) = match &filters.response {
            Some(Given(response) | GivenBy(response, _)) => (Some(*response), None),
            Some(Allowed) => (None, Some(Decision::AutoAllowed)),
            Some(Pending | LeftToAgent) => (None, Some(Decision::RequiresConfirmation)),
            None => (None, None),
        };
        let decision = match filters.decision {
            Some(DecisionFilter::Made(decision)) => Some(decision),
            Some(DecisionFilter::Denied) => Some(Decision::RequiresConfirmation),
            None => of_answer,
        };
        Self {
            filter: Filter {
                classification: filters.classification,
                response,
                decision,
                since: filters.since,
                until: filters.until,
                command: filters.command,
                agent: filters.agent,
                session_id: filters.session_id,
            },
            response: filters.response,
            decision: filters.decision,
        }
    }
}

impl Selection {
    /// Returns `true` if the trail evaluates all conditions.
    pub(super) fn is_filter(&self) -> bool {
        match (&self.response, self.decision) {
            (_, Some(DecisionFilter::Denied)) => false,
            (None | Some(AnswerFilter::Given(_)), _) | (Some(AnswerFilter::Allowed), None) => true,
            _ => false,
        }
    }

    /// Returns `true` if no option restricts the decisions.
    pub(super) fn is_all(&self) -> bool {
        self.is_filter() && self.filter == Filter::default()
    }

    /// Returns `true` if a record that the filter selects fits the other conditions.
    pub(super) fn fits(&self, record: &AuditRecord) -> bool {
        let asks = record.decision_requires_confirmation;
        let is_open = asks && record.user_response.is_none();
        let answer_fits = match &self.response {
            None | Some(AnswerFilter::Given(_)) => true,
            Some(AnswerFilter::GivenBy(response, by)) => {
                let printed = format!("{} by {by}", response.as_str());
                answer(record).eq_ignore_ascii_case(&printed)
            }
            Some(AnswerFilter::Allowed) => !asks,
            Some(AnswerFilter::Pending) => is_open && record.deadline.is_some(),
            Some(AnswerFilter::LeftToAgent) => is_open && record.deadline.is_none(),
        };
        let is_denied = matches!(self.decision, Some(DecisionFilter::Denied));
        answer_fits && (!is_denied || record.denied)
    }
}

/// Returns the answer to a question, and who gave it.
pub(super) fn answer(record: &AuditRecord) -> String {
    let asks = record.decision_requires_confirmation;
    match (record.user_response, &record.answered_by) {
        (Some(UserResponse::Timeout), _) => "TIMEOUT".to_owned(),
        (Some(response), Some(by)) if record.denied => {
            format!("{} by rule {}", response.as_str(), escape(by))
        }
        (Some(response), Some(by)) => format!("{} by {}", response.as_str(), escape(by)),
        (Some(response), None) => response.as_str().to_owned(),
        (None, _) if !asks => "allowed".to_owned(),
        (None, _) if record.deadline.is_some() => "pending".to_owned(),
        (None, _) => "left to agent".to_owned(),
    }
}
