//! Status of each hook: completed, skipped, cancelled, failed, stopped the dispatch.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    EmitError, EmitOptions, FailurePolicy, HookError, HookRegistry, HookResponse, HookResult,
    HookStatus, Map, PhaseRegistry, Report, ResponseAction,
};
use tokio::time::sleep;

use crate::kit::{at, named, plain, returning};

/// Returns the hooks of a report and their status.
fn statuses(report: &Report) -> Vec<(&str, &'static str)> {
    let name = |run: &HookStatus| match run {
        HookStatus::Skipped => "skipped",
        HookStatus::Cancelled => "abandoned",
        HookStatus::Completed => "ran",
        HookStatus::Stopped => "stopped",
        HookStatus::Failed { stopped: true, .. } => "failed, stopped",
        HookStatus::Failed { stopped: false, .. } => "failed",
        _ => "something new",
    };
    report
        .entries
        .iter()
        .map(|entry| (&*entry.name, name(&entry.status)))
        .collect()
}

fn emit(registry: &HookRegistry) -> Report {
    let emission = block_on(registry.emit_with("e", (), EmitOptions::new().report()));
    emission
        .unwrap()
        .report()
        .expect("a report was asked for")
        .clone()
}

fn fails(_event: Arc<str>, _data: Arc<Map>) -> Result<HookResult, HookError> {
    Err(HookError::new("broken"))
}

#[test]
fn an_emission_has_no_report_by_default() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::proceed()), plain());
    assert!(block_on(registry.emit("e", ())).unwrap().report().is_none());
    assert!(
        block_on(registry.emit_with("e", (), EmitOptions::new()))
            .unwrap()
            .report()
            .is_none()
    );
}

#[test]
fn the_report_without_hooks_is_empty() {
    let report = emit(&HookRegistry::new());
    assert!(report.entries.is_empty());
    assert!(report.stopped_by().is_none());
    assert!(!report.to_string().is_empty());
}

#[test]
fn the_report_lists_the_hooks_in_execution_order() {
    let registry = HookRegistry::new();
    let b = registry.register("e", returning(HookResult::proceed()), at(2).name("b"));
    let a = registry.register("e", returning(HookResult::set("a", 1)), at(-1).name("a"));
    let report = emit(&registry);
    assert_eq!(statuses(&report), [("a", "ran"), ("b", "ran")]);
    assert_eq!(
        [report.entries[0].id, report.entries[1].id],
        [a.id(), b.id()]
    );
    assert_eq!(
        [report.entries[0].priority, report.entries[1].priority],
        [-1, 2]
    );
    assert!(report.stopped_by().is_none());
}

/// Also `X-4`.
#[test]
fn e_23_the_report_contains_the_stopping_and_the_skipped_hooks() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        returning(HookResult::ask_user("Sure?")),
        at(1).name("asks"),
    );
    registry.register("e", returning(HookResult::deny("no")), at(2).name("denies"));
    registry.register("e", returning(HookResult::proceed()), at(3).name("after"));
    registry.register("e", returning(HookResult::proceed()), at(4).name("last"));
    let report = emit(&registry);
    let expected = [
        ("asks", "ran"),
        ("denies", "stopped"),
        ("after", "skipped"),
        ("last", "skipped"),
    ];
    assert_eq!(statuses(&report), expected);
    assert_eq!(&*report.stopped_by().unwrap().name, "denies");
}

#[test]
fn the_report_of_a_denial_by_the_last_hook_names_the_hook() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::deny("no")), named("denies"));
    let report = emit(&registry);
    assert_eq!(statuses(&report), [("denies", "stopped")]);
    assert_eq!(&*report.stopped_by().unwrap().name, "denies");
}

