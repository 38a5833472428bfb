//! The report of `replay` on one screen. In: the report. Out: its text.

use std::io::{self, Write};

use hooks_guard::replay::{DecisionCounts, ReplayReason, ReplayReport};
use hooks_runtime::display::{escape, shorten};

use super::super::when;

/// Maximum number of reasons on the screen.
const MAX_SHOWN: usize = 8;
/// Maximum number of shown characters of a reason, and of a call.
const MAX_REASON_CHARS: usize = 44;
const MAX_CALL_CHARS: usize = 40;

/// Returns `1 call`, `2 calls`.
pub(super) fn count(number: usize, of: &str) -> String {
    match number {
        1 => format!("1 {of}"),
        _ => format!("{number} {of}s"),
    }
}

/// Prints the report.
pub(super) fn print(
    out: &mut impl Write,
    report: &ReplayReport,
    no_scripts: bool,
) -> io::Result<()> {
    print_heading(out, report)?;
    print_decisions(out, &report.decisions, report.unattended)?;
    print_reasons(out, "asked about", &report.asked)?;
    print_reasons(out, "denied", &report.denied)?;
    print_comparison(out, report)?;
    print_rules(out, report)?;
    print_notes(out, report, no_scripts)
}

fn print_heading(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    let days = [report.first, report.last].map(|at| at.map(|at| when::local_time(at, "%F")));
    let period = match days {
        [Some(first), Some(last)] if first == last => format!(", {first}"),
        [Some(first), Some(last)] => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let (calls, sessions) = (
        count(report.calls, "call"),
        count(report.sessions, "session"),
    );
    writeln!(out, "{calls} in {sessions}{period}")?;
    for agent in &report.agents {
        let (calls, sessions) = (count(agent.calls, "call"), count(agent.sessions, "session"));
        writeln!(out, "  {:<16} {calls} in {sessions}", agent.title)?;
    }
    Ok(())
}

fn print_decisions(
    out: &mut impl Write,
    counts: &DecisionCounts,
    unattended: usize,
) -> io::Result<()> {
    let all = counts.total().max(1);
    let asked = match unattended {
        0 => "asked".to_owned(),
        some => {
            format!("asked; for {some} of them the agent shows no prompt, so an operator answers")
        }
    };
    writeln!(out, "\nwith these settings:")?;
    for (number, what) in [
        (counts.allowed, "allowed without a question"),
        (counts.asked, asked.as_str()),
        (counts.denied, "denied"),
        (counts.left_to_agent, "left to the agent's own rules"),
        (
            counts.not_checked,
            "of tools without an effect that is checked",
        ),
    ] {
        if number > 0 {
            writeln!(out, "  {number:>6} {:>3} %  {what}", number * 100 / all)?;
        }
    }
    Ok(())
}

fn print_reasons(out: &mut impl Write, what: &str, reasons: &[ReplayReason]) -> io::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{what}:")?;
    for reason in reasons.iter().take(MAX_SHOWN) {
        let class = reason
            .class
            .map(|class| class.to_string())
            .unwrap_or_default();
        let text = shorten(&escape(&reason.reason), MAX_REASON_CHARS);
        let example = shorten(&escape(&reason.example), MAX_CALL_CHARS);
        let (calls, width) = (reason.calls, MAX_REASON_CHARS);
        writeln!(out, "  {calls:>6}  {class:<6}  {text:<width$}  {example}")?;
    }
    let rest = reasons.iter().skip(MAX_SHOWN);
    match rest.map(|reason| reason.calls).sum() {
        0 => Ok(()),
        calls => {
            let reasons = count(reasons.len() - MAX_SHOWN, "other reason");
            writeln!(out, "  {calls:>6}  for {reasons}; `--json` lists all")
        }
    }
}

fn print_comparison(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    let ran = &report.ran;
    writeln!(
        out,
        "\nran, although these settings would have asked: {}, denied: {}",
        ran.asked, ran.denied
    )?;
    let by = &report.agent_decided;
    let rows = [
        ("approved by its user", by.approved),
        ("rejected by its user", by.rejected),
        ("refused by the agent", by.refused),
        ("run without a question", by.not_asked),
        ("not shown", by.unknown),
    ];
    if by.unknown.total() == report.calls {
        return writeln!(out, "the transcripts do not show the agents' own prompts");
    }
    writeln!(
        out,
        "\n{:<24}{:>8}{:>8}{:>8}{:>8}",
        "in the agent", "allowed", "asked", "denied", "left"
    )?;
    for (what, counts) in rows {
        let left = counts.left_to_agent + counts.not_checked;
        let DecisionCounts {
            allowed,
            asked,
            denied,
            ..
        } = counts;
        if counts.total() > 0 {
            writeln!(
                out,
                "  {what:<22}{allowed:>8}{asked:>8}{denied:>8}{left:>8}"
            )?;
        }
    }
    Ok(())
}

fn print_rules(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    if report.rules.is_empty() {
        return Ok(());
    }
    let rules = match report.rules.len() {
        1 => "this rule".to_owned(),
        number => format!("these {number} rules"),
    };
    let (saved, asked) = (report.saved, report.decisions.asked);
    writeln!(
        out,
        "\n{rules} would have saved {saved} of {}:\n",
        count(asked, "question")
    )?;
    let texts: Vec<&str> = report.rules.iter().map(|rule| rule.toml.as_str()).collect();
    write!(out, "{}", texts.join("\n"))
}

fn print_notes(out: &mut impl Write, report: &ReplayReport, no_scripts: bool) -> io::Result<()> {
    let counts = report.transcripts;
    let mut notes = Vec::new();
    if report.folders_gone > 0 {
        let calls = count(report.folders_gone, "call");
        notes.push(format!(
            "the directory of {calls} is gone: only the text was classified"
        ));
    }
    if counts.broken + counts.too_long > 0 {
        let lines = count(counts.broken, "broken line");
        let long = count(counts.too_long, "line");
        notes.push(format!(
            "skipped {lines} and {long} over the limit of length"
        ));
    }
    if counts.unknown + counts.unreadable > 0 {
        let files = count(counts.unknown, "file");
        notes.push(format!(
            "{files} of no known format, {} could not be read",
            counts.unreadable
        ));
    }
    if !no_scripts {
        notes.push("the hooks of `scripts` were not run".to_owned());
    }
    if !notes.is_empty() {
        writeln!(out)?;
    }
    notes
        .iter()
        .try_for_each(|note| writeln!(out, "note: {note}"))
}
