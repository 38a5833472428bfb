//! The contract of every event hook: it returns valid results, also for data that are empty, huge
//! or unusual, and it can be unregistered.
//!
//! [`hook_behavior_tests!`](crate::hook_behavior_tests) generates a test for each [case](CASES),
//! the binary `hooks-validate` runs the cases against foreign programs, and [`ContractCase::check`]
//! runs one case:
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
//! assert!(case("returns_valid_results").unwrap().check(&subject).is_ok());
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
pub use stop::StopSignal;
pub use subject::{Subject, TIME_LIMIT};

impl Subject {
    /// Returns the cases that apply to it.
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
    /// Runs the case against a hook, in a separate thread and tokio runtime.
    ///
    /// If a hook blocks its thread for longer than the timeout, this is a failure, too; its thread
    /// is leaked, because it cannot be stopped.
    ///
    /// # Errors
    /// If the hook fails the case. A failure of the hook – an error, a panic, an invalid result, a
    /// timeout – always fails it.
    ///
    /// # Panics
    /// If the system cannot create a thread.
    pub fn check(&self, subject: &Subject) -> Result<(), ContractFailure> {
        stage::perform(self, subject).map_err(|Finding { sent, came }| ContractFailure {
            case: self.name,
            sent,
            came,
            remedy: self.remedy,
        })
    }
}

macro_rules! table {
    ($($name:ident)*) => {
        /// The cases for every hook.
        pub const CASES: &[ContractCase] = &[$(cases::$name()),*];
    };
}

// `hook_behavior_tests!` uses this list of names too.
crate::__hook_contract_cases!(table!);

/// Returns the case of this name, among those for every hook; `None` for any other name.
pub fn case(name: &str) -> Option<&'static ContractCase> {
    CASES.iter().find(|case| case.name == name)
}
