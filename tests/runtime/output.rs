//! Output for the user (E-97, E-139, E-150 to E-152).

use std::sync::Arc;

use hooks_runtime::approval::FixedAnswers;
use hooks_runtime::{
    Action, AppliedEmission, Conversation, Coordinator, Event, HookOutput, HookRegistry,
    HookResult, Map, MessageLevel, UserDisplay, UserMessage,
};
use serde_json::json;

use crate::kit::{Log, at, capture_logs, has_line, map, named, plain, returning};

/// Records the displayed messages.
struct Shows(Log);

impl UserDisplay for Shows {
    fn message(
        &self,
        UserMessage {
            text, level, hook, ..
        }: &UserMessage,
    ) {
        self.0.add(format!("{level:?} {hook}: {text}"));
    }

    fn output(&self, HookOutput { text, hook, .. }: &HookOutput) {
        self.0.add(format!("output {hook}: {text}"));
    }
}

/// A display that panics.
struct Broken(Log);

impl UserDisplay for Broken {
    fn message(&self, message: &UserMessage) {
        self.0.add(&message.text);
        panic!("the window is closed");
    }

    fn output(&self, output: &HookOutput) {
        self.0.add(&output.text);
        panic!("the window is closed");
    }
}

fn showing(log: &Log) -> Coordinator {
    Coordinator::builder()
        .provider(FixedAnswers::allow())
        .display(Shows(log.clone()))
        .build()
}

async fn decide(coordinator: &Coordinator, hooks: &HookRegistry) -> AppliedEmission {
    coordinator
        .emit(
            hooks,
            "tool:post",
            json!({"tool_result": "42"}),
            &mut Conversation::new(),
        )
        .await
        .expect("the event can be applied")
}

fn one(result: HookResult) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register("tool:post", returning(result), named("lint"));
    hooks
}

/// Returns a result of each action.
fn of_each_action() -> [HookResult; 5] {
    [
        HookResult::proceed(),
        HookResult::deny("no"),
        HookResult::modify(map(json!({"tool_result": "43"}))),
        HookResult::inject_context("told"),
        HookResult::ask_user("Go on?"),
    ]
}

/// Returns a hook that prints this text, with this result.
fn printing(
    text: &'static str,
    result: HookResult,
) -> impl Fn(Event<'_>) -> HookResult + Send + Sync + 'static {
    move |event: Event<'_>| {
        event.print(text);
        result.clone()
    }
}

#[tokio::test]
async fn e_97_the_denial_text_contains_the_reason() {
    let applied = decide(
        &Coordinator::new(),
        &one(HookResult::deny("keys are not read")),
    )
    .await;
    assert!(applied.denial().unwrap().contains("keys are not read"));
}

#[tokio::test]
async fn e_97_a_denial_without_a_reason_has_a_denial_text() {
    let silent = HookResult {
        action: Action::Deny,
        ..HookResult::proceed()
    };
    let applied = decide(&Coordinator::new(), &one(silent)).await;
    assert!(applied.is_denied());
    assert!(!applied.denial().unwrap().trim().is_empty());
}

#[tokio::test]
async fn e_97_a_denial_with_an_empty_reason_has_a_denial_text() {
    for reason in ["", " "] {
        let applied = decide(&Coordinator::new(), &one(HookResult::deny(reason))).await;
        assert!(applied.is_denied());
        assert!(!applied.denial().unwrap().trim().is_empty());
    }
}

#[tokio::test]
async fn e_97_every_action_can_have_a_reason() {
    for result in of_each_action() {
        let is_denied = result.action == Action::Deny;
        let applied = decide(&showing(&Log::new()), &one(result.reason("because"))).await;
        assert_eq!(applied.is_denied(), is_denied);
    }
}

#[tokio::test]
async fn e_23_a_denial_keeps_earlier_data_and_messages() {
    let log = Log::new();
    let hooks = HookRegistry::new();
    let modify = HookResult::modify(map(json!({"a": 1}))).user_message("first");
    hooks.register("tool:post", returning(modify), named("one"));
    let deny = HookResult::deny("no").user_message("second");
    hooks.register("tool:post", returning(deny), named("two"));
    let never = HookResult::proceed().user_message("third");
    hooks.register("tool:post", returning(never), named("three"));
    let applied = decide(&showing(&log), &hooks).await;
    assert!(applied.is_denied());
    assert_eq!(*applied.data, map(json!({"a": 1})));
    assert_eq!(log.lines(), ["Info one: first", "Info two: second"]);
}

