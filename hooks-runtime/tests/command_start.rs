//! Programs that cannot be started, and their environment.

#![cfg(all(unix, feature = "command"))]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hooks_runtime::{Action, CommandHook, Emission, Failure, HookRegistry, RegisterOptions};
use tempfile::{TempDir, tempdir};

async fn emit(hook: CommandHook) -> Emission {
    let hooks = HookRegistry::new();
    hooks.register("tool:pre", hook, RegisterOptions::new().name("program"));
    hooks.emit("tool:pre", ()).await.unwrap()
}

/// Returns the message of a failure, which is an error.
async fn failure(hook: CommandHook) -> String {
    let emission = emit(hook).await;
    let [failure] = &emission.failures[..] else {
        panic!("one failure, not {:?}", emission.failures);
    };
    assert!(matches!(failure.failure, Failure::Error(_)));
    failure.failure.to_string()
}

/// Writes an executable file.
///
/// Another process writes it: a process that this one starts at the same time would inherit the open
/// file, which the system then refuses to execute.
fn executable(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    let mut writer = Command::new("sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = writer.stdin.take().unwrap();
    pipe.write_all(text.as_ref()).unwrap();
    drop(pipe);
    assert!(writer.wait().unwrap().success());
    path
}

fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}

const DENIES: &str = "#!/bin/sh\necho no >&2; exit 2\n";

#[tokio::test]
async fn a_missing_working_folder_is_named_instead_of_the_program() {
    let folder = tempdir().unwrap();
    let program = executable(&folder, "check", DENIES);
    let missing = folder.path().join("no/such");
    for hook in [
        CommandHook::new("sh"),
        CommandHook::new("/bin/sh"),
        CommandHook::new("./check"),
        CommandHook::new(&program),
        CommandHook::new("/no/such/program"),
    ] {
        let message = failure(hook.current_dir(&missing)).await;
        let expected = format!("its working folder {} does not exist", shown(&missing));
        assert!(message.contains(&expected), "{message}");
        assert!(message.contains("change `current_dir`"), "{message}");
        assert!(!message.contains("check its path"), "{message}");
    }
    for file in [&program, &program.join("below")] {
        let message = failure(CommandHook::new("sh").current_dir(file)).await;
        let expected = format!("its working folder {} is not a folder", shown(file));
        assert!(message.contains(&expected), "{message}");
    }
}

#[tokio::test]
async fn a_relative_path_of_a_program_is_relative_to_the_working_folder() {
    let (folder, empty) = (tempdir().unwrap(), tempdir().unwrap());
    executable(&folder, "check", DENIES);
    let hook = CommandHook::new("./check");
    let emission = emit(hook.clone().current_dir(folder.path())).await;
    assert_eq!(emission.action, Action::Deny, "{:?}", emission.failures);
    let message = failure(hook.current_dir(empty.path())).await;
    let expected = format!(
        "its path is relative to the working folder {}",
        shown(empty.path())
    );
    assert!(message.contains(&expected), "{message}");
    assert!(message.contains("give an absolute path"), "{message}");
}

#[tokio::test]
async fn a_missing_program_is_looked_up_in_the_path_that_the_program_gets() {
    let folder = tempdir().unwrap();
    executable(&folder, "check-of-this-test", DENIES);
    let hook = CommandHook::new("check-of-this-test");
    let found = hook.clone().env("PATH", folder.path());
    assert_eq!(emit(found).await.action, Action::Deny);
    for hook in [
        hook.clone(),
        hook.clone().env("PATH", "/no/such"),
        hook.env_clear(),
    ] {
        let message = failure(hook).await;
        assert!(message.contains("no folder in `PATH`"), "{message}");
    }
    let message = failure(CommandHook::new("/no/such/program")).await;
    assert!(
        message.contains("check its path and permissions"),
        "{message}"
    );
}

#[tokio::test]
async fn a_carriage_return_in_the_first_line_is_not_a_missing_program() {
    let folder = tempdir().unwrap();
    for (name, first) in [
        ("plain", "#!/bin/sh"),
        ("spaced", "#! /bin/sh"),
        ("env", "#!/usr/bin/env sh"),
    ] {
        let text = format!("{first}\r\nexit 0\r\n");
        let program = executable(&folder, name, text);
        let message = failure(CommandHook::new(&program)).await;
        let expected = format!(
            r"the first line of {}, `{first}\r`, ends with a carriage return; save the file with Unix line ends",
            shown(&program)
        );
        assert!(message.contains(&expected), "{message}");
        let relative = CommandHook::new(format!("./{name}")).current_dir(folder.path());
        let message = failure(relative).await;
        assert!(message.contains("ends with a carriage return"), "{message}");
        let by_name = CommandHook::new(name).env("PATH", folder.path());
        // `env` needs the other folders.
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let message = failure(by_name.env("PATH", path)).await;
        assert!(message.contains("ends with a carriage return"), "{message}");
    }
}

