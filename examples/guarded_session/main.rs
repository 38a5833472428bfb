//! Replays a recorded session of a coding agent under guard.
//!
//! ```text
//! cargo run --example guarded_session [-- [FILE | -] [--all | --json | --explain N]
//!                                         [--approve ANSWER] [--script FILE] [--records FOLDER]
//!                                         [--keep-going] [--no-sandbox]]
//! ```
//!
//! A session has one JSON object per line, such as `{"tool": "bash", "command": "ls"}` or `{"tool":
//! "edit", "path": "a", "old": "x", "new": "y"}`. It is checked completely before any call runs
//! ([`session`]).
//!
//! Each call passes these steps, in the order that [`guarded`] defines: a typed hook set
//! ([`hooks`]) adapts it to the environment; the PRE hooks of the hook engine, the classifiers,
//! which determine the effects of its command, and the event `tool:pre` ([`registries`]) decide;
//! and the policies of the typed set validate the result. If a hook asks the user, for example
//! before a delete, `--approve` selects the source of the answer. `--script` adds a JavaScript hook
//! from an untrusted author, which can refuse and rewrite calls, but not allow them
//! ([`registries`]).
//!
//! Allowed calls run ([`execute`], [`job`]) in a scratch copy of a small project ([`scratch`]), in
//! a process that has confined itself ([`confine`]): the confinement, not the policies, is the
//! security boundary. Afterwards, the event `tool:post` or `error:tool` and the POST hooks of the
//! engine receive the result. `--records` keeps the engine's records. Every decision is in an audit
//! trail before the call runs ([`trail`]); its path is printed.
//!
//! At the end, the program lists the calls that were refused, rewritten or did not succeed, with
//! totals ([`overview`]). `--all` prints a table of all calls, and `--json` an object ([`report`]).
//! With `--explain N`, the program instead prints the result of each hook for call N, and the input
//! of the agent's next turn ([`explain`]). Text that could deceive a terminal is escaped
//! ([`display`]).
//!
//! Requires Linux, whose kernel enforces the confinement.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "this example needs Linux, whose kernel confines the calls; build the crates one by one with `--package`"
);

mod args;
mod confine;
mod display;
mod execute;
mod explain;
mod guarded;
mod hooks;
mod job;
mod overview;
mod paths;
mod progress;
mod registries;
mod report;
mod rewrites;
mod run;
mod scratch;
mod scripts;
mod secrets;
mod self_test;
mod session;
mod trail;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The example starts itself again to run a call. Check for that first, while there is only one
    // thread.
    if let Some(status) = confine::stage::run() {
        return status;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(run::run()),
        Err(error) => {
            eprintln!("guarded_session: cannot start: {error}; check the limits of this user");
            ExitCode::FAILURE
        }
    }
}
