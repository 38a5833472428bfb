//! Report of a session: a table of all calls for people, JSON for programs.
//!
//! The JSON is one object: `session`, `confinement`, `audit_trail`, `calls` (a [`Record`] each),
//! `skipped` (invalid lines, with `--keep-going`), `events` (emitted events, each with its call)
//! and `summary`. Its texts are escaped like those of the table, so printing them raw is safe.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use comfy_table::{ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};
use serde::{Serialize, Serializer};

use crate::confine::Confinement;
use crate::display::{Width, escape, shorten, wrap};
use crate::registries::{Aftermath, Emitted};

/// Decision of the hooks about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Allowed,
    Rewritten,
    Refused,
}

/// Result of running the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Succeeded,
    Failed,
    TimedOut,
    OutputLimit,
    DiskLimit,
    NotRun,
}

/// Start of the note with the end of the output of a call that failed.
pub(crate) const LAST_LINE: &str = "last line of output: ";

/// One line of the report. Its texts are escaped and redacted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    pub(crate) number: usize,
    /// Line number in the session.
    pub(crate) line: usize,
    pub(crate) tool: &'static str,
    /// Command or path, as given by the agent.
    pub(crate) call: String,
    pub(crate) decision: Decision,
    /// Hook that refused, or hooks that rewrote the call.
    pub(crate) by: String,
    /// Reason of the decision, then the notes.
    pub(crate) why: String,
    /// What happened after the decision; empty if nothing is remarkable.
    #[serde(skip)]
    pub(crate) notes: String,
    /// Call that ran instead, if it was rewritten.
    pub(crate) ran: Option<String>,
    pub(crate) status: Status,
    pub(crate) exit_code: Option<i32>,
    /// Number of secrets hidden in the output.
    pub(crate) redactions: usize,
    pub(crate) output: String,
    #[serde(rename = "took_ms", serialize_with = "milliseconds")]
    pub(crate) took: Duration,
}

/// Counts calls; registered as a hook.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    calls: AtomicUsize,
    allowed: AtomicUsize,
    rewritten: AtomicUsize,
    refused: AtomicUsize,
    succeeded: AtomicUsize,
    failed: AtomicUsize,
    timed_out: AtomicUsize,
    over_a_limit: AtomicUsize,
    redacted: AtomicUsize,
}

impl Tally {
    /// Counts `record`.
    pub(crate) fn count(&self, record: &Record) {
        let decision = match record.decision {
            Decision::Allowed => &self.allowed,
            Decision::Rewritten => &self.rewritten,
            Decision::Refused => &self.refused,
        };
        let status = match record.status {
            Status::Succeeded => Some(&self.succeeded),
            Status::Failed => Some(&self.failed),
            Status::TimedOut => Some(&self.timed_out),
            Status::OutputLimit | Status::DiskLimit => Some(&self.over_a_limit),
            Status::NotRun => None,
        };
        let redacted = (record.redactions > 0).then_some(&self.redacted);
        for counter in [Some(&self.calls), Some(decision), status, redacted]
            .into_iter()
            .flatten()
        {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// One line below the header; none between rows.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::new(' ', ' ', ' '))
    .header_separator(LineStyle::new('─', '─', '─', '─'))
    .content_lines(ContentLineStyle::new(' ', ' ', ' '));

/// Width from which the table has all of its columns.
const MIN_TABLE_COLUMNS: usize = 120;

/// A line of the session that was skipped.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Skipped {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

/// Complete report of a session.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) session: String,
    pub(crate) confinement: &'a Confinement,
    /// Database with the decisions, which is kept.
    pub(crate) audit_trail: String,
    pub(crate) calls: Vec<Record>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) events: &'a [Emitted],
    pub(crate) summary: Summary<'a>,
}

/// Counts, and the total duration of all calls.
#[derive(Debug, Serialize)]
pub(crate) struct Summary<'a> {
    #[serde(flatten)]
    pub(crate) tally: &'a Tally,
    /// Only in the table: the JSON has it in its records.
    #[serde(skip)]
    pub(crate) aftermath: Aftermath,
    pub(crate) skipped: usize,
    #[serde(rename = "took_ms", serialize_with = "milliseconds")]
    pub(crate) took: Duration,
}

