//! The worked examples of the rules on context injection, approval gates and output control, in
//! their order, each through a registry and a coordinator: the conversation, the call, and the
//! output for the user.

use std::sync::{Arc, Mutex};

use hooks_runtime::approval::{ApprovalEffect, ApprovalRequest, FixedAnswers};
use hooks_runtime::{
    AppliedEmission, ApprovalDefault, ContextRole, Conversation, Coordinator, Event, HookOutput,
    HookRegistry, HookResult, Message, MessageLevel, RegisterOptions, Role, UserDisplay,
    UserMessage,
};
use serde_json::{Value, json};

use ApprovalEffect::{AllowAlways, AllowOnce, Deny};

/// Output for the user.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<String>>>);

impl UserDisplay for Screen {
    fn message(
        &self,
        UserMessage {
            text, level, hook, ..
        }: &UserMessage,
    ) {
        let line = format!("{level:?} from {hook}: {text}");
        self.0.lock().unwrap().push(line);
    }

    fn output(&self, HookOutput { text, hook, .. }: &HookOutput) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{hook} printed: {text}"));
    }
}

/// A host with a conversation whose last message is a tool's result.
struct Host {
    hooks: HookRegistry,
    coordinator: Coordinator,
    conversation: Conversation,
    screen: Screen,
    answers: FixedAnswers,
}

impl Host {
    fn new(answers: FixedAnswers) -> Self {
        let screen = Screen::default();
        let coordinator = Coordinator::builder()
            .provider(answers.clone())
            .display(screen.clone())
            .build();
        let mut conversation = Conversation::new();
        conversation.push(Message::user("Go on."));
        conversation.push(Message::tool_result("call-1", "done"));
        Host {
            hooks: HookRegistry::new(),
            coordinator,
            conversation,
            screen,
            answers,
        }
    }

    /// Applies an event whose hook has printed something and returns this result.
    async fn apply(&mut self, result: HookResult) -> AppliedEmission {
        let hook = move |event: Event<'_>| {
            event.print("verbose details");
            result.clone()
        };
        let options = RegisterOptions::new().name("example");
        let registration = self.hooks.register("tool:post", hook, options);
        let data = json!({"tool_name": "Write", "tool_input": {"file_path": "a.py"}});
        let conversation = &mut self.conversation;
        let applied = self
            .coordinator
            .emit(&self.hooks, "tool:post", data, conversation)
            .await;
        registration.unregister();
        applied.expect("it applies")
    }

    /// Returns the messages added to the history.
    fn stored(&self) -> Vec<(Role, &str)> {
        let added = self.conversation.history().iter().skip(2);
        added
            .map(|message| (message.role, &*message.content))
            .collect()
    }

    /// Returns the messages of the next call, after those of the history.
    fn called(&mut self) -> Vec<(Role, String)> {
        let messages = self.conversation.next_call().into_iter().skip(1);
        messages
            .map(|message| (message.role, message.content))
            .collect()
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.screen.0.lock().unwrap())
    }

    fn asked(&self) -> Arc<ApprovalRequest> {
        self.answers.asked().pop().expect("a question")
    }
}

fn inject(text: &str) -> HookResult {
    HookResult::inject_context(text)
}

