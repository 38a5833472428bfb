//! What agents send to their hooks, and what they are answered.

mod changed;
mod hostile;
mod modes;
mod never;
#[path = "../support/random.rs"]
mod random;
mod samples;
mod tools;

use hooks_guard::Ruling;
use hooks_guard::classify::{Crud, Decision, Method};
use hooks_guard::protocol::{Agent, Event, Question, read};
use serde_json::Value;

/// The question in an input that must be one.
fn question(agent: Agent, input: &Value) -> Question {
    match read(agent, input.to_string().as_bytes()) {
        Ok(Event::Ask(question)) => question,
        other => panic!("{agent} does not ask in {input}: {other:?}"),
    }
}

fn ruling(decision: Decision, class: Crud, denied: bool, rule: Option<&str>) -> Ruling {
    Ruling {
        decision,
        classification: class,
        reasoning: "says so".into(),
        confidence: 0.9,
        explanation: "at length".into(),
        classification_method: Method::PatternMatch,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        id: None,
        secret: None,
        approved: false,
        denied,
        rule: rule.map(str::to_owned),
    }
}
