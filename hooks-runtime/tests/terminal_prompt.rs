//! `approval::TerminalPrompt` at real terminals: this program starts itself in one, asks there, and
//! prints the answers.

#![cfg(all(unix, feature = "terminal"))]

use std::env;
use std::process::Command;

use futures_util::future::join_all;
use hooks_runtime::approval::TerminalPrompt;
use hooks_runtime::{Conversation, Coordinator, Event, HookRegistry, HookResult, RegisterOptions};
use rexpect::session::{PtySession, spawn_command};
use serde_json::json;

/// Variable of the program in the terminal: number of concurrent questions, and their timeout.
const ASKS: &str = "HOOKS_TEST_ASKS";

/// Variable of the program in the terminal: `1` for a trusted hook, `0` for an untrusted hook, and
/// its options, separated by commas.
const OPTIONS: &str = "HOOKS_TEST_OPTIONS";

/// Prefix of the chosen option in the output.
const MARK: &str = "outcome: ";

/// Not a separate test: the program in the terminal.
#[test]
fn asks_in_the_terminal() {
    let Ok(asks) = env::var(ASKS) else {
        return;
    };
    let (questions, timeout) = asks.split_once(',').expect("two numbers");
    let (questions, timeout): (usize, f64) = (
        questions.parse().expect("a count"),
        timeout.parse().expect("a timeout"),
    );
    let options = env::var(OPTIONS).unwrap_or_else(|_| "1,Allow once,Allow always,Deny".to_owned());
    let (trust, options) = options.split_once(',').expect("trust and options");
    let options: Vec<_> = options.split(',').map(str::to_owned).collect();
    let hooks = HookRegistry::new();
    hooks.register(
        "tool:pre",
        move |event: Event<'_>| {
            HookResult::ask_user(format!("Run {}?", event.str("command").unwrap_or_default()))
                .approval_options(options.clone())
                .approval_timeout(timeout)
                .reason("it \u{1b}[31mhides\u{202e} something")
        },
        RegisterOptions::new().name("gate").trusted(trust == "1"),
    );
    let coordinator = Coordinator::builder()
        .provider(TerminalPrompt::new())
        .build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let ask = async |number: usize| {
            let data = json!({"tool_name": "bash", "command": format!("step {number}")});
            let mut conversation = Conversation::new();
            let applied = coordinator
                .emit(&hooks, "tool:pre", data, &mut conversation)
                .await;
            let approval = applied.expect("applies").approval.expect("a question");
            println!("{MARK}{number} {approval}");
        };
        join_all((1..=questions).map(ask)).await;
    });
}

/// Starts this program in a new terminal, with so many concurrent questions.
fn terminal(questions: usize, timeout: f64) -> PtySession {
    spawn_command(program(questions, timeout), Some(20_000)).expect("a terminal")
}

fn program(questions: usize, timeout: f64) -> Command {
    let mut command = Command::new(env::current_exe().expect("this program"));
    command
        .args(["--exact", "asks_in_the_terminal", "--nocapture"])
        .env(ASKS, format!("{questions},{timeout}"));
    command
}

/// Starts this program in a new terminal, with one question and these options.
fn offering(options: &str) -> PtySession {
    let mut command = program(1, 300.0);
    command.env(OPTIONS, options);
    spawn_command(command, Some(20_000)).expect("a terminal")
}

const READY: &str = "Your answer (denied after";

