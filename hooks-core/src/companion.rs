//! Companions of a slot: chain, aggregate, finalize.
//!
//! A slot's definition names the type of a companion, and `Default` creates it. An application may
//! replace it (`with_<slot>_chain(…)`). Write `call` as `async fn`; no attribute is needed.
//!
//! | File | Content |
//! |---|---|
//! | `stored` | stores a companion and its replacement |
//! | `chain` | [`Chain`], which may stop a dispatch after an output |
//! | `post_process` | [`Aggregate`] and [`Finalize`], which turn the outputs into the result |
//! | `synchronous` | [`SyncChain`], [`SyncAggregate`], [`SyncFinalize`]: the companions of synchronous slots |
//! | `builtin` | [`ShortCircuit`] and [`FirstSuccess`] |

mod builtin;
mod chain;
mod post_process;
mod stored;
mod synchronous;

pub use builtin::{FirstSuccess, ShortCircuit};
pub use chain::Chain;
pub use post_process::{Aggregate, AggregateInto, Finalize, FinalizeInto};
pub use synchronous::{
    SyncAggregate, SyncAggregateInto, SyncChain, SyncFinalize, SyncFinalizeInto,
};

#[doc(hidden)]
pub use chain::{Chained, DynChain, StopCondition};
#[doc(hidden)]
pub use post_process::{DynPostProcess, Outputs, PostProcess};
#[doc(hidden)]
pub use stored::{
    AggregateIntoRole, AggregateRole, By, ChainRole, Companion, FinalizeIntoRole, FinalizeRole,
    NoCompanion, Replacement, Stored, SyncRole,
};
