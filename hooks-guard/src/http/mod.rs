//! The service over HTTP. Takes requests; returns JSON responses, and the pages of the console.
//!
//! | Request | Description |
//! |---|---|
//! | `POST /api/hooks/permission-request` | decides about a command |
//! | `POST /api/hooks/agents/{agent}` | answers the hook of an agent; needs the agent's token |
//! | `GET /api/hooks/decisions` | lists the audit trail, newest first |
//! | `GET /api/hooks/decisions/{id}?wait=SECONDS` | returns a decision; waits for its answer |
//! | `POST /api/hooks/decisions/{id}/executed` | reports its execution; needs its secret |
//! | `POST /api/hooks/decisions/{id}/redeem` | uses its approval, once; needs its secret |
//! | `GET /api/hooks/decisions/{id}/rule` | proposes a rule for its command; needs the operator's token |
//! | `POST /api/hooks/decisions/{id}/changes` | shows the changes of a file tool with its question; needs its secret |
//! | `GET /api/hooks/decisions/{id}/changes` | returns them; needs the operator's token |
//! | `GET /api/hooks/pending` | lists open questions, in pages |
//! | `POST /api/hooks/pending/deny` | denies many questions; needs the operator's token |
//! | `POST /api/hooks/permission-response` | answers a question; needs the operator's token |
//! | `DELETE /api/hooks/permission-response/{id}` | withdraws a delayed answer; needs the operator's token |
//! | `GET /api/hooks/remembered` | lists remembered answers |
//! | `DELETE /api/hooks/remembered/{id}` | revokes one; needs the operator's token |
//! | `GET /api/hooks/events` | streams changes (server-sent events) |
//! | `GET /api/hooks/stats` | returns statistics |
//! | `GET /api/hooks/series` | returns statistics over time |
//! | `GET /api/hooks/export` | exports the trail as JSON lines or CSV |
//! | `GET /api/hooks/registered` | lists the registered hooks and their runs |
//! | `DELETE /api/hooks/cleanup` | deletes old records |
//! | `GET /api/hooks/identity` | proves that the service has the key |
//! | `GET /api/hooks/openapi.json` | returns the OpenAPI document |
//! | `GET`, `POST`, `DELETE /api/console/session` | manages the operator's browser session |
//! | `GET /`, `/trail`, … | web console |
//! | `GET /health`, `GET /metrics` | health, and metrics in Prometheus format |

mod agent_hook;
mod app;
mod body;
mod bulk_reads;
mod changes;
mod cleanup;
mod common;
mod connections;
mod console;
mod decisions;
mod delayed;
mod effect;
mod error;
mod events;
mod export;
mod health;
mod hub;
mod identity;
mod limit;
mod local;
mod metrics;
mod openapi;
mod operator;
mod pending;
mod permission;
mod query;
mod reads;
mod registered;
mod remembered;
mod respond;
mod rule;
mod scrape;
mod serve;
mod session;
mod sessions;
mod shutdown;
mod state;
mod stats;
mod stream;
mod upkeep;

pub use self::app::app;
pub use self::limit::Peer;
pub use self::state::AppState;
#[cfg(feature = "cli")]
pub(crate) use agent_hook::PATH as AGENT_HOOK_PATH;
pub use metrics::Metrics;
pub use openapi::document;
pub use operator::OperatorToken;
pub use serve::{ServeError, Server, Sockets};
