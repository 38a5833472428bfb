//! Tests of JavaScript hooks against the rules of their contract.

mod attach;
mod blob;
mod border;
mod command_line;
mod contract;
mod corpus;
mod endings;
mod isolation;
mod language;
mod logging;
mod manifest;
mod moderation;
mod outbox;
mod pages;
mod pitfalls;
mod reading;
mod rejections;
#[cfg(feature = "fetch")]
mod sender;
mod stack;
mod support;
mod types;
