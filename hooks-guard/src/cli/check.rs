//! Implements `check` and `explain`, which classify commands and print the decisions. In: commands
//! from arguments or standard input. Out: a table, JSON lines or a tree, and whether every command
//! may run.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use clap::Args;
use comfy_table::{Cell, Table};
use hooks_guard::classify::{
    Classifier, Crud, Decision, InputError, Method, Shells, StagedClassifier,
};
use hooks_guard::config::SemanticConfig;
use hooks_guard::excerpt::Excerpt;
use hooks_guard::gate::{Gate, Policy};
use hooks_guard::loss::Loss;
use hooks_guard::protocol::Agent;
use hooks_guard::{LocalWorkspace, PermissionDecision, PermissionRequest, Sight};
use hooks_runtime::display::{escape, json_message, shorten};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::color::has_color;
use super::failure::CommandError;
use super::semantic;
use super::setup::{Setup, agents, gate_for_shells, runtime};
use super::table::{class, table};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Commands, one per argument.
    commands: Vec<String>,
    /// Prints one JSON object per line instead of a table.
    #[arg(long)]
    json: bool,
    /// Where the commands run, such as `git`; never lowers a class.
    #[arg(long)]
    context: Option<String>,
    #[command(flatten)]
    decision: DecisionArgs,
    #[command(flatten)]
    semantic: semantic::SemanticArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The command, as one argument.
    command: String,
    #[command(flatten)]
    judges: DecisionArgs,
}

/// Options that select the reported decision.
#[derive(Debug, Args)]
struct DecisionArgs {
    /// Reports the decision of the classifier's tables only, without rules and configuration.
    #[arg(long)]
    tables_only: bool,
    /// The agent's permission mode, such as `acceptEdits`. Default: none, which counts as
    /// `default`.
    #[arg(long, value_name = "MODE", conflicts_with = "tables_only")]
    mode: Option<String>,
    /// The agent that sends the commands. Default: none.
    #[arg(long, value_parser = agents(), conflicts_with = "tables_only")]
    agent: Option<Agent>,
    /// A shell that reads the commands, such as `bash`; repeatable. Default: those of the agent,
    /// or all shells.
    #[arg(long = "shell", value_name = "NAME", value_parser = shells, conflicts_with = "agent")]
    shells: Vec<Shells>,
    #[command(flatten)]
    setup: Setup,
}

impl DecisionArgs {
    /// Returns the shells that read the commands.
    fn shells(&self) -> Shells {
        let named = self.shells.iter().copied().reduce(Shells::union);
        named.unwrap_or_else(|| self.agent.map_or(Shells::ALL, Agent::shells))
    }
}

/// Parses the name of a shell.
fn shells(name: &str) -> Result<Shells, &'static str> {
    Shells::named(name).ok_or("no shell that the classifier knows")
}

/// Maximum number of characters of a command in the table.
const MAX_SHOWN_CHARS: usize = 200;

#[derive(Debug, Serialize)]
struct CheckRow<'a> {
    command: &'a str,
    classification: Crud,
    decision: Decision,
    confidence: f64,
    method: Method,
    reasoning: &'a str,
    /// The rule that made the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    denied: bool,
    #[serde(skip_serializing_if = "is_false")]
    left_to_agent: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[derive(Debug, Deserialize)]
struct CommandObject {
    command: String,
    context: Option<String>,
}

/// Runs `check`. Returns `true` if every command may run.
pub(crate) fn check(options: CheckArgs) -> Result<bool, CommandError> {
    let CheckArgs {
        commands,
        json,
        context,
        decision: judges,
        semantic,
    } = options;
    let judge = &CommandChecker::new(judges, semantic.stage())?;
    let context = context.as_deref();
    let mut output = CheckOutput::new(json);
    let mut all = true;
    if commands.is_empty() {
        for line in Lines(io::stdin().lock()) {
            let line = line?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let (command, permission) = check_line(judge, &line, context);
            all &= output.add(&command, permission)?;
        }
    }
    for command in &commands {
        all &= output.add(command, judge.decide(command, context))?;
    }
    output.finish()?;
    Ok(all)
}

