//! Behaviour of the registries of events and of PRE and POST hooks, and of their results, from the
//! requirements: one module per subject, each test named after its rule.

#![allow(
    unused_must_use,
    reason = "most tests check the calls of hooks, not the result of the emission"
)]

mod kit;

mod approval;
mod around;
mod around_reports;
mod collect;
mod combinations;
mod contract;
mod defaults_and_listing;
mod emit;
mod engine;
mod event_names;
mod event_phases;
mod event_schemas;
mod examples;
mod extras;
mod failure;
mod hook_forms;
mod hook_result;
mod hosts;
mod injection;
mod model;
mod nested;
mod output;
mod phases;
mod pointers;
mod precedence;
mod refusals;
mod registration;
mod reports;
mod run_now;
mod scalar_result;
mod sharing;
mod slots;
mod stress;
mod switches;
mod testing;
mod timestamps;
mod toolset;
mod transforms;
mod weak;
mod worked_examples;
