//! Checks registries by loom, in every order in which threads can access their shared cell.
//!
//! Built and run with `RUSTFLAGS="--cfg hooks_loom" cargo test -p hooks-runtime --test model_check
//! --release`, which uses loom's primitives in the cell; without that cfg this file is empty.

#![cfg(hooks_loom)]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    Event, HookRegistry, HookResponse, HookResult, Map, Phase, PhaseRegistry, RegisterOptions,
    ResponseAction,
};
use loom::thread;
use serde_json::json;

/// Polls a future that is ready.
fn poll_ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("no hook suspends"),
    }
}

/// Registers a hook that adds its name to the data.
fn register(registry: &HookRegistry, name: &'static str) -> hooks_runtime::Registration {
    registry.register(
        "event",
        move |_: Event<'_>| HookResult::set(name, true),
        RegisterOptions::new().name(name),
    )
}

/// Returns the names of the hooks that ran.
fn emit(registry: &HookRegistry) -> Vec<String> {
    let emission = poll_ready(registry.emit("event", ())).expect("`()` is valid event data");
    emission.data.keys().cloned().collect()
}

fn names(registry: &HookRegistry) -> Vec<String> {
    registry
        .list_handlers(Some("event"))
        .remove("event")
        .expect("the requested event is listed")
}

#[test]
fn e_43_concurrent_registrations_are_all_kept() {
    loom::model(|| {
        let registry = HookRegistry::new();
        let threads = ["a", "b"].map(|name| {
            let registry = registry.clone();
            thread::spawn(move || {
                register(&registry, name);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let mut names = names(&registry);
        names.sort();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(emit(&registry).len(), 2);
    });
}

#[test]
fn e_08_an_emission_sees_a_concurrent_registration_entirely_or_not() {
    loom::model(|| {
        let registry = HookRegistry::new();
        register(&registry, "before");
        let other = registry.clone();
        let thread = thread::spawn(move || {
            register(&other, "meanwhile");
        });
        let ran = emit(&registry);
        assert!(
            ran == ["before"] || ran == ["before", "meanwhile"],
            "{ran:?}"
        );
        thread.join().unwrap();
        assert_eq!(emit(&registry), ["before", "meanwhile"]);
    });
}

#[test]
fn e_07_only_one_of_two_concurrent_unregister_calls_returns_true() {
    loom::model(|| {
        let registry = HookRegistry::new();
        let registration = register(&registry, "a");
        register(&registry, "b");
        let other = registration.clone();
        let thread = thread::spawn(move || other.unregister());
        let here = registration.unregister();
        let there = thread.join().unwrap();
        assert!(here ^ there, "{here} {there}");
        assert_eq!(names(&registry), ["b"]);
    });
}

#[test]
fn e_73_a_hook_can_register_while_the_last_hook_unregisters() {
    loom::model(|| {
        let registry = HookRegistry::new();
        let registration = register(&registry, "a");
        let thread = thread::spawn(move || registration.unregister());
        register(&registry, "b");
        assert_eq!(emit(&registry).last().map(String::as_str), Some("b"));
        assert!(thread.join().unwrap());
        assert_eq!(names(&registry), ["b"]);
        assert_eq!(emit(&registry), ["b"]);
    });
}

#[test]
fn e_65_concurrent_default_fields_and_registrations_are_both_kept() {
    loom::model(|| {
        let registry = HookRegistry::new();
        let other = registry.clone();
        let thread = thread::spawn(move || {
            let fields = Map::from_iter([("default".to_owned(), json!(1))]);
            other.set_default_fields(fields);
        });
        register(&registry, "a");
        thread.join().unwrap();
        let mut fields = emit(&registry);
        fields.sort();
        assert_eq!(fields, ["a", "default"]);
    });
}

#[test]
fn r_04_one_of_two_concurrent_registrations_with_one_id_is_kept() {
    loom::model(|| {
        let registry: PhaseRegistry<str, ()> = PhaseRegistry::new();
        let other = registry.clone();
        let hook = |action: &'static str| {
            PreFn::new("gate", move |_: &str| {
                HookResponse::new(ResponseAction::Other(action.to_owned()))
            })
        };
        let thread = thread::spawn(move || {
            other.register_pre(hook("there"), RegisterOptions::new());
        });
        registry.register_pre(hook("here"), RegisterOptions::new());
        thread.join().unwrap();
        assert_eq!(registry.registered_hooks(Phase::Pre).len(), 1);
        let response = poll_ready(registry.execute_pre("call")).expect("no hook fails");
        assert!(["here", "there"].contains(&response.action.name()));
    });
}

#[test]
fn r_20_a_concurrently_removed_hook_runs_entirely_or_not_at_all() {
    loom::model(|| {
        let registry: PhaseRegistry<str, ()> = PhaseRegistry::new();
        registry.register_pre(
            PreFn::new("deny", |_: &str| HookResponse::new(ResponseAction::Deny)),
            RegisterOptions::new(),
        );
        registry.register_post(
            PostFn::new("post", |(): &(), _: Option<&str>| ()),
            RegisterOptions::new(),
        );
        let other = registry.clone();
        let thread = thread::spawn(move || other.deregister(Phase::Pre, "deny"));
        let response = poll_ready(registry.execute_pre("call")).expect("no hook fails");
        let actions = [ResponseAction::Deny, ResponseAction::Continue];
        assert!(actions.contains(&response.action));
        assert!(thread.join().unwrap());
        let response = poll_ready(registry.execute_pre("call")).expect("no hook fails");
        assert_eq!(response.action, ResponseAction::Continue);
        assert_eq!(registry.registered_hooks(Phase::Post).len(), 1);
    });
}

#[test]
fn x_15_a_registration_of_the_parent_is_in_a_follower_when_it_returns() {
    loom::model(|| {
        let parent = HookRegistry::new();
        let child = parent.child();
        let emitting = {
            let child = child.clone();
            thread::spawn(move || {
                let names = emit(&child);
                assert!(names.is_empty() || names == ["parent"]);
            })
        };
        register(&parent, "parent");
        assert_eq!(emit(&child), ["parent"]);
        emitting.join().unwrap();
        assert_eq!(emit(&child), ["parent"]);
    });
}

#[test]
fn x_15_changes_of_a_follower_and_of_its_parent_are_both_kept() {
    loom::model(|| {
        let parent = HookRegistry::new();
        let child = parent.child();
        let registering = {
            let parent = parent.clone();
            thread::spawn(move || drop(register(&parent, "parent")))
        };
        register(&child, "child");
        registering.join().unwrap();
        let mut names = emit(&child);
        names.sort();
        assert_eq!(names, ["child", "parent"]);
        assert_eq!(emit(&parent), ["parent"]);
    });
}
