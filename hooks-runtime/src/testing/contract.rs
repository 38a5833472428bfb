//! What every event hook has to hold, whatever it is for (`E-160`): it answers validly, also
//! where the data are empty, huge or not what they usually are, and it can be taken away.
//!
//! [`hook_behavior_tests!`](crate::hook_behavior_tests) makes a test of each [case](CASES),
//! the binary `hooks-validate` puts foreign programs through them, and
//! [`ContractCase::check`] does it in between:
//!
//! ```
//! use hooks_runtime::testing::contract::{Subject, case};
//! use hooks_runtime::{Event, HookResult};
//!
//! fn careless(event: Event<'_>) -> HookResult {
//!     let tool = event.get("tool_name").expect("there is always a tool");
//!     HookResult::inject_context(format!("the tool is {tool}"))
//! }
//!
//! let subject = Subject::new(|| careless);
//! assert!(case("answers_validly").unwrap().check(&subject).is_ok());
//!
//! let failure = case("survives_empty_data").unwrap().check(&subject).unwrap_err();
//! assert!(failure.to_string().contains("there is always a tool"));
//! ```

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "command")]
use crate::CommandHook;
use crate::events::handler::{Handler, HookAnswer, IntoHandler, handler};

mod cases;
mod payloads;
#[cfg(feature = "command")]
mod program;
mod stage;
mod stop;
mod tap;
mod trial;

use trial::Trial;

pub use stop::Stop;

/// The time that a hook has for one call unless [`Subject::time_limit`] says otherwise (`E-160`).
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// One thing that every hook has to hold (`E-160`).
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ContractCase {
    /// Its name, which is that of the test.
    pub name: &'static str,
    /// The rules of the specification that it comes from.
    pub rule: &'static str,
    /// What a hook does that holds it.
    pub remedy: &'static str,
    run: for<'a> fn(&'a mut Trial) -> Running<'a>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Finding>> + 'a>>;

/// What was sent to a hook, and what came that must not.
#[derive(Debug)]
struct Finding {
    sent: String,
    came: String,
}

/// Why a hook does not hold a case (`E-160`).
///
/// What the hook or its program said is shortened and escaped in it: it can be printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{case}` ({rule}) does not hold: sent {sent}; came {came}; {remedy}")]
#[non_exhaustive]
pub struct ContractFailure {
    /// The name of the case.
    pub case: &'static str,
    /// The rules that it comes from.
    pub rule: &'static str,
    /// What was sent to the hook.
    pub sent: String,
    /// What came of it.
    pub came: String,
    /// What a hook does that holds it.
    pub remedy: &'static str,
}

/// A hook that is put through the cases (`E-160`). Each case makes a new one.
#[derive(Clone)]
pub struct Subject {
    make: Arc<dyn Fn() -> Arc<dyn Handler> + Send + Sync>,
    #[cfg(feature = "command")]
    program: Option<CommandHook>,
    events: Vec<Arc<str>>,
    limit: Duration,
    stop: Stop,
}

impl Subject {
    /// A hook of any form that can be [registered](crate::HookRegistry::register), as this
    /// makes it. It is made within a tokio runtime of one thread.
    pub fn new<H, Form: 'static, Time: 'static>(
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self
    where
        H: IntoHandler<Form, Answer: HookAnswer<Time, Waits: Send>>,
    {
        Subject {
            make: Arc::new(move || handler::<H, Form, Time>(make())),
            #[cfg(feature = "command")]
            program: None,
            events: vec![crate::events::TOOL_PRE.into()],
            limit: TIME_LIMIT,
            stop: Stop::new(),
        }
    }

    /// A program, which has to hold some cases more. The [time limit](Self::time_limit) of the
    /// subject counts in the place of the program's own.
    #[cfg(feature = "command")]
    pub fn program(program: CommandHook) -> Self {
        let program = program.time_limit(Duration::MAX);
        let hook = program.clone();
        Subject {
            program: Some(program),
            ..Subject::new(move || hook.clone())
        }
    }

    /// Sets the events that the hook is sent the odd data of, besides all standard events
    /// with ordinary ones; `tool:pre` unless given. No events at all are `tool:pre`, too.
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        let events: Vec<_> = events.into_iter().map(Into::into).collect();
        if !events.is_empty() {
            self.events = events;
        }
        self
    }

    /// Limits the time of each call of the hook; [`TIME_LIMIT`] unless given. A case has as
    /// much time as its calls have together, and fails with the first one that takes longer.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Lets the cases be stopped from elsewhere.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// The cases that it has to hold.
    pub fn cases(&self) -> impl Iterator<Item = &'static ContractCase> + use<> {
        #[cfg(feature = "command")]
        let more = match self.program {
            Some(_) => program::CASES,
            None => &[],
        };
        #[cfg(not(feature = "command"))]
        let more: &[ContractCase] = &[];
        CASES.iter().chain(more)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("events", &self.events)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl ContractCase {
    /// Puts a hook through the case, in a thread and a tokio runtime of its own.
    ///
    /// A hook that blocks its thread for longer than the time limit is a failure, too; its
    /// thread is left behind, because it cannot be stopped.
    ///
    /// # Errors
    /// If the hook does not hold it. A failure of the hook – an error, a panic, an answer that
    /// is none, a time limit – is always one.
    ///
    /// # Panics
    /// If the system has no thread for it.
    pub fn check(&self, subject: &Subject) -> Result<(), ContractFailure> {
        stage::perform(self, subject).map_err(|Finding { sent, came }| ContractFailure {
            case: self.name,
            rule: self.rule,
            sent,
            came,
            remedy: self.remedy,
        })
    }
}

impl fmt::Debug for ContractCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContractCase")
            .field("name", &self.name)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

macro_rules! table {
    ($($name:ident)*) => {
        /// What every hook has to hold.
        pub const CASES: &[ContractCase] = &[$(cases::$name()),*];
    };
}

// The names are where `hook_behavior_tests!` has them from, too.
crate::__hook_contract_cases!(table!);

/// The case of this name, among those that every hook has to hold (`E-160`). There is none of
/// any other name.
pub fn case(name: &str) -> Option<&'static ContractCase> {
    CASES.iter().find(|case| case.name == name)
}

/// A function that gives the case of its name: its rules, its remedy, and what it does with a
/// trial.
macro_rules! contract_case {
    (
        $(#[$doc:meta])*
        $name:ident, $rule:literal, $remedy:literal,
        |$trial:ident| $body:block
    ) => {
        $(#[$doc])*
        pub(super) const fn $name() -> ContractCase {
            async fn run($trial: &mut Trial) -> Result<(), Finding> $body

            ContractCase {
                name: stringify!($name),
                rule: $rule,
                remedy: $remedy,
                run: |trial| Box::pin(run(trial)),
            }
        }
    };
}

use contract_case;
