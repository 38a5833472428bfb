//! Prints the class, the decision and the explanation of shell commands; runs none of them.
//!
//! Commands are the arguments, or the lines of the standard input:
//!
//! ```sh
//! cargo run -p hooks-classify --example explain -- 'git status' 'rm -r build'
//! history | cut -c 8- | cargo run -p hooks-classify --example explain
//! cargo run -p hooks-classify --example explain -- --shell bash '[[ a > b ]]'
//! ```
//!
//! The exit status is 0 if every command may run without confirmation, and 1 otherwise.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use hooks_classify::{Classifier, Decision, Shells};

fn main() -> io::Result<ExitCode> {
    let mut commands: Vec<String> = std::env::args().skip(1).collect();
    let mut classifier = Classifier::new();
    if let [option, shell, ..] = commands.as_slice()
        && option == "--shell"
    {
        let shells = Shells::named(shell).ok_or_else(|| {
            io::Error::other(format!(
                "unknown shell `{shell}`; name one such as `bash` or `sh`"
            ))
        })?;
        classifier = classifier.with_shells(shells);
        commands.drain(..2);
    }
    if commands.is_empty() {
        commands = io::stdin().lock().lines().collect::<Result<_, _>>()?;
    }
    let mut out = io::stdout().lock();
    let colour = out.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let mut status = ExitCode::SUCCESS;
    for command in commands.iter().filter(|command| !command.trim().is_empty()) {
        // The explanation begins with class and decision.
        let (text, allowed) = match classifier.explain(command) {
            Ok(explanation) => {
                let decision = explanation.classification().decision;
                let text = match colour {
                    true => explanation.to_ansi_string(),
                    false => explanation.to_string(),
                };
                (text, decision == Decision::AutoAllowed)
            }
            Err(error) => (format!("error: {error}"), false),
        };
        writeln!(out, "{text}\n")?;
        if !allowed {
            status = ExitCode::FAILURE;
        }
    }
    Ok(status)
}
