//! The seven PRE hooks of the engine, in their order.
//!
//! | Priority | Id | Type | Says no to |
//! |---|---|---|---|
//! | 1 | `fail-safe` | [`FailSafe`] | everything, while something is wrong with the engine |
//! | 2 | `state-check` | [`StateCheck`] | acting before thinking |
//! | 10 | `traceability` | [`Traceability`] | acting for no intent |
//! | 20 | `concurrency` | [`Concurrency`] | writing over what others have changed |
//! | 30 | `scope-enforcement` | [`ScopeEnforcement`] | files that are not the intent's |
//! | 40 | `budget` | [`Budget`] | more than was granted |
//! | 50 | `circuit-breaker` | [`CircuitBreaker`] | the same call again and again |

mod budget;
mod circuit_breaker;
mod concurrency;
mod fail_safe;
mod scope_enforcement;
mod state_check;
mod traceability;

pub use budget::{Budget, Limits};
pub use circuit_breaker::CircuitBreaker;
pub use concurrency::Concurrency;
pub use fail_safe::FailSafe;
pub use scope_enforcement::ScopeEnforcement;
pub use state_check::StateCheck;
pub use traceability::Traceability;
