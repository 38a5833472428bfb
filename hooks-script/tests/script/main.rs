//! What hooks in JavaScript may and may not do, by the rules of the contract.

mod blob;
mod border;
mod command_line;
mod contract;
mod corpus;
mod isolation;
mod manifest;
mod pages;
mod pitfalls;
mod support;
mod types;
