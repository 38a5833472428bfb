//! One case of the contract.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::subject::Finding;
use super::trial::Trial;

/// One thing that every hook has to hold.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ContractCase {
    /// Its name, which is that of the test.
    pub name: &'static str,
    /// The rules of the specification that it comes from.
    pub rule: &'static str,
    /// What a hook does that holds it.
    pub remedy: &'static str,
    pub(super) run: for<'a> fn(&'a mut Trial) -> Running<'a>,
}

pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Finding>> + 'a>>;

/// Why a hook does not hold a case.
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

impl fmt::Debug for ContractCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContractCase")
            .field("name", &self.name)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
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

pub(super) use contract_case;
