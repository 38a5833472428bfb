//! What the registries of events and of PRE and POST hooks do, from the requirements: one
//! module a subject, each test named after the rule it holds.

#![allow(
    unused_must_use,
    reason = "most tests emit for what the hooks see, not for what comes of it"
)]

mod kit;

mod collect;
mod defaults_and_listing;
mod emit;
mod engine;
mod examples;
mod failure;
mod hook_result;
mod phases;
mod precedence;
mod registration;
mod reports;
mod sharing;
mod stress;