#[test]
fn e_130_a_question_shows_the_tool_call_and_is_answered_by_number() {
    let mut terminal = terminal(1, 300.0);
    let shown = terminal.exp_string(READY).expect("a question");
    assert!(
        shown.contains("Run step 1? (asked by hook `gate` about tool `bash`)"),
        "{shown}"
    );
    assert!(shown.contains(r#""command":"step 1""#), "{shown}");
    assert!(
        shown.contains("1) Allow once\r\n  2) Allow always\r\n  3) Deny"),
        "{shown}"
    );
    terminal.send_line("1").expect("typing");
    terminal
        .exp_string("outcome: 1 user allowed: Run step 1?")
        .expect("an approval");
    terminal.exp_eof().expect("an end");
}

#[test]
fn control_characters_in_the_reason_of_a_hook_are_escaped() {
    let mut terminal = terminal(1, 300.0);
    let shown = terminal.exp_string(READY).expect("a question");
    assert!(
        shown.contains(r"it \u{1b}[31mhides\u{202e} something"),
        "{shown}"
    );
    terminal.send_line("Deny").expect("typing");
    terminal
        .exp_string("outcome: 1 user denied: Run step 1?")
        .expect("a denial");
}

#[test]
fn e_132_the_question_is_repeated_after_an_invalid_answer() {
    let mut terminal = terminal(1, 300.0);
    terminal.exp_string(READY).expect("a question");
    for answer in ["4", "0", "allow", "", "yes"] {
        terminal.send_line(answer).expect("typing");
        terminal
            .exp_string("Answer with the number of an option: ")
            .expect("another try");
    }
    terminal.send_line("den").expect("typing");
    terminal
        .exp_string("outcome: 1 user denied")
        .expect("a denial");
}

#[test]
fn e_133_unclear_labels_of_an_untrusted_hook_are_shown_as_text() {
    for (options, answer, outcome) in [
        (
            "0,Overwrite,Back up \u{202e}first,Cancel",
            "1",
            "user allowed",
        ),
        (
            "0,Overwrite,Back up \u{202e}first,Cancel",
            "cancel",
            "user denied",
        ),
    ] {
        let mut terminal = offering(options);
        let shown = terminal.exp_string(READY).expect("a question");
        assert!(
            shown.contains("  1) Allow\r\n  2) Cancel\r\n  not offered, because"),
            "{shown}"
        );
        assert!(
            shown.contains(r"say neither yes nor no: `Overwrite`, `Back up \u{202e}first`"),
            "{shown}"
        );
        terminal.send_line(answer).expect("typing");
        let line = format!("outcome: 1 {outcome}: Run step 1?");
        terminal.exp_string(&line).expect("an outcome");
    }
}

#[test]
fn e_133_unclear_labels_of_a_trusted_hook_are_shown_with_their_effect() {
    let mut terminal = offering("1,Overwrite,Rename");
    let shown = terminal.exp_string(READY).expect("a question");
    let note = "(denies, because it says neither yes nor no)";
    let listed = format!("  1) Overwrite {note}\r\n  2) Rename {note}\r\n");
    assert!(
        shown.contains(&listed) && !shown.contains("not offered"),
        "{shown}"
    );
    terminal.send_line("over").expect("typing");
    let denied = terminal.exp_string("denied, because the chosen option `Overwrite` says");
    denied.expect("a denial");
}

#[test]
fn e_134_the_default_applies_if_no_answer_comes_before_the_timeout() {
    let mut terminal = terminal(1, 0.3);
    terminal.exp_string(READY).expect("a question");
    terminal.exp_string("(no longer asked)").expect("a note");
    let printed = terminal
        .exp_regex("outcome: 1 denied by default, because no answer came before the timeout");
    printed.expect("a denial");
}

#[test]
fn e_134_the_default_applies_if_the_terminal_input_ends() {
    let mut terminal = terminal(1, 300.0);
    terminal.exp_string(READY).expect("a question");
    terminal.send_control('d').expect("typing");
    let printed = terminal.exp_regex("outcome: 1 denied by default, because asking failed");
    printed.expect("a denial");
}

#[test]
fn concurrent_questions_are_asked_one_after_another() {
    let mut terminal = terminal(2, 300.0);
    let first = terminal.exp_string(READY).expect("a question");
    assert!(
        first.contains("Run step 1?") && !first.contains("Run step 2?"),
        "{first}"
    );
    terminal.send_line("1").expect("typing");
    let second = terminal.exp_string(READY).expect("another question");
    assert!(second.contains("Run step 2?"), "{second}");
    terminal.send_line("3").expect("typing");
    terminal
        .exp_string("outcome: 2 user denied: Run step 2?")
        .expect("a denial");
}

#[test]
fn input_typed_before_a_question_does_not_answer_it() {
    let mut terminal = terminal(2, 300.0);
    terminal.exp_string(READY).expect("a question");
    // The second line is typed before the second question appears.
    terminal.send("1\n1\n").expect("typing");
    terminal.exp_string(READY).expect("another question");
    terminal.send_line("3").expect("typing");
    terminal
        .exp_string("outcome: 2 user denied: Run step 2?")
        .expect("a denial");
}

#[test]
fn asking_fails_without_a_terminal() {
    // A new session has no terminal, and these streams are none either.
    let mut command = Command::new("setsid");
    command
        .arg(env::current_exe().expect("this program"))
        .args(["--exact", "asks_in_the_terminal", "--nocapture"])
        .env(ASKS, "1,300")
        .stdin(std::process::Stdio::null());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            assert!(
                env::var_os("HOOKS_REQUIRE_ALL").is_none(),
                "no `setsid`: {error}"
            );
            eprintln!("left out: no `setsid` on this machine: {error}");
            return;
        }
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("denied by default, because asking failed with `there is no terminal"),
        "{printed}"
    );
}
