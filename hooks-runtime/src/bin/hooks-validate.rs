//! Runs the contract of [`testing::contract`](hooks_runtime::testing::contract) against an event
//! hook that is a program. Takes the program's command line; prints a list or a JSON object, and
//! returns the verdict as exit status.

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use clap::Parser;
use hooks_runtime::display::escape;
use hooks_runtime::events::command::CommandError;
use hooks_runtime::testing::contract::{
    ContractCase, ContractFailure, StopSignal, Subject, TIME_LIMIT,
};
use hooks_runtime::{CommandHook, EmitOptions, Failure, HookRegistry, RegisterOptions, events};
use serde_json::{Value, json};

/// Tests a program that is an event hook: valid output for every event, also for empty, huge and
/// unusual data
///
/// Starts the program for each event, with the event's name in the variable HOOK_EVENT and one
/// JSON object, {"event": …, "data": …}, on standard input. The program writes one HookResult in
/// JSON, or nothing, to standard output and exits with 0, or exits with 2 and the reason of a
/// denial on standard error. The program really runs, about a hundred times: test it where it
/// cannot do damage.
#[derive(Debug, Parser)]
#[command(name = "hooks-validate", version, after_help = EXIT_STATUS)]
struct Args {
    /// Timeout of one run of the program, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = Seconds(TIME_LIMIT))]
    timeout: Seconds,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    /// Event for the unusual data; can be repeated [default: tool:pre]
    #[arg(long = "event", value_name = "NAME")]
    events: Vec<String>,

    /// The program and its arguments, run without a shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXIT_STATUS: &str = "\
Exit status: 0 if every case passes; 1 if a case fails; 2 for an invalid command line, a program \
that cannot be started, or a result that cannot be printed; 128 plus the number of the signal if \
a signal ends it, which also ends the program";

/// A duration that is parsed and printed as a number of seconds.
#[derive(Debug, Clone, Copy)]
struct Seconds(Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_secs_f64().fmt(f)
    }
}

fn seconds(text: &str) -> Result<Seconds, String> {
    let why = "use a number of seconds greater than 0 and at most 3600";
    let seconds: f64 = text.parse().map_err(|_| why.to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() && time <= Duration::from_secs(3600) => Ok(Seconds(time)),
        _ => Err(why.to_owned()),
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    // `Args` cannot be without a command.
    let Some((program, arguments)) = args.command.split_first() else {
        return ExitCode::from(2);
    };
    let stop = StopSignal::new();
    // Installed before the program is started: it runs in a process group of its own, which signals
    // from the terminal do not reach.
    let told = match on_signals(stop.clone()) {
        Ok(told) => told,
        Err(error) => return trouble(&error.to_string()),
    };
    let hook = CommandHook::new(program).args(arguments);
    if let Err(why) = starts(&hook) {
        return trouble(&why);
    }
    let subject = Subject::program(hook)
        .events(args.events)
        .time_limit(args.timeout.0)
        .stopped_by(&stop);
    let outcomes = subject
        .cases()
        .map(|case| (case, case.check(&subject).err()))
        // A stopped case has no result.
        .take_while(|_| told.get().is_none());
    let mut out = io::stdout().lock();
    let printed = if args.json {
        let cases: Vec<_> = outcomes
            .map(|(case, failure)| entry(case, failure))
            .collect();
        match told.get() {
            None => as_json(&mut out, &args.command, cases),
            Some(_) => Ok(0),
        }
    } else {
        as_list(&mut out, outcomes).and_then(|(passed, failed)| {
            if told.get().is_none() {
                writeln!(out, "{passed} passed, {failed} failed")?;
            }
            Ok(failed)
        })
    };
    if let Some(status) = told.get() {
        return ExitCode::from(*status);
    }
    match printed.and_then(|failed| out.flush().map(|()| failed)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => trouble(&error.to_string()),
    }
}

/// Time that this process has to end after a signal.
const GRACE: Duration = Duration::from_secs(1);

/// Stops the runs of the program when this process receives a signal, and returns the cell that
/// then holds the exit status.
fn on_signals(stop: StopSignal) -> io::Result<Arc<OnceLock<u8>>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let signals = {
        let _context = runtime.enter();
        Signals::new()?
    };
    let told = Arc::new(OnceLock::new());
    let tell = Arc::clone(&told);
    thread::Builder::new().spawn(move || {
        runtime.block_on(async {
            let status = signals.status().await;
            // In this order: a reader that sees the end of a run needs the reason.
            let _ = tell.set(status);
            stop.stop();
            tokio::time::sleep(GRACE).await;
            // Standard output may be closed or blocked.
            std::process::exit(i32::from(status));
        });
    })?;
    Ok(told)
}

