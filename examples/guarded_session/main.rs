//! Replays the recorded session of a coding agent under guard.
//!
//! ```text
//! cargo run --example guarded_session [-- [FILE | -] [--json | --explain N] [--approve ANSWER]
//!                                         [--script FILE] [--records FOLDER] [--keep-going]
//!                                         [--no-sandbox]]
//! ```
//!
//! A session is one JSON object a line, such as `{"tool": "bash", "command": "ls"}`
//! or `{"tool": "edit", "path": "a", "old": "x", "new": "y"}`; all of it is checked
//! before any of it runs ([`session`]). Each call passes a typed hook set ([`hooks`]),
//! which fits it to the place where it runs, then the PRE hooks of the hook engine, the
//! classifiers, which say what its command would do, and the event `tool:pre`
//! ([`registries`]), and last the policies of the typed set; [`guarded`] says in which
//! order. Where a hook asks the user, as about what deletes, `--approve` says who
//! answers. What they allow runs ([`execute`], [`job`]) in a
//! scratch copy of a small project ([`scratch`]), in a process that has locked itself in
//! ([`confine`]): that, not the policies, is the boundary. Then the event `tool:post`, or
//! `error:tool`, and the POST hooks of the engine tell of it; the engine's records are
//! kept with `--records`. Every decision is in an audit trail before the call runs
//! ([`trail`]), whose place is printed. `--script` adds a hook in JavaScript, which nobody has to trust: it
//! can forbid and rewrite calls, and allow none ([`registries`]). At the end a table or JSON says what became of each call
//! ([`report`]); `--explain N` says instead what each hook did about call N, and what the
//! agent reads next ([`explain`]). Everything that could deceive a terminal is escaped
//! ([`display`]).
//!
//! It needs Linux, whose kernel does the confining.

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
    // The example starts itself again to run a call; that must come first, while
    // there is one thread only.
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
