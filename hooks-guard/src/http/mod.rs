//! The service over HTTP. In: requests. Out: responses in JSON, and the pages of the console.
//!
//! | Request | Is |
//! |---|---|
//! | `POST /api/hooks/permission-request` | decides about a command |
//! | `GET /api/hooks/decisions` | the audit trail, newest first |
//! | `GET /api/hooks/decisions/{id}?wait=SECONDS` | one decision; waits for its answer |
//! | `POST /api/hooks/decisions/{id}/executed` | reports that it ran; needs its secret |
//! | `POST /api/hooks/decisions/{id}/redeem` | uses an approval, which serves once; needs its secret |
//! | `GET /api/hooks/pending` | the questions that wait for an answer, in pages |
//! | `POST /api/hooks/pending/deny` | denies many of them; needs the operator's token |
//! | `POST /api/hooks/permission-response` | answers one; needs the operator's token |
//! | `GET /api/hooks/remembered` | what was approved for longer |
//! | `DELETE /api/hooks/remembered/{id}` | revokes it; needs the operator's token |
//! | `GET /api/hooks/events` | what happens, as it happens (server-sent events) |
//! | `GET /api/hooks/stats` | statistics |
//! | `GET /api/hooks/series` | the same over time |
//! | `GET /api/hooks/export` | the trail as JSON lines or a table |
//! | `GET /api/hooks/registered` | which hooks judge, and how they did |
//! | `DELETE /api/hooks/cleanup` | deletes old records |
//! | `GET /api/hooks/identity` | proves that the service has the key |
//! | `GET /api/hooks/openapi.json` | all of this, for programs |
//! | `GET`, `POST`, `DELETE /api/console/session` | signs the operator in and out in a browser |
//! | `GET /`, `/trail`, … | the console, for people |
//! | `GET /health`, `GET /metrics` | how the service is, and Prometheus' view of it |

mod app;
mod body;
mod cleanup;
mod common;
mod connections;
mod console;
mod decisions;
mod ending;
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
mod scrape;
mod serve;
mod session;
mod sessions;
mod state;
mod stats;
mod stream;
mod turns;
mod upkeep;

pub use self::app::app;
pub use self::limit::Peer;
pub use self::state::AppState;
pub use metrics::Metrics;
pub use openapi::document;
pub use operator::OperatorToken;
pub use serve::{ServeError, Server, Sockets};
