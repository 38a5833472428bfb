//! `budget`: limits on calls, tokens and cost.

use std::collections::BTreeMap;

use crate::engine::context::EngineContext;
use crate::engine::session::{Lesson, Spent};
use crate::engine::tools::ToolRole;
use crate::{HookError, HookResponse, PreHook, ResponseAction, ToolRequest};

/// Limits of a budget, unlimited by default; a limit of 0 refuses every call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    calls: Option<u64>,
    tokens: Option<u64>,
    cost_micros: Option<u64>,
}

impl BudgetLimits {
    /// Creates unlimited limits.
    pub fn new() -> Self {
        BudgetLimits::default()
    }

    /// Limits the number of calls.
    #[must_use]
    pub fn calls(mut self, calls: u64) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Limits the tokens: calls pass until so many are used.
    #[must_use]
    pub fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the cost, in millionths of the host's currency: calls pass until so much is spent.
    #[must_use]
    pub fn cost_micros(mut self, cost_micros: u64) -> Self {
        self.cost_micros = Some(cost_micros);
        self
    }

    /// Returns the limit that is used up, if there is one.
    fn exceeded(&self, spent: &Spent) -> Option<String> {
        let used = [
            ("calls", self.calls, spent.calls),
            ("tokens", self.tokens, spent.usage.tokens),
            ("millionths", self.cost_micros, spent.usage.cost_micros),
        ];
        let mut used = used.into_iter();
        used.find_map(|(unit, limit, spent)| {
            let limit = limit.filter(|limit| spent >= *limit)?;
            Some(format!("{spent} of {limit} {unit} are used"))
        })
    }
}

/// Halts the agent once a limit is used up. Without limits every call passes.
///
/// | | |
/// |---|---|
/// | Input | the calls that it has let through, and the tokens and the cost of results, of the session and of the intent of the call |
/// | Effect | `HALT` with the classification, a reason, details and a hint; a call that passes is counted; the session gets a lesson on a halt |
/// | Storage | none: the counts are in the session, and [`TurnUpdate`](crate::engine::TurnUpdate) adds tokens and cost |
///
/// Tokens and cost are known once a call is over, so the call that exceeds a limit is the last one.
/// The call that selects an intent is exempt from intents' limits: it is the way to another intent.
/// Intents that are neither in the [catalogue](crate::engine::IntentCatalogue) nor have limits of
/// their own share the limits of one intent; otherwise every new name would get new limits.
/// intent is granted, or every new name would be a new grant.
#[derive(Debug, Clone)]
pub struct CallBudget {
    context: EngineContext,
    session: BudgetLimits,
    each_intent: BudgetLimits,
    intents: BTreeMap<String, BudgetLimits>,
}

impl CallBudget {
    /// Creates a budget without limits.
    pub fn new(context: &EngineContext) -> Self {
        CallBudget {
            context: context.clone(),
            session: BudgetLimits::new(),
            each_intent: BudgetLimits::new(),
            intents: BTreeMap::new(),
        }
    }

    /// Limits the session as a whole.
    #[must_use]
    pub fn session(mut self, limits: BudgetLimits) -> Self {
        self.session = limits;
        self
    }

    /// Limits each intent that has no limits of its own.
    #[must_use]
    pub fn each_intent(mut self, limits: BudgetLimits) -> Self {
        self.each_intent = limits;
        self
    }

    /// Limits one intent.
    #[must_use]
    pub fn intent(mut self, id: impl Into<String>, limits: BudgetLimits) -> Self {
        self.intents.insert(id.into(), limits);
        self
    }

    fn count(&self, request: &ToolRequest) -> Result<(), String> {
        let selects = self.context.tools().role(&request.tool) == ToolRole::SelectIntent;
        let intent = request.intent_id.as_deref().filter(|_| !selects);
        let limits = intent
            .and_then(|id| self.intents.get(id))
            .unwrap_or(&self.each_intent);
        let known = |id: &str| self.intents.contains_key(id) || self.context.intents().has(id);
        self.context
            .session()
            .count_call(intent, known, |all, own| {
                if let Some(used) = self.session.exceeded(all) {
                    return Err(format!("{used} in this session"));
                }
                match own.and_then(|own| limits.exceeded(own)) {
                    Some(used) => {
                        let id = intent.unwrap_or_default();
                        let whose = match known(id) {
                            true => format!("for intent `{id}`"),
                            false => format!("for `{id}` and other intents that are not known"),
                        };
                        Err(format!("{used} {whose}"))
                    }
                    None => Ok(()),
                }
            })
    }
}

#[diagnostic::do_not_recommend]
impl PreHook<ToolRequest> for CallBudget {
    fn id(&self) -> &str {
        "budget"
    }

    fn priority(&self) -> Option<i32> {
        Some(40)
    }

    async fn execute(&self, request: &ToolRequest) -> Result<HookResponse, HookError> {
        let Err(details) = self.count(request) else {
            return Ok(HookResponse::default());
        };
        let intent = request.intent_id.as_deref();
        let lesson = Lesson::new("budget-exceeded", intent, &request.tool, &details);
        self.context.session().learn(lesson);
        let class = self.context.tools().classify(&request.tool);
        Ok(HookResponse::new(ResponseAction::Halt)
            .classification(class.name())
            .reason("Budget Exceeded")
            .error_type("budget_exceeded")
            .details(details)
            .recovery_hint("ask for more, or select an intent that has something left"))
    }
}