/// An iterator over lines without their terminators; lines need not be UTF-8.
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

/// Decides about commands as the service would, in the current directory.
struct CommandChecker {
    gate: Gate,
    runtime: Runtime,
    directory: Option<PathBuf>,
    agent: Option<Agent>,
    mode: Option<String>,
    /// `enabled` in the configuration.
    is_enabled: bool,
    sight: Sight,
}

impl CommandChecker {
    /// Creates a judge with the second stage of the options, or else with that of the
    /// configuration.
    fn new(judges: DecisionArgs, stage: Option<SemanticConfig>) -> Result<Self, CommandError> {
        let shells = judges.shells();
        let sight = match judges.tables_only {
            true => Sight::Text,
            false => Sight::FilesAndVariables,
        };
        let (gate, is_enabled) = match judges.tables_only {
            true => {
                let classifier = match stage {
                    Some(stage) => semantic::classifier(stage)?,
                    None => StagedClassifier::new(),
                };
                let classifier = classifier.with_shells(shells);
                (Gate::new(classifier, Policy::default()), true)
            }
            false => {
                let mut loaded = judges.setup.load()?;
                loaded.config.semantic = stage.or(loaded.config.semantic);
                let listen = runtime()?.block_on(loaded.listening_address());
                (
                    gate_for_shells(&loaded, shells, listen)?,
                    loaded.config.enabled,
                )
            }
        };
        Ok(Self {
            gate,
            sight,
            runtime: runtime()?,
            directory: std::env::current_dir().ok(),
            agent: judges.agent,
            mode: judges.mode,
            is_enabled,
        })
    }

    /// Returns the decision, without an id.
    fn decide(&self, command: &str, context: Option<&str>) -> CheckResult {
        // The service rejects such a request before it reaches the gate.
        Classifier::check_input(command, context).map_err(|error| error.to_string())?;
        let request = PermissionRequest {
            context: context.map(str::to_owned),
            cwd: self.directory.clone(),
            sight: self.sight,
            agent: self.agent.map(|agent| agent.name().to_owned()),
            permission_mode: self.mode.clone(),
            types_into_programs: self.agent.and_then(Agent::types_into_programs),
            ..PermissionRequest::new(command)
        };
        let decided = self.runtime.block_on(self.gate.decide(&request));
        let mut permission = decided.permission;
        if permission.decision == Decision::RequiresConfirmation
            && !permission.denied
            && let Some(loss) = Loss::of(&request, &decided.command_parts)
        {
            permission.add_clause(loss);
        }
        if !self.is_enabled {
            permission.decision = Decision::RequiresConfirmation;
            permission.reasoning = format!(
                "the guard is disabled (`enabled = false` in the configuration); {}",
                permission.reasoning
            );
        }
        Ok(permission)
    }
}

/// A decision, or the reason why the input is invalid.
type CheckResult = Result<PermissionDecision, String>;

fn check_line(judge: &CommandChecker, line: &[u8], context: Option<&str>) -> (String, CheckResult) {
    let Ok(text) = std::str::from_utf8(line) else {
        return (
            String::from_utf8_lossy(line).into_owned(),
            Err(InputError::Encoding.to_string()),
        );
    };
    // `{ ls; }` is a command.
    if text.trim_start().starts_with('{') {
        match serde_json::from_str::<CommandObject>(text) {
            Ok(object) => {
                let context = object.context.as_deref().or(context);
                let verdict = judge.decide(&object.command, context);
                return (object.command, verdict);
            }
            Err(error) if is_object(text) => return (text.to_owned(), Err(invalid(text, &error))),
            Err(_) => {}
        }
    }
    (text.to_owned(), judge.decide(text, context))
}

/// Returns `true` if a line begins as a JSON object does: with a key in quotes.
fn is_object(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('{');
    rest.is_some_and(|rest| rest.trim_start().starts_with('"'))
}

/// Returns the reason of a line that is not a valid object.
fn invalid(line: &str, error: &serde_json::Error) -> String {
    let Excerpt { column, .. } = Excerpt::of_json(line, error);
    format!(
        "invalid JSON: column {column}: {}; write `{{\"command\": …}}` or a plain command",
        json_message(error)
    )
}