#[test]
fn e_36_the_report_contains_the_failed_hooks_and_their_failures() {
    let registry = HookRegistry::new();
    registry.register("e", fails, at(1));
    let panics = |_: Arc<str>, _: Arc<Map>| -> HookResult { panic!("out of range") };
    registry.register("e", panics, at(2).name("panics"));
    registry.register("e", returning(HookResult::proceed()), at(3).name("after"));
    let report = emit(&registry);
    assert_eq!(
        statuses(&report),
        [("fails", "failed"), ("panics", "failed"), ("after", "ran")]
    );
    let kinds: Vec<_> = report
        .entries
        .iter()
        .filter_map(|entry| match &entry.status {
            HookStatus::Failed { failure, .. } => Some(failure.kind()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["error", "panic"]);
    assert!(report.stopped_by().is_none());
}

#[test]
fn x_2_the_report_names_the_failed_hook_that_stopped_the_emission() {
    let registry = HookRegistry::new();
    registry.register("e", fails, at(1).on_failure(FailurePolicy::FailClosed));
    registry.register("e", returning(HookResult::proceed()), at(2).name("after"));
    let report = emit(&registry);
    assert_eq!(
        statuses(&report),
        [("fails", "failed, stopped"), ("after", "skipped")]
    );
    assert_eq!(&*report.stopped_by().unwrap().name, "fails");
}

#[test]
fn x_2_the_error_of_a_propagated_failure_contains_the_report() {
    let registry = HookRegistry::new();
    registry.register("e", fails, at(1).on_failure(FailurePolicy::Propagate));
    registry.register("e", returning(HookResult::proceed()), at(2).name("after"));
    let options = EmitOptions::new().report();
    let error = block_on(registry.emit_with("e", (), options)).unwrap_err();
    let report = error.emission().unwrap().report().unwrap();
    assert_eq!(
        statuses(report),
        [("fails", "failed, stopped"), ("after", "skipped")]
    );
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_missed_deadline_names_the_cancelled_hook() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::proceed()), at(1).name("before"));
    let slow = |_: Arc<str>, _: Arc<Map>| async {
        sleep(Duration::from_secs(60)).await;
        HookResult::proceed()
    };
    registry.register("e", slow, at(2).name("slow"));
    registry.register("e", returning(HookResult::proceed()), at(3).name("after"));
    let options = EmitOptions::new().report().deadline(Duration::from_secs(1));
    let error = registry.emit_with("e", (), options).await.unwrap_err();
    assert!(matches!(error, EmitError::Deadline { .. }));
    let report = error.emission().unwrap().report().unwrap();
    assert_eq!(
        statuses(report),
        [
            ("before", "ran"),
            ("slow", "abandoned"),
            ("after", "skipped")
        ]
    );
    assert!(report.stopped_by().is_none());
}

#[tokio::test(start_paused = true)]
async fn the_report_of_a_timeout_lists_the_hook_as_failed() {
    let registry = HookRegistry::new();
    let hangs = |_: Arc<str>, _: Arc<Map>| async {
        std::future::pending::<()>().await;
        HookResult::proceed()
    };
    registry.register("e", hangs, named("hangs").timeout(Duration::from_secs(1)));
    let options = EmitOptions::new().report();
    let emission = registry.emit_with("e", (), options).await.unwrap();
    let report = emission.report().unwrap();
    assert_eq!(statuses(report), [("hangs", "failed")]);
    assert!(report.to_string().contains("hangs"), "{report}");
}

#[test]
fn the_report_contains_the_elapsed_time_of_started_hooks() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::proceed()), at(1));
    registry.register("e", returning(HookResult::deny("no")), at(2));
    registry.register("e", returning(HookResult::proceed()), at(3));
    let report = emit(&registry);
    let has_elapsed: Vec<_> = report
        .entries
        .iter()
        .map(|entry| entry.elapsed.is_some())
        .collect();
    assert_eq!(has_elapsed, [true, true, false]);
}

#[test]
fn the_report_prints_one_line_per_hook() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::proceed()), at(1).name("first"));
    registry.register("e", fails, at(2));
    let text = emit(&registry).to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].contains("first") && lines[1].contains("fails"),
        "{text}"
    );
    assert!(lines[1].contains("broken"), "{text}");
}

