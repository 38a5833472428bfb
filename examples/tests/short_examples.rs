//! Runs the short examples, whose assertions must hold.

mod program;

use std::process::Command;

use hooks_runtime::events;

/// Runs an example and returns its output.
fn run(name: &str) -> String {
    let output = Command::new(program::find(name))
        .output()
        .expect("the example starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Every example is in the list, and has a test.
#[test]
fn every_example_is_listed_and_run() {
    let list = include_str!("../README.md");
    let tests = [
        include_str!("short_examples.rs"),
        include_str!("over_http.rs"),
    ]
    .concat();
    let examples = include_str!("../Cargo.toml").split("[[example]]").skip(1);
    let names = examples.filter_map(|example| example.split('"').nth(1));
    let names: Vec<_> = names.collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let lines = list.matches(&format!("| [`{name}`](")).count();
        assert_eq!(lines, 1, "{name} has a line in examples/README.md");
        // `guarded_session` has separate tests.
        if name == "guarded_session" {
            continue;
        }
        let runs = [format!("run(\"{name}\")"), format!("find(\"{name}\")")];
        assert!(runs.iter().any(|run| tests.contains(run)), "{name} is run");
    }
}

#[test]
fn a_hook_can_borrow_from_the_application() {
    assert!(run("borrowed_policy").contains("eve@example.org: refused"));
}

#[test]
fn a_hook_keeps_state() {
    assert!(run("stateful_hook").starts_with("A-1\nA-2\nA-3\n"));
}

#[test]
fn plugins_that_name_each_other_load_in_any_order() {
    let output = run("plugins_in_any_order");
    let all = "{\"file:write\": [\"audit\", \"format\", \"sign\"]}\n\"a line (signed)\"\n";
    assert_eq!(output.matches(all).count(), 3, "{output}");
    assert_eq!(output.matches("audit:   a line \n").count(), 3, "{output}");
    assert!(output.contains("[\"sign\", \"audit\"]"), "{output}");
    assert!(
        output.lines().last().unwrap().contains("the order of `"),
        "{output}"
    );
}

#[test]
fn a_host_decides_for_all_hooks() {
    let output = run("hosts_in_charge");
    let lines: Vec<_> = output.lines().collect();
    let expected = [
        "event file:write",
        "denied: true",
        "event file:publish",
        "hook `service` of event `file:publish` timed out after 20ms",
        "2 hooks of the plugin",
        "event file:write",
        "false \"s-1\"",
        "2 removed",
        "{\"file:publish\": [\"log\"]}",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn hooks_are_ordered_relative_to_keys() {
    let output = run("ordering_relative_to_a_key");
    let order = ["count", "redact", "sign", "compress"].map(|key| output.find(key));
    assert!(order.is_sorted() && order[0].is_some(), "{output}");
}

#[test]
fn conditions_select_hooks() {
    assert!(run("hooks_with_conditions").contains("bucket:photo.png and thumbnails\n"));
}

#[test]
fn typed_slots_decide_by_the_rules_of_the_registries() {
    let output = run("dynamic_semantics_on_slots");
    let expected = [
        "pre: DENY (Some(\"no shell on Fridays\"))",
        "ran fetch",
        "event: ask_user Some(\"Run `shell`?\")",
        "rewrite: modify \"/srv/readme\"",
        "rewrite: deny \"/srv/secret\"",
    ];
    assert_eq!(output.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn around_hooks_retry() {
    let output = run("middleware_with_around");
    assert_eq!(output.matches("retry: Err(").count(), 2, "{output}");
}

#[test]
fn concurrent_hooks_keep_their_order() {
    assert!(run("asking_services_in_parallel").starts_with("[100, 90, 80, 70] after "));
}

#[test]
fn one_call_has_other_hooks() {
    assert!(run("hooks_for_one_call").contains("Note"));
}

#[test]
fn sets_are_composed() {
    assert!(run("composing_with_extend").starts_with("de: "));
}

#[test]
fn outputs_are_chained_and_aggregated() {
    assert!(run("chain_and_aggregate").contains("score: 2.5"));
}

#[test]
fn hooks_are_ordered_replaced_and_removed() {
    assert!(run("ordering_by_key_and_priority").starts_with("hello dear good friend\n"));
}

#[test]
fn registered_hooks_are_listed() {
    assert!(run("listing_what_runs").contains("at most 64 bytes"));
}

#[test]
fn plugins_can_deny_a_tool_call() {
    let printed = run("guarding_a_tool");
    assert!(
        printed.contains("/srv/app/.env: deny by protect_secrets"),
        "{printed}"
    );
    assert!(printed.contains("lint: Found linting issues"), "{printed}");
}

#[test]
fn plugins_vote_on_a_decision() {
    assert!(run("voting_on_a_decision").starts_with("weather with 2 of 3 votes"));
}

#[test]
fn a_mock_replaces_a_check() {
    let printed = run("replacing_a_check_in_a_test");
    assert!(printed.starts_with("HALT: Budget Exceeded"), "{printed}");
    assert!(
        printed.contains("hook `known-tool` failed: unknown tool `teleport`"),
        "{printed}"
    );
}

#[test]
fn hooks_receive_requests_to_a_model_and_its_responses() {
    let printed = run("hooks_around_a_model");
    assert!(
        printed.starts_with(
            "text_turn with 2 messages for eu-prod\n  seen: \"Hel\"\n  got:  \"Hel\"\n  seen: \"lo\"\n  got:  \"lo\"\n"
        ),
        "{printed}"
    );
    assert!(printed.contains("plan: look, then leap\n"), "{printed}");
    assert!(
        printed.contains("refused: the budget of 45 tokens has 20 left"),
        "{printed}"
    );
}

#[test]
fn a_host_adds_a_hook_to_the_engine() {
    let expected = "\
write_to_file: DENY, State Check
select_active_intent: SAFE
write_to_file: hook `traceability` failed: `write_to_file` is destructive and names no intent; give the call the id of one
new_task: DESTRUCTIVE
write_to_file: DESTRUCTIVE
write_to_file: DENY, Scope Violation
new_task: DENY, One agent at a time
1 change was logged
";
    assert_eq!(run("extending_the_engine"), expected);
}

/// `E-80`: a host with a use for each of the sixteen events, in order.
#[test]
fn an_orchestrator_emits_every_standard_event_in_order() {
    let printed = run("orchestrator");
    let first_word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let lines = printed.lines().map(first_word);
    let is_event = |word: &String| events::STANDARD.contains(&word.as_str());
    let emitted: Vec<_> = lines.filter(is_event).collect();

    let tool_call = ["decision:tool_resolution", "tool:pre", "tool:post"];
    let turn_with_compaction = ["decision:context_resolution", "context:pre-compact"];
    let first_prompt = [
        &[
            "prompt:submit",
            "decision:agent_resolution",
            "agent:spawn",
            "decision:context_resolution",
            // The model fails once, and a hook requests a retry.
            "error:provider",
        ][..],
        &tool_call,
        &["decision:context_resolution"],
        &tool_call,
        &turn_with_compaction,
        &[
            "agent:complete",
            "user:notification",
            "orchestrator:complete",
        ],
    ];
    let second_prompt = [
        &["prompt:submit", "decision:agent_resolution", "agent:spawn"][..],
        &turn_with_compaction,
        &["decision:tool_resolution", "tool:pre", "error:tool"],
        &turn_with_compaction,
        &[
            "agent:complete",
            "user:notification",
            "orchestrator:complete",
        ],
    ];
    // A prompt that a hook denies, and one for which the model keeps failing.
    let last_prompts = [
        &["prompt:submit"][..],
        &["prompt:submit", "decision:agent_resolution", "agent:spawn"],
        &turn_with_compaction,
        &[
            "error:provider",
            "error:orchestration",
            "orchestrator:complete",
        ],
    ];
    let all = [
        vec!["session:start"],
        first_prompt.concat(),
        second_prompt.concat(),
        last_prompts.concat(),
        vec!["session:end"],
    ];
    assert_eq!(emitted, all.concat());
    for event in events::STANDARD {
        assert!(emitted.iter().any(|emitted| emitted == event), "{event}");
    }

    // A message that a hook injects for one call reaches the model and is not kept.
    assert!(printed.contains(r#"ok\"}\n\n(run is done; remember to inform the user)""#));
    assert!(printed.contains("refused: secrets are off limits"));
    assert!(printed.contains("! a tool failed: tool `deploy` failed"));
}

#[test]
fn a_plugin_is_loaded_by_name_and_unloaded() {
    let expected = "\
unknown plugin `qouta`; use `quota`
quota: 2 hooks
cannot load the plugin `quota`: `calls` is 0; use a number above zero
read_file: runs
read_file: runs
write_to_file: no calls left for `write_to_file`
quota: 2 hooks removed
write_to_file: runs
";
    assert_eq!(run("loading_a_plugin"), expected);
}

#[cfg(feature = "script")]
#[test]
fn users_moderate_with_scripts() {
    assert_eq!(
        run("moderating_with_scripts"),
        "said: \"hello\"\n\
         Shouting: Ada, please do not shout\n\
         said: \"sorry\"\n\
         broken is disabled\n\
         no-shouting runs\n"
    );
}

#[cfg(feature = "script")]
#[test]
fn a_script_rewrites_calls_for_later_hooks() {
    assert_eq!(
        run("rewriting_with_scripts"),
        "cargo test: {\"command\":\"cargo test --quiet\",\"env\":{\"NO_COLOR\":\"1\"}}\n\
         cargo publish: agents must not publish\n\
         ls: {\"command\":\"ls\",\"env\":{\"NO_COLOR\":\"1\"}}\n"
    );
}

#[cfg(feature = "script")]
#[test]
fn a_post_hook_sends_only_with_consent() {
    assert_eq!(
        run("consented_post_hook"),
        "Missing(Never), 0 requests\n\
         the server received {\"length\":5}\n\
         sent: 204\n\
         Missing(Revoked), 0 requests\n"
    );
}

#[test]
fn a_check_sees_the_final_data_and_an_audit_hook_every_decision() {
    assert_eq!(
        run("deciding_and_observing"),
        "modify: /srv/ada/project/notes.md\ndeny: /srv/ada/.ssh/id_ed25519\n"
    );
}

#[test]
fn a_hook_runs_for_some_tools_and_is_disabled_after_failures() {
    assert_eq!(
        run("filtering_events_by_tool"),
        "read_file main.rs: continue\n\
         write_file main.rs: deny\n\
         write_file plan.md: continue\n\
         statistics: enabled false, 2 failures\n\
         read_only: enabled true, 0 failures\n"
    );
}

#[test]
fn a_host_declares_events_with_their_data() {
    let output = run("declaring_events");
    for line in [
        "deploy:start: A deployment begins.",
        "  target: string, one of \"staging\", \"production\"",
        "warning: undeclared event `deploy:strat`, similar to `deploy:start`; correct the name, or \
         declare the event",
        "error: the data of event `deploy:start` do not match its schema: field `target` is missing",
    ] {
        assert!(
            output.lines().any(|printed| printed == line),
            "{line}\n{output}"
        );
    }
}

#[test]
fn result_hooks_change_what_a_tool_returned() {
    let output = run("changing_tool_results");
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(
        lines,
        [
            "again: tool `read_file` failed: the server is busy",
            "\"user: ada, password: [redacted]\"",
            "the output of tool `read_file` was withheld: denied by `no-keys`: a private key",
        ]
    );
}
