//! Model hooks (`T-70` to `T-75`): with an adapter that plays a script, around the client
//! `async-openai` that talks to a server of the test's own, and with the adapters of this
//! workspace against the same server.

mod budget;
mod client;
mod conversation;
mod kit;
mod limits;
mod mapping;
mod order;
mod owner;
mod providers;
mod sse;
mod stand_in;