/// One injection of each of the examples, and the messages for the model, now and later.
#[tokio::test]
async fn e_110_e_111_e_112_the_specified_examples_of_context_injection_hold() {
    let lint = "Linter found 3 errors:\n- Line 42: Line too long\n- Line 55: Unused import\n- Line 67: Missing docstring";
    let build = "Build completed successfully. 15 tests passed, 0 failed.";
    let (saved, key, thought) = (
        "File saved to /tmp/output.txt",
        "The API key is in the .env file",
        "I should check the logs before proceeding",
    );
    let failed = "Error: Database connection failed";
    let stored = [
        (inject(lint), Role::System, lint),
        (inject(build), Role::System, build),
        (
            inject(saved).context_injection_role(ContextRole::System),
            Role::System,
            saved,
        ),
        (
            inject(key).context_injection_role(ContextRole::User),
            Role::User,
            key,
        ),
        (
            inject(thought).context_injection_role(ContextRole::Assistant),
            Role::Assistant,
            thought,
        ),
        (inject(failed).ephemeral(false), Role::System, failed),
    ];
    for (result, role, text) in stored {
        let mut host = Host::new(FixedAnswers::deny());
        assert!(!host.apply(result).await.is_denied());
        assert_eq!(host.stored(), [(role, text)]);
        let told = (role, text.to_owned());
        for call in ["now", "and later"] {
            assert_eq!(host.called()[1..], *std::slice::from_ref(&told), "{call}");
        }
    }

    let memory = "Current memory usage: 85% (reminder: optimize soon)";
    let staging = "Please also check the staging environment";
    let ports = "Build artifacts ready for deployment";
    let beside = [
        (inject(memory).ephemeral(true), Role::System, memory),
        (
            inject(ports)
                .ephemeral(true)
                .append_to_last_tool_result(false),
            Role::System,
            ports,
        ),
        (
            inject(staging)
                .context_injection_role(ContextRole::User)
                .ephemeral(true),
            Role::User,
            staging,
        ),
    ];
    for (result, role, text) in beside {
        let mut host = Host::new(FixedAnswers::deny());
        let _ = host.apply(result).await;
        assert!(host.stored().is_empty(), "it is not stored");
        assert_eq!(host.called()[1..], [(role, text.to_owned())], "now");
        assert!(host.called()[1..].is_empty(), "and never again");
    }

    let review = "\n\nReminder: This file needs review before deployment";
    let backup = "\n[Hook: File backed up to ~/.amplifier/backups/]";
    for text in [review, backup] {
        let mut host = Host::new(FixedAnswers::deny());
        let result = inject(text)
            .ephemeral(true)
            .append_to_last_tool_result(true);
        let _ = host.apply(result).await;
        assert!(host.stored().is_empty(), "it is not stored");
        assert_eq!(host.called(), [(Role::Tool, format!("done{text}"))], "now");
        assert_eq!(
            host.called(),
            [(Role::Tool, "done".to_owned())],
            "and never again"
        );
    }
}