impl Report<'_> {
    /// Writes one JSON object.
    pub(crate) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    /// Writes a table of all calls, with header and summary.
    pub(crate) fn write_table(&self, out: &mut impl Write, width: Width) -> io::Result<()> {
        // Without a terminal, most rows are one line.
        let columns = width.columns_or(160);
        self.write_header(out, columns)?;
        let mut table = Table::new();
        table
            .load_style(STYLE)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(columns).unwrap_or(u16::MAX));
        // Eight columns need more than a usual terminal.
        let is_wide = columns >= MIN_TABLE_COLUMNS;
        if is_wide {
            table.set_header([
                "#", "tool", "call", "decision", "result", "by", "why", "took",
            ]);
        } else {
            table.set_header(["#", "call", "result", "by: why", "took"]);
        }
        for record in &self.calls {
            let number = record.number.to_string();
            let call = shorten(&record.call, 100);
            let why = shorten(&record.why, 160);
            if is_wide {
                table.add_row([
                    number,
                    record.tool.to_owned(),
                    call,
                    record.decision.name().to_owned(),
                    record.result(),
                    record.by.clone(),
                    why,
                    time(record.took),
                ]);
            } else {
                table.add_row([
                    number,
                    format!("{} {call}", record.tool),
                    format!("{}, {}", record.decision.name(), record.result()),
                    format!("{}: {why}", record.by),
                    time(record.took),
                ]);
            }
        }
        writeln!(out, "{}", table.trim_fmt())?;
        self.write_summary(out, width)
    }

    /// Writes the name of the session, its confinement and its audit trail.
    pub(crate) fn write_header(&self, out: &mut impl Write, columns: usize) -> io::Result<()> {
        for (name, value) in [
            ("session", &self.session),
            ("confinement", &self.confinement.description),
            ("audit trail", &self.audit_trail),
        ] {
            writeln!(out, "{}", wrap(&format!("{name}: {value}"), columns))?;
        }
        Ok(())
    }

    /// Writes the totals. Without a terminal, they are the last line.
    pub(crate) fn write_summary(&self, out: &mut impl Write, width: Width) -> io::Result<()> {
        writeln!(out, "{}", width.wrap(&self.summary.line()))
    }
}

impl Summary<'_> {
    fn line(&self) -> String {
        let of = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let tally = self.tally;
        let mut line = format!(
            "{} calls: {} allowed, {} rewritten, {} refused; of those that ran, {} succeeded, {} failed, {} timed out, {} exceeded a limit; secrets redacted in {}; elapsed {}",
            of(&tally.calls),
            of(&tally.allowed),
            of(&tally.rewritten),
            of(&tally.refused),
            of(&tally.succeeded),
            of(&tally.failed),
            of(&tally.timed_out),
            of(&tally.over_a_limit),
            of(&tally.redacted),
            time(self.took),
        );
        line += &self.aftermath.line();
        if self.skipped > 0 {
            line += &format!("; {} invalid lines skipped", self.skipped);
        }
        line
    }
}

impl Decision {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Rewritten => "rewritten",
            Self::Refused => "refused",
        }
    }
}

impl Record {
    /// Adds an event after the decision.
    pub(crate) fn note(&mut self, note: &str) {
        self.why += &format!("; {note}");
        if !self.notes.is_empty() {
            self.notes += "; ";
        }
        self.notes += note;
    }

    pub(crate) fn result(&self) -> String {
        match (self.status, self.exit_code) {
            (Status::Succeeded, _) => "ok".to_owned(),
            (Status::Failed, Some(code)) => format!("failed: {code}"),
            (Status::Failed, None) => "failed".to_owned(),
            (Status::TimedOut, _) => "timed out".to_owned(),
            (Status::OutputLimit, _) => "output limit".to_owned(),
            (Status::DiskLimit, _) => "disk limit".to_owned(),
            (Status::NotRun, _) => "not run".to_owned(),
        }
    }
}

/// Escapes `text` except its line breaks and tabs.
pub(crate) fn escape_output(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| line.split('\t').map(escape).collect::<Vec<_>>().join("\t"));
    lines.collect::<Vec<_>>().join("\n")
}

fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

fn milliseconds<S: Serializer>(duration: &Duration, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_f64((duration.as_secs_f64() * 1e6).round() / 1e3)
}
