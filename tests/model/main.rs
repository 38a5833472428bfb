//! Model hooks (`T-67`, `T-70` to `T-75`): with a scripted adapter, around the client `async-openai` with a
//! test server, and with the adapters of this workspace against that server.

mod budget;
mod client;
mod conversation;
mod end;
mod kit;
mod limits;
mod mapping;
mod order;
mod owner;
mod providers;
mod sse;
mod stand_in;
