//! The recorded sessions: each call that the lab's model requested is found, with its result and what the client
//! decided.

use std::collections::BTreeSet;
use std::fs;

use hooks_guard::replay::{
    self, CallResult, ClientPermission, ReplayCollector, ReplayDecision, TranscriptCall,
};

use super::{calls, decision, home, transcripts};

/// The project of each recorded session.
const PROJECT: &str = "/srv/dev/project";
/// Start of the token in a recorded command.
const TOKEN: &str = "ghp_0123456789";

/// Returns the names in a folder.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(transcripts().join(folder)).expect("a recorded folder");
    let entries = entries.map(|entry| entry.expect("an entry"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

/// Returns the result of the recorded command that fails. Some clients do not keep the exit status.
fn failed(client: &str) -> CallResult {
    match client {
        "gemini" | "letta" => CallResult::Ran,
        _ => CallResult::Failed,
    }
}

#[test]
fn every_client_that_can_be_replayed_has_a_recorded_session() {
    let recorded: BTreeSet<&str> = names("")
        .iter()
        .flat_map(|client| calls(home(&format!("{client}/session")).path()))
        .map(|call| call.agent.name())
        .collect();
    let replayed = replay::replayed_agents();
    let replayed: BTreeSet<&str> = replayed.iter().map(|agent| agent.name()).collect();
    assert_eq!(recorded, replayed);
    assert!(replayed.len() >= 17, "{replayed:?}");
}

#[test]
fn every_call_of_a_recorded_session_is_found_with_its_result() {
    for client in names("") {
        let home = home(&format!("{client}/session"));
        let calls = calls(home.path());
        let found: Vec<_> = calls.iter().map(|call| (call, decision(call))).collect();
        let commands: Vec<&str> = found.iter().map(|(_, decided)| &*decided.command).collect();
        // Letta Code calls the tools of MCP servers by a command.
        let has_note = client != "letta";
        assert_eq!(
            found.len(),
            6 + usize::from(has_note),
            "{client}: {commands:#?}"
        );
        let expect =
            |place: usize, text: &str, decisions: &[ReplayDecision], result: CallResult| {
                let (call, decided) = &found[place];
                assert!(decided.command.contains(text), "{client}: {decided:?}");
                assert!(
                    decisions.contains(&decided.decision),
                    "{client}: {decided:?}"
                );
                assert_eq!(call.result, result, "{client}: {decided:?}");
            };
        use ReplayDecision::{Allowed, Asked, LeftToAgent};
        expect(0, "git status --short", &[Allowed], CallResult::Ran);
        expect(1, "new.txt", &[Asked], CallResult::Ran);
        expect(2, "a.txt", &[Allowed, LeftToAgent], CallResult::Ran);
        expect(3, "ls missing", &[Allowed], failed(&client));
        expect(4, "git ls-remote", &[Allowed], failed(&client));
        if has_note {
            expect(5, "create_note", &[LeftToAgent, Asked], CallResult::Ran);
        }
        expect(found.len() - 1, "rm -r build", &[Asked], CallResult::Ran);
        for (call, decided) in &found {
            assert_eq!(
                call.cwd.as_deref(),
                Some(PROJECT.as_ref()),
                "{client}: {call:?}"
            );
            assert!(call.at.is_some(), "{client}: {call:?}");
            assert!(!call.session.is_empty(), "{client}: {call:?}");
            let shown = format!("{decided:?}");
            assert!(!shown.contains(TOKEN), "{client}: {shown}");
        }
        let sessions: BTreeSet<&str> = calls.iter().map(|call| &*call.session).collect();
        assert_eq!(sessions.len(), 1, "{client}: {sessions:?}");
    }
}

/// Returns the commands of a session with their results and what the client decided.
fn outcomes(session: &str) -> Vec<(String, CallResult, ClientPermission)> {
    let home = home(session);
    let outcome = |call: &TranscriptCall| (decision(call).command, call.result, call.permission);
    calls(home.path()).iter().map(outcome).collect()
}

#[test]
fn the_answers_of_users_in_the_prompts_of_clients_are_found() {
    use CallResult::{NotRun, Ran};
    use ClientPermission::{Approved, NotAsked, Rejected, Unknown};
    for (client, read, approved) in [
        ("claude", NotAsked, Approved),
        ("claude-2.1.197", Unknown, Unknown),
        ("codex", Unknown, Approved),
        ("copilot", Unknown, Approved),
        ("gemini", Unknown, Unknown),
        ("qwen", Unknown, Unknown),
        ("vibe", NotAsked, Approved),
    ] {
        let expected = [
            ("git status --short", Ran, read),
            ("touch approved.txt", Ran, approved),
            ("rm -r build", NotRun, Rejected),
        ];
        let expected = expected.map(|(command, result, by)| (command.to_owned(), result, by));
        assert_eq!(outcomes(&format!("{client}/asked")), expected, "{client}");
    }
}

#[test]
fn the_answers_of_users_to_clients_that_ask_about_every_command_are_found() {
    use CallResult::{NotRun, Ran};
    use ClientPermission::{Approved, Rejected, Unknown};
    for (client, approved) in [
        ("opencode", Unknown),
        ("kilo", Approved),
        ("kimi", Approved),
    ] {
        let found = outcomes(&format!("{client}/asked"));
        let expected = [
            ("git status --short", Ran, approved),
            ("touch approved.txt", NotRun, Rejected),
        ];
        let expected = expected.map(|(command, result, by)| (command.to_owned(), result, by));
        assert_eq!(found.get(..2), Some(&expected[..]), "{client}: {found:?}");
    }
    // Goose keeps no call that its user rejects.
    let found = outcomes("goose/asked");
    assert_eq!(found, [("git status --short".to_owned(), Ran, Unknown)]);
}

#[test]
fn calls_that_clients_refuse_themselves_did_not_run() {
    use ClientPermission::{Refused, Rejected, Unknown};
    for (client, by) in [
        ("claude", Refused),
        ("copilot", Refused),
        ("grok", Unknown),
        // The client records its missing user as one who rejected the call.
        ("vibe", Rejected),
    ] {
        let found = outcomes(&format!("{client}/refused"));
        let expected = ("rm -r build".to_owned(), CallResult::NotRun, by);
        assert_eq!(found.last(), Some(&expected), "{client}");
    }
}

#[test]
fn the_calls_of_sub_agents_and_of_scripts_are_found() {
    for client in [
        "claude", "codex", "cline", "droid", "gemini", "kimi", "qwen",
    ] {
        let found = outcomes(&format!("{client}/sub-agent"));
        for command in ["git status --short", "rm -r build"] {
            let is_found = found.iter().any(|(found, ..)| found == command);
            assert!(is_found, "{client}: {command}: {found:#?}");
        }
    }
    let found = outcomes("codex/javascript-patch");
    assert_eq!(
        found,
        [(
            format!("apply_patch {PROJECT}/new.txt"),
            CallResult::Ran,
            ClientPermission::Unknown
        )]
    );
}

#[test]
fn a_call_that_a_client_copies_into_another_session_is_new_once() {
    let home = home("claude/forked");
    let mut collector = ReplayCollector::default();
    let calls = calls(home.path());
    let new = calls.iter().filter(|call| collector.is_new(call)).count();
    assert_eq!((calls.len(), new), (3, 2));
}
