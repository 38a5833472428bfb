//! `check` and `explain`.

use std::io::{self, BufRead, Write};

use clap::Args;
use comfy_table::{ContentArrangement, Table, presets};
use hooks_guard::classify::{Classification, Classifier, Crud, Decision, InputError, Method};
use hooks_runtime::display::{escape, shorten};
use serde::{Deserialize, Serialize};

use super::Failure;
use super::semantic::{self, Judge};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Commands, each a single argument.
    commands: Vec<String>,
    /// One JSON object a line in place of a table.
    #[arg(long)]
    json: bool,
    /// Where the commands belong, such as `git`; never lowers a class.
    #[arg(long)]
    context: Option<String>,
    #[command(flatten)]
    semantic: semantic::Options,
}

/// What a table shows of a command, in characters.
const MOST_SHOWN: usize = 200;

#[derive(Debug, Serialize)]
struct Row<'a> {
    command: &'a str,
    classification: Crud,
    decision: Decision,
    confidence: f64,
    method: Method,
    reasoning: &'a str,
}

#[derive(Debug, Deserialize)]
struct Object {
    command: String,
    context: Option<String>,
}

/// Whether every command may run.
pub(crate) fn check(options: Options) -> Result<bool, Failure> {
    let Options {
        commands,
        json,
        context,
        semantic,
    } = options;
    let judge = &Judge::new(semantic)?;
    let context = context.as_deref();
    let mut output = Output::new(json);
    let mut all = true;
    if commands.is_empty() {
        for line in Lines(io::stdin().lock()) {
            let line = line?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let (command, verdict) = judge_line(judge, &line, context);
            all &= output.add(&command, verdict)?;
        }
    }
    for command in &commands {
        all &= output.add(command, judge.judge(command, context))?;
    }
    output.finish()?;
    Ok(all)
}

/// A line without its end; the bytes need not be UTF-8.
struct Lines<R>(R);

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        match self.0.read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) => {
                while line
                    .last()
                    .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
                {
                    line.pop();
                }
                Some(Ok(line))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

type Verdict = Result<Classification, InputError>;

fn judge_line(judge: &Judge, line: &[u8], context: Option<&str>) -> (String, Verdict) {
    let Ok(text) = std::str::from_utf8(line) else {
        return (
            String::from_utf8_lossy(line).into_owned(),
            Err(InputError::Encoding),
        );
    };
    if text.trim_start().starts_with('{')
        && let Ok(object) = serde_json::from_str::<Object>(text)
    {
        let context = object.context.as_deref().or(context);
        let verdict = judge.judge(&object.command, context);
        return (object.command, verdict);
    }
    (text.to_owned(), judge.judge(text, context))
}

struct Output {
    json: bool,
    table: Table,
}

impl Output {
    fn new(json: bool) -> Self {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_HORIZONTAL_ONLY)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(["class", "decision", "sure", "command", "because"]);
        Self { json, table }
    }

    /// Shows one answer; says whether the command may run.
    fn add(&mut self, command: &str, verdict: Verdict) -> io::Result<bool> {
        let (crud, decision, confidence, method, reasoning) = match verdict {
            Ok(v) => (v.crud, v.decision, v.confidence, v.method, v.reasoning),
            Err(error) => (
                Crud::Create,
                Decision::RequiresConfirmation,
                0.0,
                Method::Fallback,
                error.to_string(),
            ),
        };
        if self.json {
            let reasoning = reasoning.as_str();
            let row = Row {
                command,
                classification: crud,
                decision,
                confidence,
                method,
                reasoning,
            };
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, &row)?;
            writeln!(out)?;
        } else {
            let short = shorten(&escape(command), MOST_SHOWN);
            let sure = format!("{confidence:.2}");
            self.table.add_row([
                crud.to_string(),
                decision.to_string(),
                sure,
                short,
                escape(&reasoning),
            ]);
        }
        Ok(decision == Decision::AutoAllowed)
    }

    fn finish(self) -> io::Result<()> {
        if !self.json && !self.table.is_empty() {
            writeln!(io::stdout().lock(), "{}", self.table)?;
        }
        Ok(())
    }
}

/// Whether the command may run.
pub(crate) fn explain(command: &str) -> Result<bool, Failure> {
    match Classifier::new().explain(command) {
        Ok(explanation) => {
            writeln!(io::stdout().lock(), "{explanation}")?;
            Ok(explanation.classification().decision == Decision::AutoAllowed)
        }
        Err(error) => {
            eprintln!("hooks-guard: {error}");
            Ok(false)
        }
    }
}
