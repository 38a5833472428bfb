//! Runs a session: reads its source, passes its calls, and writes its report.

use std::io::{self, StdoutLock, Write, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;
use hooks_guard::audit::AuditError;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::Args;
use crate::confine::{Confinement, NoConfinement};
use crate::display::{Width, escape, escape_path};
use crate::execute::{Executor, Outcome};
use crate::guarded::Guarded;
use crate::hooks::guard;
use crate::job::Job;
use crate::overview;
use crate::progress::Progress;
use crate::registries::{Grounds, OpenError, Registries, Settings};
use crate::report::{Report, Skipped, Summary, Tally};
use crate::scratch::Scratch;
use crate::scripts::{ScriptError, Scripts};
use crate::session::{Session, SessionError, Source};
use crate::trail::Trail;

/// Exit status for invalid input.
const BAD_INPUT: u8 = 2;

/// Maximum number of invalid lines that are listed.
const PROBLEMS_SHOWN: usize = 20;

/// Parses the command line and runs the session.
pub(crate) async fn run() -> ExitCode {
    let args = Args::parse();
    let result = tokio::select! {
        result = replay(&args) => result,
        () = stop_signal() => Err(RunError::Stopped),
    };
    result.unwrap_or_else(|error| {
        eprintln!("guarded_session: {error}");
        error.status()
    })
}

/// Reason why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
enum RunError {
    #[error("{source_name}: {error}")]
    Session {
        source_name: String,
        #[source]
        error: SessionError,
    },
    #[error("{source_name}: {count} invalid; nothing was run; correct the lines above, or pass `--keep-going` to run the rest", count = lines(*.count))]
    Problems { source_name: String, count: usize },
    #[error("{0}: no line is a valid call; nothing was run; correct the lines above")]
    NoCall(String),
    #[error(
        "no confinement works on this system, and only the bundled session may run without; use a Linux kernel with Landlock or user namespaces, or pass `--no-sandbox` if you trust the session; attempts:{0}"
    )]
    NoConfinement(#[from] NoConfinement),
    #[error("{source_name}: no call {number}; use 1 to {calls}")]
    NoSuchCall {
        source_name: String,
        number: usize,
        calls: usize,
    },
    #[error("cannot create a scratch copy: {0}; set `TMPDIR` to a folder with free space")]
    Scratch(#[source] io::Error),
    #[error("cannot fill the scratch copy: {0}; set `TMPDIR` to a folder with free space")]
    Unpack(String),
    #[error("cannot find the folder for records: {0}; use another folder for `--records`")]
    Records(#[source] io::Error),
    #[error("cannot start the session: {0}; check the folder of `--records`")]
    Open(#[from] OpenError),
    #[error(
        "cannot open the audit trail: {0}; set `TMPDIR` or `--records` to a folder with free space"
    )]
    Trail(#[from] AuditError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("cannot print the report: {0}; check the target of the output")]
    Output(#[from] io::Error),
    #[error("stopped; an incomplete report is not printed")]
    Stopped,
}

impl RunError {
    fn status(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Session { .. }
            | Self::Problems { .. }
            | Self::NoCall(_)
            | Self::NoSuchCall { .. }
            | Self::Script(_)
            | Self::NoConfinement(_) => BAD_INPUT,
            Self::Scratch(_)
            | Self::Unpack(_)
            | Self::Records(_)
            | Self::Open(_)
            | Self::Trail(_)
            | Self::Output(_) => 1,
            Self::Stopped => 130,
        })
    }
}

async fn replay(args: &Args) -> Result<ExitCode, RunError> {
    let source = Source::from_argument(args.session.clone());
    let name = source.to_string();
    let session = Session::read(&source).map_err(|error| RunError::Session {
        source_name: name.clone(),
        error,
    })?;
    let skipped = tell_problems(&name, &session);
    if session.calls.is_empty() {
        return Err(RunError::NoCall(name));
    }
    if !skipped.is_empty() && !args.keep_going {
        return Err(RunError::Problems {
            source_name: name,
            count: skipped.len(),
        });
    }
    let calls = session.calls.len();
    if let Some(number) = args.explain.filter(|number| !(1..=calls).contains(number)) {
        return Err(RunError::NoSuchCall {
            source_name: name,
            number,
            calls,
        });
    }

    let scripts = Scripts::load(&args.scripts)?;
    let scratch = Scratch::create().map_err(RunError::Scratch)?;
    let confinement = confine(args, &session, &scratch).await?;
    let executor =
        Executor::new(&confinement, &scratch).with_limits(args.time_limit(), args.output_limit);
    unpack(&executor).await?;

    let status = if skipped.is_empty() {
        ExitCode::SUCCESS
    } else {
        BAD_INPUT.into()
    };
    let tally = Tally::default();
    let progress = Progress::new(args.explain.unwrap_or(calls));
    let hooks = guard(&tally, &progress);
    let storage = match &args.records {
        // Resolve a relative path here, not in the project.
        Some(folder) => std::path::absolute(folder).map_err(RunError::Records)?,
        None => scratch.records(),
    };
    let grounds = Grounds {
        workspace: scratch.project(),
        storage,
        calls: args.budget,
    };
    let registries = Registries::guarding(Settings {
        session: &name,
        grounds,
        time: args.time_limit(),
        approve: args.approve,
        scripts: &scripts,
        progress: &progress,
    });
    let registries = registries.await?;
    // The engine has already created this folder, or reported why it cannot.
    let folder = match &args.records {
        Some(folder) => std::path::absolute(folder).map_err(RunError::Records)?,
        None => scratch.audit(),
    };
    let trail = Trail::open(&folder, &name, scratch.project()).await?;
    let mut guarded = Guarded::new(registries, &hooks, executor, &trail);
    tell(&guarded.start(calls).await?);
    let mut records = Vec::with_capacity(calls);
    let mut took = Duration::ZERO;
    for (number, (line, call)) in (1..).zip(&session.calls) {
        let is_explained = args.explain == Some(number);
        let (record, explanation) = guarded.pass(number, *line, call, is_explained).await;
        if let Some(explanation) = explanation {
            // Later steps do not change the results.
            progress.finish();
            tell(&guarded.end(&tally).await);
            trail.close().await;
            scratch.keep_audit();
            print(|out| explanation.write(&record, out))?;
            return Ok(status);
        }
        took += record.took;
        records.push(record);
    }
    progress.finish();
    tell(&guarded.end(&tally).await);
    trail.close().await;
    scratch.keep_audit();

    let registries = guarded.registries();
    let summary = Summary {
        tally: &tally,
        aftermath: registries.aftermath(),
        skipped: skipped.len(),
        took,
    };
    let report = Report {
        session: name,
        confinement: &confinement,
        audit_trail: escape_path(trail.path()),
        calls: records,
        skipped,
        events: registries.emitted(),
        summary,
    };
    if args.json {
        print(|out| report.write_json(out))?;
    } else if args.all {
        print(|out| report.write_table(out, Width::of_stdout()))?;
    } else {
        print(|out| overview::write(&report, out, Width::of_stdout()))?;
    }
    Ok(status)
}

/// Prints the messages of hooks about the session.
fn tell(told: &[String]) {
    for line in told {
        eprintln!("guarded_session: {line}");
    }
}

/// Prints every invalid line to standard error.
fn tell_problems(name: &str, session: &Session) -> Vec<Skipped> {
    let problems = session.problems.iter();
    let all: Vec<_> = problems
        .map(|problem| Skipped {
            line: problem.line,
            problem: problem.kind.to_string(),
        })
        .collect();
    for Skipped { line, problem } in all.iter().take(PROBLEMS_SHOWN) {
        eprintln!("{name}:{line}: {problem}");
    }
    if let Some(more) = all.len().checked_sub(PROBLEMS_SHOWN + 1) {
        eprintln!("{name}: and {} more", lines(more + 1));
    }
    all
}

async fn confine(
    args: &Args,
    session: &Session,
    scratch: &Scratch,
) -> Result<Confinement, RunError> {
    let cpu_seconds = args.time_limit().as_secs() + 1;
    if args.no_sandbox {
        return Ok(Confinement::none(
            cpu_seconds,
            "none: disabled with --no-sandbox",
        ));
    }
    match Confinement::probe(scratch, args.confinement, cpu_seconds).await {
        Ok(confinement) => Ok(confinement),
        Err(error) if session.is_bundled && args.confinement.is_none() => {
            eprintln!(
                "guarded_session: no confinement works on this system; running the harmless bundled session without; attempts:{error}"
            );
            Ok(Confinement::none(
                cpu_seconds,
                "none: not available on this system, so only the bundled session runs",
            ))
        }
        Err(error) => Err(error.into()),
    }
}

async fn unpack(executor: &Executor<'_>) -> Result<(), RunError> {
    let run = executor.run(Job::Unpack).await;
    match run.outcome {
        Outcome::Exited(0) => Ok(()),
        outcome => Err(RunError::Unpack(format!(
            "{outcome:?} {}",
            escape(run.output.trim())
        ))),
    }
}

fn print(write: impl FnOnce(&mut StdoutLock<'static>) -> io::Result<()>) -> Result<(), RunError> {
    let mut out = stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        // The reader closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Waits for a signal to stop.
async fn stop_signal() {
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
    }
}

fn lines(count: usize) -> String {
    if count == 1 {
        "1 line".to_owned()
    } else {
        format!("{count} lines")
    }
}
