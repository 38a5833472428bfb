//! One case of the contract.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::subject::Finding;
use super::trial::Trial;

/// A requirement on every hook.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ContractCase {
    /// Name of the case and of its test.
    pub name: &'static str,
    /// Advice for a hook that fails it.
    pub remedy: &'static str,
    pub(super) run: for<'a> fn(&'a mut Trial) -> Running<'a>,
}

pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Finding>> + 'a>>;

/// Reason for which a hook fails a case.
///
/// Output of the hook or its program is shortened and escaped in it, so it can be printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("case `{case}` failed: sent {sent}; got {came}; {remedy}")]
#[non_exhaustive]
pub struct ContractFailure {
    /// The name of the case.
    pub case: &'static str,
    /// Data that were sent to the hook.
    pub sent: String,
    /// Actual result.
    pub came: String,
    /// Advice for a hook that fails it.
    pub remedy: &'static str,
}

impl fmt::Debug for ContractCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContractCase")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Defines a function that returns the case of its name: its remedy, and its test with a trial.
macro_rules! contract_case {
    (
        $(#[$doc:meta])*
        $name:ident, $remedy:literal,
        |$trial:ident| $body:block
    ) => {
        $(#[$doc])*
        pub(super) const fn $name() -> ContractCase {
            async fn run($trial: &mut Trial) -> Result<(), Finding> $body

            ContractCase {
                name: stringify!($name),
                remedy: $remedy,
                run: |trial| Box::pin(run(trial)),
            }
        }
    };
}

pub(super) use contract_case;