#[tokio::test]
async fn e_151_a_message_of_any_action_is_displayed_with_level_and_hook() {
    for result in of_each_action() {
        for (level, name) in [
            (MessageLevel::Info, "Info"),
            (MessageLevel::Warning, "Warning"),
            (MessageLevel::Error, "Error"),
        ] {
            let log = Log::new();
            let result = result
                .clone()
                .user_message("3 warnings")
                .user_message_level(level);
            let _ = decide(&showing(&log), &one(result)).await;
            assert_eq!(log.lines(), [format!("{name} lint: 3 warnings")]);
        }
    }
}

#[tokio::test]
async fn e_91_the_default_message_level_is_info() {
    let log = Log::new();
    let _ = decide(
        &showing(&log),
        &one(HookResult::proceed().user_message("done")),
    )
    .await;
    assert_eq!(log.lines(), ["Info lint: done"]);
}

#[tokio::test]
async fn e_151_without_a_display_messages_are_logged() {
    for result in of_each_action() {
        for (level, name) in [
            (MessageLevel::Info, "INFO"),
            (MessageLevel::Warning, "WARN"),
            (MessageLevel::Error, "ERROR"),
        ] {
            let result = result
                .clone()
                .user_message("3 warnings")
                .user_message_level(level);
            let coordinator = Coordinator::new();
            let hooks = one(result);
            let (_, lines) = capture_logs(decide(&coordinator, &hooks)).await;
            assert!(has_line(&lines, name, &["3 warnings", "lint"]), "{lines:?}");
        }
    }
}

#[tokio::test]
async fn e_151_with_a_display_messages_are_not_logged() {
    let coordinator = showing(&Log::new());
    let hooks = one(HookResult::proceed().user_message("3 warnings"));
    let (_, lines) = capture_logs(decide(&coordinator, &hooks)).await;
    assert!(
        !lines.iter().any(|line| line.contains("3 warnings")),
        "{lines:?}"
    );
}

#[tokio::test]
async fn e_151_control_characters_of_a_message_are_escaped_in_the_log() {
    let coordinator = Coordinator::new();
    let hooks = one(HookResult::proceed().user_message("fine\nERROR forged \u{1b}[2J"));
    let (_, lines) = capture_logs(decide(&coordinator, &hooks)).await;
    let line = lines
        .iter()
        .find(|line| line.contains("forged"))
        .expect("it is logged");
    assert!(!line.contains('\n') && !line.contains('\u{1b}'), "{line:?}");
}

#[tokio::test]
async fn e_152_messages_of_several_hooks_are_displayed_in_order() {
    for with_display in [true, false] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        for (priority, name) in [(30, "c"), (10, "a"), (40, "d"), (20, "b")] {
            let result = of_each_action()[usize::from(name == "b") * 3].clone();
            let result = result.user_message(format!("from {name}"));
            hooks.register(
                "tool:post",
                returning(result),
                named(name).priority(priority),
            );
        }
        let expected = ["from a", "from b", "from c", "from d"];
        if with_display {
            let _ = decide(&showing(&log), &hooks).await;
            let names = ["a", "b", "c", "d"].map(|name| format!("Info {name}: from {name}"));
            assert_eq!(log.lines(), names);
        } else {
            let coordinator = Coordinator::new();
            let (_, lines) = capture_logs(decide(&coordinator, &hooks)).await;
            let said = lines.iter().filter(|line| line.contains("from ")).cloned();
            let said: Vec<String> = said.collect();
            assert_eq!(said.len(), 4, "{said:?}");
            for (line, word) in said.iter().zip(expected) {
                assert!(line.contains(word), "{said:?}");
            }
        }
    }
}