#[tokio::test]
async fn a_missing_interpreter_is_not_a_missing_program() {
    let folder = tempdir().unwrap();
    for (name, first, interpreter) in [
        ("plain", "#!/no/such/python", "/no/such/python"),
        ("option", "#! /no/such/python -u", "/no/such/python"),
        ("relative", "#!no-such-python", "no-such-python"),
    ] {
        let program = executable(&folder, name, format!("{first}\nprint()\n"));
        let message = failure(CommandHook::new(&program)).await;
        let expected = format!(
            "`{interpreter}`, the interpreter in the first line of {}, does not exist",
            shown(&program)
        );
        assert!(message.contains(&expected), "{message}");
    }
    let program = executable(&folder, "env", "#!/usr/bin/env no-such-python\n");
    let message = failure(CommandHook::new(&program)).await;
    assert!(message.contains("no-such-python"), "{message}");
    assert!(!message.contains("carriage return"), "{message}");
    let closed = folder.path().join("closed");
    fs::write(&closed, "").unwrap();
    for interpreter in [folder.path(), &closed] {
        let text = format!("#!{}\n", interpreter.display());
        let program = executable(&folder, "closed-interpreter", text);
        let message = failure(CommandHook::new(&program)).await;
        assert!(message.contains("cannot be executed"), "{message}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_program_has_a_message_of_its_own() {
    let folder = tempdir().unwrap();
    let closed = executable(&folder, "closed", DENIES);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o644)).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/no/such/program", &link).unwrap();
    for (program, expected) in [
        (folder.path().to_owned(), "is a folder"),
        (closed, "is not executable; run `chmod +x`"),
        (link, "is a link to a file that does not exist"),
        (executable(&folder, "empty", ""), "is empty"),
        (
            executable(&folder, "marked", format!("\u{feff}{DENIES}")),
            "a byte order mark precedes `#!`",
        ),
        (
            executable(&folder, "foreign", b"MZ\0\0\x03\0\0\0"),
            "is a program for another system",
        ),
        (
            executable(&folder, "damaged", b"\x7fELF\0"),
            "is a program for another system",
        ),
    ] {
        let message = failure(CommandHook::new(&program)).await;
        assert!(
            message.contains(&format!("{} cannot be started", shown(&program))),
            "{message}"
        );
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(!message.contains("check its path"), "{message}");
    }
}

#[tokio::test]
async fn a_script_without_an_interpreter_is_run_by_the_shell_or_has_a_message_of_its_own() {
    let folder = tempdir().unwrap();
    let program = executable(&folder, "script", "echo no >&2; exit 2\n");
    let emission = emit(CommandHook::new(&program)).await;
    if emission.action != Action::Deny {
        let message = emission.failures[0].failure.to_string();
        assert!(
            message.contains("is a script without an interpreter; write a first line"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_start_error_keeps_its_kind_and_the_error_of_the_system() {
    use hooks_runtime::events::command::CommandError;

    let folder = tempdir().unwrap();
    let hook = CommandHook::new("sh").current_dir(folder.path().join("missing"));
    let emission = emit(hook).await;
    let Failure::Error(error) = &emission.failures[0].failure else {
        panic!("{:?}", emission.failures);
    };
    let Some(CommandError::Start { program, source }) = error.downcast_ref() else {
        panic!("{error:?}");
    };
    assert_eq!(program, "sh");
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    let cause = std::error::Error::source(source).expect("a cause");
    let cause: &std::io::Error = cause.downcast_ref().expect("an error of the system");
    assert!(cause.raw_os_error().is_some());
}

/// Returns the environment of a program, one variable a line.
async fn environment(hook: impl FnOnce(CommandHook) -> CommandHook) -> Vec<String> {
    let emission = emit(hook(CommandHook::new("/usr/bin/env"))).await;
    // An output that is not a result is in the transcript.
    let lines = emission.output().iter().flat_map(|line| line.text.lines());
    let mut lines: Vec<_> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_program_inherits_the_environment_by_default() {
    let seen = environment(|hook| hook.env("OF_TEST", "1")).await;
    assert!(seen.contains(&"OF_TEST=1".to_owned()), "{seen:?}");
    let path = std::env::var("PATH").unwrap();
    assert!(seen.contains(&format!("PATH={path}")), "{seen:?}");
    assert!(seen.iter().any(|line| line.starts_with("CARGO_")));
}

#[tokio::test]
async fn a_cleared_environment_has_only_what_the_hook_sets() {
    let seen = environment(CommandHook::env_clear).await;
    assert_eq!(seen, ["HOOK_EVENT=tool:pre"]);
    let seen = environment(|hook| hook.env("A", "1").env_clear().env("B", "2")).await;
    assert_eq!(seen, ["B=2", "HOOK_EVENT=tool:pre"]);
    let seen = environment(|hook| hook.env_inherit(["PATH"]).env_clear()).await;
    assert_eq!(seen, ["HOOK_EVENT=tool:pre"]);
}

#[tokio::test]
async fn only_listed_variables_are_inherited() {
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let name = format!(
        "CARGO_PKG_NAME={}",
        std::env::var("CARGO_PKG_NAME").unwrap()
    );
    let event = "HOOK_EVENT=tool:pre".to_owned();
    let listed = [name.clone(), event.clone(), path.clone()];
    let both = ["PATH", "CARGO_PKG_NAME", "NO_SUCH_VARIABLE_OF_THIS_TEST"];
    assert_eq!(environment(|hook| hook.env_inherit(both)).await, listed);
    let seen = environment(|hook| {
        let hook = hook.env_clear().env_inherit(["PATH"]);
        hook.env_inherit(["CARGO_PKG_NAME"])
    })
    .await;
    assert_eq!(seen, listed);
    let seen = environment(|hook| hook.env("PATH", "/bin").env_inherit(["PATH"])).await;
    assert_eq!(seen, [event.clone(), "PATH=/bin".to_owned()]);
    let seen = environment(|hook| hook.env_inherit([""; 0])).await;
    assert_eq!(seen, [event]);
}