struct CheckOutput {
    json: bool,
    table: Table,
}

impl CheckOutput {
    fn new(json: bool) -> Self {
        let table = table(["class", "decision", "confidence", "command", "reason"], 2);
        Self { json, table }
    }

    /// Adds one result. Returns `true` if the command may run.
    fn add(&mut self, command: &str, verdict: CheckResult) -> io::Result<bool> {
        let row = match &verdict {
            Ok(permission) => CheckRow {
                command,
                classification: permission.classification,
                decision: permission.decision,
                confidence: permission.confidence,
                method: permission.classification_method,
                reasoning: &permission.reasoning,
                rule: permission.rule.as_deref(),
                denied: permission.denied,
                left_to_agent: permission.left_to_agent,
            },
            Err(why) => CheckRow {
                command,
                classification: Crud::Create,
                decision: Decision::RequiresConfirmation,
                confidence: 0.0,
                method: Method::Fallback,
                reasoning: why,
                rule: None,
                denied: false,
                left_to_agent: false,
            },
        };
        if self.json {
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, &row)?;
            writeln!(out)?;
        } else {
            self.table.add_row([
                class(row.classification),
                Cell::new(decision_text(row.decision, row.denied, row.left_to_agent)),
                Cell::new(format!("{:.2}", row.confidence)),
                Cell::new(shorten(&escape(command), MAX_SHOWN_CHARS)),
                Cell::new(escape(row.reasoning)),
            ]);
        }
        Ok(row.decision == Decision::AutoAllowed)
    }

    fn finish(self) -> io::Result<()> {
        if !self.json && !self.table.is_empty() {
            writeln!(io::stdout().lock(), "{}", self.table)?;
        }
        Ok(())
    }
}

/// Returns the decision as displayed. A denied command cannot be approved, and a command that is left
/// to the agent needs no approval of the guard, so neither is displayed as one that needs
/// confirmation.
fn decision_text(decision: Decision, denied: bool, left_to_agent: bool) -> String {
    match (denied, left_to_agent) {
        (true, _) => "DENIED".to_owned(),
        (false, true) => "LEFT_TO_AGENT".to_owned(),
        (false, false) => decision.to_string(),
    }
}

/// Runs `explain`: prints the parsed command as a tree, then the decision if rules or the
/// configuration change it. Returns `true` if the command may run.
pub(crate) fn explain(options: ExplainArgs) -> Result<bool, CommandError> {
    let ExplainArgs { command, judges } = options;
    let mut classifier = Classifier::new().with_shells(judges.shells());
    let folder = std::env::current_dir().ok().filter(|_| !judges.tables_only);
    let home = std::env::home_dir();
    let workspace = folder.and_then(|folder| LocalWorkspace::new(&folder, home.as_deref()));
    if let Some(workspace) = workspace {
        classifier = classifier.with_workspace(workspace.with_own_variables());
    }
    let explained = classifier.explain(&command);
    let judge = CommandChecker::new(judges, None)?;
    let (explanation, permission) = match (explained, judge.decide(&command, None)) {
        (Ok(explanation), Ok(permission)) => (explanation, permission),
        (Err(error), _) => {
            eprintln!("hooks-guard: {error}");
            return Ok(false);
        }
        (_, Err(why)) => {
            eprintln!("hooks-guard: {why}");
            return Ok(false);
        }
    };
    let mut out = io::stdout().lock();
    match has_color(&out) {
        true => writeln!(out, "{}", explanation.to_ansi_string())?,
        false => writeln!(out, "{explanation}")?,
    }
    let decision = permission.decision;
    let differs = decision != explanation.classification().decision;
    if permission.rule.is_some() || permission.left_to_agent || differs {
        let decision = decision_text(decision, permission.denied, permission.left_to_agent);
        writeln!(
            out,
            "decision {decision}: {}",
            escape(&permission.reasoning)
        )?;
    }
    Ok(decision == Decision::AutoAllowed)
}
