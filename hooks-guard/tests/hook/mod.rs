//! Tests the classifier as a PRE hook in the runtime's registry.

use hooks_guard::ClassifierHook;
use hooks_guard::classify::{Classification, Classifier, Crud, Explanation};
use hooks_runtime::{HookError, HookResponse, PhaseRegistry, RegisterOptions, ResponseAction};

type Registry = PhaseRegistry<str, ()>;

fn hook(id: &str) -> ClassifierHook<impl Fn(&str) -> Option<String> + use<>> {
    ClassifierHook::new(id, Classifier::new(), |call: &str| {
        Some(call.strip_prefix("run ")?.to_owned())
    })
}

fn ask(registry: &Registry, call: &str) -> Result<HookResponse, HookError> {
    futures_executor::block_on(registry.execute_pre(call))
}

fn below(limit: Crud) -> impl Fn(&Classification) -> bool {
    move |verdict| verdict.crud < limit
}

#[test]
fn p_06_only_a_read_continues() {
    let registry = Registry::new();
    registry.register_pre(hook("classifier"), RegisterOptions::new());
    for (call, class, action) in [
        ("run ls", "READ", ResponseAction::Continue),
        ("run mkdir a", "CREATE", ResponseAction::Deny),
        ("run git commit -m a", "UPDATE", ResponseAction::Deny),
        ("run rm a", "DELETE", ResponseAction::Deny),
        ("run frobnicate", "CREATE", ResponseAction::Deny),
    ] {
        let response = ask(&registry, call).unwrap();
        assert_eq!(response.classification.as_deref(), Some(class), "{call}");
        assert_eq!(response.action, action, "{call}");
        assert!(response.reason.is_some(), "{call}");
    }
}

#[test]
fn a_call_without_a_command_continues_unclassified() {
    let registry = Registry::new();
    registry.register_pre(hook("classifier"), RegisterOptions::new());
    assert_eq!(ask(&registry, "read a").unwrap(), HookResponse::default());
}

#[test]
fn r_13_a_classification_error_ends_the_dispatch() {
    let registry = Registry::new();
    registry.register_pre(hook("classifier"), RegisterOptions::new());
    assert!(ask(&registry, "run ls\0").is_err());
    assert!(ask(&registry, "run  ").is_err());
}

/// Several classifiers are entries of one slot: the first denial decides.
#[test]
fn r_10_a_denial_by_one_classifier_decides() {
    let registry = Registry::new();
    registry.register_pre(
        hook("lenient").allow(below(Crud::Delete)),
        RegisterOptions::new(),
    );
    registry.register_pre(
        hook("strict").allow(below(Crud::Update)),
        RegisterOptions::new(),
    );
    registry.register_pre(hook("blind").allow(|_| true), RegisterOptions::new());
    for (call, action) in [
        ("run ls", ResponseAction::Continue),
        ("run mkdir a", ResponseAction::Continue),
        ("run git commit -m a", ResponseAction::Deny),
        ("run rm a", ResponseAction::Deny),
    ] {
        assert_eq!(ask(&registry, call).unwrap().action, action, "{call}");
    }
    let (_, report) = futures_executor::block_on(registry.execute_pre_reported("run rm a"));
    assert_eq!(report.stopped_by().unwrap().name, "lenient");
}

/// A rule gets the programs that would run, and denies regardless of the class.
#[test]
fn a_custom_deny_rule_denies_with_its_reason() {
    let registry = Registry::new();
    let rule = |_: &str, explanation: &Explanation| {
        let mut runs = explanation.parts().runs();
        let listed = runs.any(|run| run.program() == Some("ls"));
        listed.then(|| "there is nothing to list".to_owned())
    };
    registry.register_pre(
        hook("house").allow(|_| true).deny(rule),
        RegisterOptions::new(),
    );
    let denied = ask(&registry, "run rm a; sh -c 'ls'").unwrap();
    assert_eq!(denied.action, ResponseAction::Deny);
    assert_eq!(denied.classification.as_deref(), Some("DELETE"));
    assert_eq!(denied.reason.as_deref(), Some("there is nothing to list"));
    let response = ask(&registry, "run rm a").unwrap();
    assert_eq!(response.action, ResponseAction::Continue);
    assert!(ask(&registry, "run  ").is_err());
}