/// The options of the examples, and their effects.
#[tokio::test]
async fn e_130_e_133_the_specified_examples_of_approval_gates_hold() {
    let ask = HookResult::ask_user;
    let plain = [("Allow", AllowOnce), ("Deny", Deny)];
    let cached = [
        ("Allow once", AllowOnce),
        ("Allow always", AllowAlways),
        ("Deny", Deny),
    ];
    let yes_no = [("Yes", AllowOnce), ("No", Deny)];
    let labels = |options: &[(&str, ApprovalEffect)]| -> Vec<String> {
        options
            .iter()
            .map(|(label, _)| (*label).to_owned())
            .collect()
    };
    let nginx = [
        ("Allow once", AllowOnce),
        ("Allow always for nginx", AllowAlways),
        ("Deny", Deny),
    ];
    let overwrite = [
        ("Overwrite", AllowOnce),
        ("Create backup and overwrite", AllowOnce),
        ("Cancel", Deny),
    ];
    type Example<'a> = (HookResult, &'a [(&'a str, ApprovalEffect)], u64);
    let examples: Vec<Example<'_>> = vec![
        (ask("Deploy to production?"), &plain, 300),
        (ask("Allow write to production/config.py?"), &plain, 300),
        (
            ask("Execute 'rm -rf /tmp/cache/*' to clear 2.3GB of temporary files?"),
            &plain,
            300,
        ),
        (
            ask("Allow network request to external API https://api.example.com/data?"),
            &plain,
            300,
        ),
        (ask("Delete temporary files?"), &plain, 300),
        (
            ask("Install npm package 'lodash'?").approval_options(labels(&cached)),
            &cached,
            300,
        ),
        (
            ask("Continue with deployment?").approval_options(labels(&yes_no)),
            &yes_no,
            300,
        ),
        (
            ask("Approve database migration?").approval_timeout(300.0),
            &plain,
            300,
        ),
        (
            ask("Clear browser cache?").approval_timeout(30.0),
            &plain,
            30,
        ),
        (
            ask("Review and approve 47 file changes before commit?").approval_timeout(900.0),
            &plain,
            900,
        ),
        (
            ask("Execute sudo command 'systemctl restart nginx'?")
                .approval_options(labels(&nginx))
                .approval_timeout(180.0)
                .approval_default(ApprovalDefault::Deny)
                .reason("System service restart requires elevated privileges"),
            &nginx,
            180,
        ),
        (
            ask("Overwrite existing file 'important-data.json' (last modified 2 hours ago)?")
                .approval_options(labels(&overwrite))
                .approval_timeout(120.0)
                .approval_default(ApprovalDefault::Deny)
                .reason("Preventing accidental data loss"),
            &overwrite,
            120,
        ),
    ];
    for (result, options, seconds) in examples {
        for &(label, effect) in options {
            let mut host = Host::new(FixedAnswers::labels([label]));
            let applied = host.apply(result.clone()).await;
            let request = host.asked();
            assert_eq!(Some(&request.prompt), result.approval_prompt.as_ref());
            let offered = request.options.iter();
            let offered: Vec<_> = offered
                .map(|option| (&*option.label, option.effect))
                .collect();
            assert_eq!(offered, options);
            assert_eq!(request.timeout.as_secs(), seconds);
            let denied = applied.denial().map(str::to_owned);
            assert_eq!(denied.is_none(), effect != Deny, "{label}");
            assert_eq!(applied.approval.expect("a question").label(), Some(label));
            if let Some(denied) = denied {
                assert!(denied.contains(&request.prompt), "{denied}");
                assert!(
                    denied.contains(result.reason.as_deref().unwrap_or("")),
                    "{denied}"
                );
            }
            // Once more: only "always" is not asked twice.
            let _ = host.apply(result.clone()).await;
            let times = if effect == AllowAlways { 1 } else { 2 };
            assert_eq!(host.answers.asked().len(), times, "{label}");
        }
    }
}

/// The examples of the default action on timeout.
#[tokio::test(start_paused = true)]
async fn e_134_the_specified_examples_of_the_default_action_hold() {
    use hooks_runtime::approval::ApprovalQueue;
    let examples = [
        (
            HookResult::ask_user("Allow write to system directory?")
                .approval_default(ApprovalDefault::Deny),
            true,
        ),
        (
            HookResult::ask_user("Save backup copy of edited file?")
                .approval_default(ApprovalDefault::Allow)
                .approval_timeout(60.0),
            false,
        ),
    ];
    for (result, is_denied) in examples {
        let hooks = HookRegistry::new();
        hooks.register(
            "tool:pre",
            move |_: Event<'_>| result.clone(),
            RegisterOptions::new(),
        );
        let unread_queue = ApprovalQueue::new();
        let coordinator = Coordinator::builder()
            .provider(unread_queue.clone())
            .build();
        let mut conversation = Conversation::new();
        let applied = coordinator
            .emit(&hooks, "tool:pre", (), &mut conversation)
            .await;
        assert_eq!(applied.expect("it applies").is_denied(), is_denied);
        assert!(unread_queue.is_empty(), "the question is withdrawn");
    }
}

/// The output for the user in each of the examples; the hook prints something in all of them.
#[tokio::test]
async fn e_150_e_151_the_specified_examples_of_output_control_hold() {
    const PRINTED: &str = "example printed: verbose details";
    let proceed = HookResult::proceed;
    let linted = "Found 3 linting issues";
    let tests = "Test failures:\n- test_auth.py:42 AssertionError\n- test_db.py:15 ConnectionError";
    let scan = "Security scan results: 3 medium-risk vulnerabilities found in dependencies. Recommend updating: lodash@4.17.19 -> 4.17.21, axios@0.21.1 -> 0.21.4";
    let examples: Vec<(HookResult, Vec<&str>, Option<&str>)> = vec![
        (
            proceed()
                .suppress_output(true)
                .user_message("Linting completed: 3 warnings found"),
            vec!["Info from example: Linting completed: 3 warnings found"],
            None,
        ),
        (proceed().suppress_output(false), vec![PRINTED], None),
        (
            inject("Linter found error on line 42: Line too long")
                .suppress_output(true)
                .user_message(linted),
            vec!["Info from example: Found 3 linting issues"],
            Some("Linter found error on line 42: Line too long"),
        ),
        (
            proceed()
                .user_message("Processed 10 files successfully")
                .suppress_output(true),
            vec!["Info from example: Processed 10 files successfully"],
            None,
        ),
        (
            proceed()
                .user_message("Backup created before modifying system files")
                .user_message_level(MessageLevel::Warning),
            vec![
                PRINTED,
                "Warning from example: Backup created before modifying system files",
            ],
            None,
        ),
        (
            proceed()
                .user_message("File backup completed")
                .user_message_level(MessageLevel::Info),
            vec![PRINTED, "Info from example: File backup completed"],
            None,
        ),
        (
            proceed()
                .user_message("Large file detected (50MB) - upload may take time")
                .user_message_level(MessageLevel::Warning),
            vec![
                PRINTED,
                "Warning from example: Large file detected (50MB) - upload may take time",
            ],
            None,
        ),
        (
            proceed()
                .suppress_output(true)
                .user_message("Code formatting applied to 15 files")
                .user_message_level(MessageLevel::Info),
            vec!["Info from example: Code formatting applied to 15 files"],
            None,
        ),
        (
            inject(tests)
                .user_message("Test suite failed (2 errors)")
                .user_message_level(MessageLevel::Error)
                .suppress_output(true),
            vec!["Error from example: Test suite failed (2 errors)"],
            Some(tests),
        ),
        (
            inject(scan)
                .user_message("Security vulnerabilities detected in dependencies")
                .user_message_level(MessageLevel::Warning)
                .suppress_output(true),
            vec!["Warning from example: Security vulnerabilities detected in dependencies"],
            Some(scan),
        ),
    ];
    for (result, seen, injected) in examples {
        let mut host = Host::new(FixedAnswers::deny());
        let applied = host.apply(result).await;
        assert!(!applied.is_denied());
        assert_eq!(host.seen(), seen);
        let stored: Vec<_> = host.stored().into_iter().map(|(_, text)| text).collect();
        assert_eq!(stored, Vec::from_iter(injected));
    }
}

/// The two examples whose hooks deny with a message for the user.
#[tokio::test]
async fn e_97_e_151_the_specified_examples_of_denial_messages_hold() {
    let examples = [
        (
            "Operation blocked: insufficient disk space",
            Some("Less than 100MB free space remaining"),
        ),
        ("Security scan failed - malicious content detected", None),
    ];
    for (message, reason) in examples {
        let mut host = Host::new(FixedAnswers::allow());
        let denial = HookResult {
            reason: reason.map(str::to_owned),
            ..HookResult::deny("")
                .user_message(message)
                .user_message_level(MessageLevel::Error)
        };
        let applied = host.apply(denial).await;
        assert_eq!(
            applied.denial(),
            Some(reason.unwrap_or("denied by hook `example`"))
        );
        let seen = host.seen();
        assert_eq!(seen.last(), Some(&format!("Error from example: {message}")));
    }
}

/// The hooks of the section "Examples": the todo list, and the protection of production.
#[tokio::test]
async fn e_112_e_133_the_specified_example_hooks_inject_and_ask() {
    let mut host = Host::new(FixedAnswers::labels(["Allow always"]));
    let todos = "Current todos:\n- write the tests\n- run them";
    host.hooks.register(
        "tool:pre",
        move |_: Event<'_>| inject(todos).ephemeral(true).suppress_output(true),
        RegisterOptions::new().name("todo_hook"),
    );
    host.hooks.register(
        "tool:pre",
        |event: Event<'_>| {
            let path = event
                .get("tool_input")
                .and_then(|input| input["file_path"].as_str());
            match path {
                Some(path) if path.contains("/production/") => {
                    let prompt = format!("Allow write to production file: {path}?");
                    HookResult::ask_user(prompt).approval_options([
                        "Allow once",
                        "Allow always",
                        "Deny",
                    ])
                }
                _ => HookResult::proceed(),
            }
        },
        RegisterOptions::new().name("production_protection_hook"),
    );
    let call = |path: &str| -> Value {
        json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}})
    };
    let (coordinator, hooks) = (host.coordinator.clone(), host.hooks.clone());
    let mut emit = async |path: &str| {
        let conversation = &mut host.conversation;
        let applied = coordinator
            .emit(&hooks, "tool:pre", call(path), conversation)
            .await;
        (
            applied.expect("it applies").is_denied(),
            conversation.next_call(),
        )
    };
    let (is_denied, messages) = emit("/srv/production/a.toml").await;
    assert!(!is_denied);
    assert_eq!(
        messages.last().map(|message| &*message.content),
        Some(todos)
    );
    assert!(!emit("/srv/production/a.toml").await.0, "it is remembered");
    assert!(
        emit("/srv/production/b.toml").await.0,
        "another file is another question"
    );
    assert_eq!(host.answers.asked().len(), 2);
    assert_eq!(host.stored(), []);
}
