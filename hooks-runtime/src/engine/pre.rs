//! The seven PRE hooks of the engine, in their order.
//!
//! | Priority | Id | Type | Refuses |
//! |---|---|---|---|
//! | 1 | `fail-safe` | [`FailSafe`] | every call, while the engine is unhealthy |
//! | 2 | `state-check` | [`StateCheck`] | actions before planning |
//! | 10 | `traceability` | [`Traceability`] | actions without an intent |
//! | 20 | `concurrency` | [`Concurrency`] | writes over unseen changes |
//! | 30 | `scope-enforcement` | [`ScopeEnforcement`] | files that the intent does not own |
//! | 40 | `budget` | [`CallBudget`] | calls above a limit |
//! | 50 | `circuit-breaker` | [`CircuitBreaker`] | repeated equal calls |

mod budget;
mod circuit_breaker;
mod concurrency;
mod fail_safe;
mod scope_enforcement;
mod state_check;
mod traceability;

pub use budget::{BudgetLimits, CallBudget};
pub use circuit_breaker::CircuitBreaker;
pub use concurrency::Concurrency;
pub use fail_safe::FailSafe;
pub use scope_enforcement::ScopeEnforcement;
pub use state_check::StateCheck;
pub use traceability::Traceability;