#[tokio::test]
async fn e_151_without_messages_nothing_is_displayed() {
    let log = Log::new();
    for result in of_each_action() {
        let _ = decide(&showing(&log), &one(result)).await;
    }
    assert_eq!(log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn e_151_a_function_can_be_the_display() {
    let log = Log::new();
    let shown = log.clone();
    let coordinator = Coordinator::builder()
        .display(move |message: &UserMessage| shown.add(&message.text))
        .build();
    let hooks = HookRegistry::new();
    let result = HookResult::proceed().user_message("done");
    hooks.register("tool:post", printing("noise", result), plain());
    let _ = decide(&coordinator, &hooks).await;
    assert_eq!(log.lines(), ["done"]);
}

#[tokio::test]
async fn e_151_a_panicking_display_does_not_change_the_result() {
    for result in of_each_action() {
        let expected = matches!(result.action, Action::Deny);
        let log = Log::new();
        let coordinator = Coordinator::builder()
            .provider(FixedAnswers::allow())
            .display(Broken(log.clone()))
            .build();
        let hooks = HookRegistry::new();
        let first = HookResult::proceed().user_message("one");
        hooks.register("tool:post", printing("noise", first), at(-1));
        hooks.register("tool:post", returning(result.user_message("two")), plain());
        for _ in 0..2 {
            let applied = decide(&coordinator, &hooks).await;
            assert_eq!(applied.is_denied(), expected);
            assert_eq!(
                log.take(),
                ["noise", "one", "two"],
                "the others are shown too"
            );
        }
    }
}

#[tokio::test]
async fn e_151_a_panicking_display_is_logged_and_injections_are_kept() {
    let coordinator = Coordinator::builder().display(Broken(Log::new())).build();
    let hooks = one(HookResult::inject_context("told").user_message("one"));
    let mut conversation = Conversation::new();
    let apply = coordinator.emit(&hooks, "tool:post", (), &mut conversation);
    let (applied, lines) = capture_logs(apply).await;
    assert!(!applied.unwrap().is_denied());
    assert_eq!(conversation.history().len(), 1);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("the window is closed")),
        "{lines:?}"
    );
}

#[tokio::test]
async fn e_150_printed_output_is_displayed_in_order_before_messages() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let result = HookResult::proceed().user_message("done");
    hooks.register("tool:post", printing("step 1", result.clone()), named("a"));
    hooks.register("tool:post", printing("step 2", result), named("b"));
    let _ = decide(&showing(&log), &hooks).await;
    let expected = [
        "output a: step 1",
        "output b: step 2",
        "Info a: done",
        "Info b: done",
    ];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn e_150_suppress_output_suppresses_only_the_output_of_its_hook() {
    for result in of_each_action() {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let before = HookResult::proceed();
        hooks.register(
            "tool:post",
            printing("before", before),
            named("a").priority(-1),
        );
        let quiet = result.suppress_output(true).user_message("summary");
        let is_deny = quiet.action == Action::Deny;
        hooks.register("tool:post", printing("noise", quiet), named("b"));
        let after = HookResult::proceed();
        hooks.register(
            "tool:post",
            printing("after", after),
            named("c").priority(1),
        );
        let applied = decide(&showing(&log), &hooks).await;
        let mut expected = vec!["output a: before", "output c: after", "Info b: summary"];
        if is_deny {
            expected.remove(1);
        }
        assert_eq!(log.lines(), expected);
        assert!(
            applied.data.contains_key("tool_result"),
            "the tool's output stays"
        );
    }
}

#[tokio::test]
async fn e_150_printed_output_of_any_action_is_displayed_by_default() {
    for result in of_each_action() {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        hooks.register("tool:post", printing("details", result), named("a"));
        let _ = decide(&showing(&log), &hooks).await;
        assert_eq!(log.lines(), ["output a: details"]);
    }
}

#[tokio::test]
async fn e_150_printed_output_is_kept_after_a_pending_hook() {
    for is_suppressed in [false, true] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let waits = move |_: Arc<str>, _: Arc<Map>| async move {
            crate::kit::yield_once().await;
            HookResult::proceed().suppress_output(is_suppressed)
        };
        hooks.register("tool:post", waits, named("waits"));
        let result = HookResult::proceed();
        hooks.register("tool:post", printing("details", result), named("prints"));
        let _ = decide(&showing(&log), &hooks).await;
        assert_eq!(log.lines(), ["output prints: details"], "{is_suppressed}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn e_150_a_command_hook_can_suppress_its_own_output() {
    for (suppress, expected) in [
        ("false", vec!["to stderr", "to stdout", "summary"]),
        ("true", vec!["summary"]),
    ] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let script = format!(
            r#"cat >/dev/null; echo to stdout; echo to stderr >&2
            echo '{{"suppress_output": {suppress}, "user_message": "summary"}}'"#
        );
        let program = hooks_runtime::CommandHook::new("sh").args(["-c", &script]);
        hooks.register("tool:post", program, named("program"));
        let applied = decide(&showing(&log), &hooks).await;
        assert_eq!(applied.data["tool_result"], "42");
        let lines = log.lines();
        let found = |word: &str| lines.iter().any(|line| line.contains(word));
        for word in &expected {
            assert!(found(word), "{word} in {lines:?}");
        }
        for word in ["to stdout", "to stderr"] {
            assert_eq!(found(word), expected.contains(&word), "{lines:?}");
        }
    }
}