#[test]
fn a_report_does_not_change_the_result_of_an_emission() {
    let registry = HookRegistry::new();
    registry.register("e", returning(HookResult::set("a", 1)), named("sets"));
    registry.register(
        "e",
        returning(HookResult::inject_context("i").user_message("m")),
        plain(),
    );
    registry.register("e", fails, plain());
    let with = block_on(registry.emit_with("e", (), EmitOptions::new().report())).unwrap();
    let without = block_on(registry.emit("e", ())).unwrap();
    assert_eq!(with.result(), without.result());
    assert_eq!(with.messages, without.messages);
    assert_eq!(
        (with.data, with.decided_by),
        (without.data, without.decided_by)
    );
    assert_eq!(with.failures.len(), without.failures.len());
}

/// Also `X-4`.
#[test]
fn r_10_the_report_of_a_pre_phase_names_the_halting_hook() {
    let registry = PhaseRegistry::<str, str>::new();
    registry.register_pre(PreFn::new("a", |_: &str| HookResponse::default()), at(1));
    let halts = |_: &str| HookResponse::new(ResponseAction::Halt);
    registry.register_pre(PreFn::new("b", halts), at(2));
    registry.register_pre(PreFn::new("c", |_: &str| HookResponse::default()), at(3));
    let (response, report) = block_on(registry.execute_pre_reported("r"));
    assert_eq!(response.unwrap().action, ResponseAction::Halt);
    assert_eq!(
        statuses(&report),
        [("a", "ran"), ("b", "stopped"), ("c", "skipped")]
    );
    assert_eq!(report.entries[1].key.as_deref(), Some("b"));
}

#[test]
fn r_13_the_report_of_a_pre_phase_names_the_failed_hook() {
    let registry = PhaseRegistry::<str, str>::new();
    let fails = |_: &str| Err::<HookResponse, _>(HookError::new("broken"));
    registry.register_pre(PreFn::new("a", fails), at(1));
    registry.register_pre(PreFn::new("b", |_: &str| HookResponse::default()), at(2));
    let (response, report) = block_on(registry.execute_pre_reported("r"));
    assert!(response.is_err());
    assert_eq!(
        statuses(&report),
        [("a", "failed, stopped"), ("b", "skipped")]
    );
}

#[test]
fn r_14_the_report_of_a_post_phase_lists_failures_and_later_hooks() {
    let registry = PhaseRegistry::<str, str>::new();
    registry.register_post(PostFn::new("a", |_: &str, _: Option<&str>| ()), plain());
    let fails = |_: &str, _: Option<&str>| Err::<(), _>(HookError::new("broken"));
    registry.register_post(PostFn::new("b", fails), plain());
    registry.register_post(PostFn::new("c", |_: &str, _: Option<&str>| ()), plain());
    let report = block_on(registry.execute_post_reported("r", None));
    assert_eq!(
        statuses(&report),
        [("a", "ran"), ("b", "failed"), ("c", "ran")]
    );
    assert!(report.stopped_by().is_none());
}

#[tokio::test]
async fn phases_with_reports_are_sent_between_threads() {
    let registry: PhaseRegistry<str, str> = PhaseRegistry::new();
    registry.register_pre(PreFn::new("a", |_: &str| HookResponse::default()), plain());
    let task = tokio::spawn(async move {
        let (response, pre) = registry.execute_pre_reported("r").await;
        let post = registry.execute_post_reported("r", None).await;
        (response.is_ok(), pre.entries.len(), post.entries.len())
    });
    assert_eq!(task.await.unwrap(), (true, 1, 0));
}

#[test]
fn r_09_r_14_phase_reports_without_hooks_are_empty() {
    let registry = PhaseRegistry::<str, str>::new();
    let (response, report) = block_on(registry.execute_pre_reported("r"));
    assert_eq!(response.unwrap(), HookResponse::default());
    assert!(report.entries.is_empty());
    assert!(
        block_on(registry.execute_post_reported("r", None))
            .entries
            .is_empty()
    );
}
