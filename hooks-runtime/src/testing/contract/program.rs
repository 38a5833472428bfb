//! Further cases for a program that is a hook.
//!
//! When it runs as a hook, many mistakes are not visible: output before its result is printed, a
//! denial applies whatever else it contains, and processes that it leaves are killed. These cases
//! run the program as a hook, and check for such mistakes.

use std::error::Error;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use futures_util::future::{Either, select, try_join3};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::case::{ContractCase, contract_case};
use super::payloads;
use super::subject::Finding;
use super::trial::Trial;
use crate::events::command::group::Group;
use crate::events::command::output::{ProgramOutput, check_recognised};
use crate::events::command::{CommandError, DENIES, GRACE, capture, feed, input, keep};
use crate::events::result::json::Members;
use crate::map::type_name;
use crate::testing::shown;
use crate::{Action, CommandHook, HookResult, Map};

/// Further cases for a program.
pub(super) const CASES: &[ContractCase] = &[
    program_writes_one_result(),
    program_exits_with_0_or_2(),
    program_leaves_nothing_running(),
];

contract_case! {
    /// Its standard output is only the result, which is valid.
    program_writes_one_result,
    "write one JSON object or nothing to standard output, and messages for people to standard error",
    |trial| {
        for_each(trial, |seen| match seen.status.code() {
            Some(0) => read(&seen.output).map(drop),
            _ => Ok(()),
        })
        .await
    }
}

contract_case! {
    /// Exit code 0 is a result, 2 is a denial, and others are failures.
    program_exits_with_0_or_2,
    "exit with 0 and an output, or with 2 and the reason of a denial on standard error",
    |trial| {
        for_each(trial, |seen| match seen.status.code() {
            Some(0) => Ok(()),
            Some(DENIES) => match read(&seen.output) {
                Ok(Some(result)) if result.action != Action::Deny => Err(format!(
                    "exit code 2, which denies, with the output `{}`",
                    result.action
                )),
                _ => Ok(()),
            },
            _ => Err(format!(
                "{}, with `{}` on its standard error",
                seen.status,
                shown::text(String::from_utf8_lossy(&seen.errors).trim()),
            )),
        })
        .await
    }
}

contract_case! {
    /// All processes that it has started end with it.
    program_leaves_nothing_running,
    "wait for child processes, and close the output",
    |trial| {
        for_each(trial, |seen| match seen.left {
            None => Ok(()),
            Some(left) => Err(left.to_owned()),
        })
        .await
    }
}

/// A run of a program.
struct ProgramRun {
    status: ExitStatus,
    output: Vec<u8>,
    errors: Vec<u8>,
    /// Pipes or processes that still exist after its end.
    left: Option<&'static str>,
}

/// Runs the program with some of the other cases' data, and checks each run.
async fn for_each(
    trial: &mut Trial,
    holds: impl Fn(&ProgramRun) -> Result<(), String>,
) -> Result<(), Finding> {
    let Some(program) = trial.subject.program.clone() else {
        return Ok(());
    };
    let mut events = trial.events();
    events.push("no:such:event".into());
    let ordinary = payloads::ordinary();
    let wrong = match payloads::with_all(&json!(-1)) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    for event in events {
        for data in [&ordinary, &Map::new(), &wrong] {
            let sent = trial.sends(&event, &Value::Object(data.clone()));
            let limit = trial.limit();
            let run = timeout(limit, observe(&program, &event, data));
            let came = match trial.subject.stop.unless(run).await {
                Ok(Ok(Ok(seen))) => match holds(&seen) {
                    Ok(()) => continue,
                    Err(came) => came,
                },
                Ok(Ok(Err(error))) => shown::display(&error),
                Ok(Err(_)) => format!("a run that did not end within {limit:?}"),
                Err(came) => came,
            };
            return Err(Finding { sent, came });
        }
    }
    Ok(())
}

/// Parses a standard output that contains only the result.
fn read(output: &[u8]) -> Result<Option<HookResult>, String> {
    let Ok(text) = std::str::from_utf8(output) else {
        let text = String::from_utf8_lossy(output);
        let shown = shown::text(&text);
        return Err(format!(
            "`{shown}`, which is not UTF-8{}",
            with_parts(output)
        ));
    };
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let shown = shown::text(text);
    let holds = |text| -> Result<HookResult, Box<dyn Error>> {
        let members: Members = serde_json::from_str(text)?;
        let map = members.into_map().map_err(|(_, twice)| twice)?;
        check_recognised(&map)?;
        Ok(HookResult::from_map(map)?)
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => match holds(text) {
            Ok(result) => Ok(Some(result)),
            Err(why) => Err(format!("`{shown}`, in which {}", shown::display(&why))),
        },
        Ok(other) => Err(format!(
            "`{shown}`, which is {}, not an object",
            type_name(&other)
        )),
        Err(error) => {
            let parts = with_parts(output);
            Err(format!(
                "`{shown}`, which is not one JSON object: {error}{parts}"
            ))
        }
    }
}

/// Returns the end of a message that names the parts of an output beside one JSON object.
fn with_parts(output: &[u8]) -> String {
    match ProgramOutput::parse(output).describe() {
        Some(parts) => format!("; it has {parts}"),
        None => String::new(),
    }
}

/// Runs a program as an emission does, and waits briefly for processes that it leaves.
async fn observe(
    program: &CommandHook,
    event: &str,
    data: &Map,
) -> Result<ProgramRun, CommandError> {
    let input = input(event, data)?;
    let mut child = program.start(event)?;
    let group = Group::of(&child);
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(CommandError::Pipe(std::io::ErrorKind::BrokenPipe.into()));
    };
    let limit = program.output_limit;
    let (status, left) = {
        let pipes = pin!(try_join3(
            feed(stdin, &input),
            capture(stdout, &mut output, limit),
            keep(stderr, &mut errors, limit),
        ));
        let exit = pin!(child.wait());
        match select(exit, pipes).await {
            Either::Left((status, pipes)) => match timeout(GRACE, pipes).await {
                Ok(piped) => {
                    piped?;
                    (status, None)
                }
                Err(_) => (
                    status,
                    Some("the end of the program, while its output stays open"),
                ),
            },
            Either::Right((piped, exit)) => {
                piped?;
                (exit.await, None)
            }
        }
    };
    let left = match left {
        None if is_left(&group).await => {
            Some("the end of the program, while another process of it runs on")
        }
        left => left,
    };
    Ok(ProgramRun {
        status: status.map_err(CommandError::Pipe)?,
        output,
        errors,
        left,
    })
}

/// Returns `true` if processes of an ended program still run a moment later.
async fn is_left(group: &Group) -> bool {
    let until = Instant::now() + GRACE;
    while group.is_alive() {
        if Instant::now() >= until {
            return true;
        }
        sleep(Duration::from_millis(5)).await;
    }
    false
}
