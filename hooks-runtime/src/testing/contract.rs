//! What every event hook has to hold, whatever it is for: it answers validly, also
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

mod case;
mod cases;
mod payloads;
#[cfg(feature = "command")]
mod program;
mod stage;
mod stop;
mod subject;
mod tap;
mod trial;
mod watch;

use subject::Finding;

pub use case::{ContractCase, ContractFailure};
pub use stop::Stop;
pub use subject::{Subject, TIME_LIMIT};

impl Subject {
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

macro_rules! table {
    ($($name:ident)*) => {
        /// What every hook has to hold.
        pub const CASES: &[ContractCase] = &[$(cases::$name()),*];
    };
}

// The names are where `hook_behavior_tests!` has them from, too.
crate::__hook_contract_cases!(table!);

/// The case of this name, among those that every hook has to hold. There is none of
/// any other name.
pub fn case(name: &str) -> Option<&'static ContractCase> {
    CASES.iter().find(|case| case.name == name)
}