/// Signals that end a process, with their exit statuses.
struct Signals {
    #[cfg(unix)]
    each: Vec<(u8, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [
            (130, SignalKind::interrupt()),
            (143, SignalKind::terminate()),
            (129, SignalKind::hangup()),
        ];
        let signals = kinds.map(|(status, kind)| Ok((status, signal(kind)?)));
        let each = signals.into_iter().collect::<io::Result<_>>()?;
        Ok(Signals { each })
    }

    async fn status(mut self) -> u8 {
        std::future::poll_fn(|cx| {
            let mut each = self.each.iter_mut();
            match each
                .find_map(|(status, signal)| signal.poll_recv(cx).is_ready().then_some(*status))
            {
                Some(status) => std::task::Poll::Ready(status),
                None => std::task::Poll::Pending,
            }
        })
        .await
    }
}

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Signals {})
    }

    async fn status(self) -> u8 {
        match tokio::signal::ctrl_c().await {
            Ok(()) => 130,
            // Without a handler, no signal arrives.
            Err(_) => std::future::pending().await,
        }
    }
}

fn trouble(why: &str) -> ExitCode {
    // If standard error is closed too, the exit status has to do.
    let _ = writeln!(io::stderr(), "hooks-validate: {}", escape(why));
    ExitCode::from(2)
}

/// Starts the program, and ends it at once.
fn starts(hook: &CommandHook) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let registry = HookRegistry::new();
    registry.register(events::TOOL_PRE, hook.clone(), RegisterOptions::new());
    let options = EmitOptions::new().deadline(Duration::ZERO);
    let emission = runtime.block_on(registry.emit_with(events::TOOL_PRE, (), options));
    let emission = match &emission {
        Ok(emission) => Some(emission),
        Err(error) => error.emission(),
    };
    for failure in emission.iter().flat_map(|emission| &emission.failures) {
        if let Failure::Error(error) = &failure.failure {
            if let Some(error @ CommandError::Start { .. }) = error.downcast_ref() {
                return Err(error.to_string());
            }
        }
    }
    Ok(())
}

/// Prints each case when it is done, and returns how many passed and failed.
fn as_list(
    out: &mut impl Write,
    outcomes: impl Iterator<Item = (&'static ContractCase, Option<ContractFailure>)>,
) -> io::Result<(usize, usize)> {
    let (mut passed, mut failed) = (0, 0);
    for (case, failure) in outcomes {
        match failure {
            None => {
                passed += 1;
                writeln!(out, "PASS  {}", case.name)?;
            }
            Some(failure) => {
                failed += 1;
                writeln!(out, "FAIL  {}", case.name)?;
                writeln!(out, "      sent:   {}", failure.sent)?;
                writeln!(out, "      got:    {}", failure.came)?;
                writeln!(out, "      remedy: {}", failure.remedy)?;
            }
        }
        // A case may take long.
        out.flush()?;
    }
    Ok((passed, failed))
}

/// Prints all cases as one object, and returns how many failed.
fn as_json(out: &mut impl Write, command: &[OsString], cases: Vec<Value>) -> io::Result<usize> {
    let failed = cases.iter().filter(|case| case["passed"] == false).count();
    let command: Vec<_> = command.iter().map(|part| part.to_string_lossy()).collect();
    let outcome = json!({
        "command": command,
        "passed": cases.len() - failed,
        "failed": failed,
        "cases": cases,
    });
    writeln!(out, "{outcome:#}")?;
    Ok(failed)
}

fn entry(case: &ContractCase, failure: Option<ContractFailure>) -> Value {
    let mut entry = json!({
        "name": case.name,
        "passed": failure.is_none(),
    });
    if let Some(failure) = failure {
        entry["sent"] = failure.sent.into();
        entry["came"] = failure.came.into();
        entry["remedy"] = failure.remedy.into();
    }
    entry
}
