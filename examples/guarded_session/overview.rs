//! Default report of a session: one line for each call that was refused, rewritten or did not
//! succeed, and the totals.

use std::io::{self, Write};

use console::{Alignment, Color, measure_text_width, pad_str, style, truncate_str};

use crate::display::{Width, wrap};
use crate::report::{Decision, LAST_LINE, Record, Report, Status};

/// Spaces between two columns.
const GAP: &str = "  ";

const HEADER: [&str; 4] = ["#", "result", "call", "reason"];

/// One line of the overview.
struct Row {
    number: String,
    result: String,
    color: Color,
    call: String,
    reason: String,
}

/// Writes the overview. Its lines have at most `width`, or 80 columns if that is unknown; only the
/// totals are one line then.
pub(crate) fn write(report: &Report<'_>, out: &mut impl Write, width: Width) -> io::Result<()> {
    let columns = width.columns_or(80);
    report.write_header(out, columns)?;
    let rows: Vec<_> = report.calls.iter().filter_map(Row::of).collect();
    if !rows.is_empty() {
        writeln!(out)?;
        write_rows(&rows, out, columns)?;
    }
    let omitted = report.calls.len() - rows.len();
    let hint = match omitted {
        0 => "`--all` lists every call in full".to_owned(),
        1 => "1 call that was allowed and succeeded is omitted; `--all` lists it".to_owned(),
        _ => format!(
            "{omitted} calls that were allowed and succeeded are omitted; `--all` lists them"
        ),
    };
    let hint = format!("{hint}, `--explain N` the hooks of call N");
    writeln!(out, "\n{}", wrap(&hint, columns))?;
    report.write_summary(out, width)
}

/// Writes the header of the columns and the rows. A call and a reason share the width that numbers
/// and results leave; both are shortened.
fn write_rows(rows: &[Row], out: &mut impl Write, columns: usize) -> io::Result<()> {
    let [number, result, call, reason] = HEADER;
    let longest = |header: &str, cell: fn(&Row) -> &str| {
        let widths = rows.iter().map(|row| measure_text_width(cell(row)));
        widths.fold(measure_text_width(header), usize::max)
    };
    let number_width = longest(number, |row| &row.number);
    let result_width = longest(result, |row| &row.result);
    let rest = columns.saturating_sub(number_width + result_width + 3 * GAP.len());
    let reason_width = longest(reason, |row| &row.reason);
    // The start of a command usually suffices to recognize it.
    let call_width =
        longest(call, |row| &row.call).min((rest * 2 / 5).max(rest.saturating_sub(reason_width)));
    let reason_width = rest - call_width;
    let mut line = |number: &str, result: &str, color: Option<Color>, call: &str, reason: &str| {
        let number = pad_str(number, number_width, Alignment::Right, None);
        let result = pad_str(result, result_width, Alignment::Left, None);
        let result = match color {
            Some(color) => style(result).fg(color).to_string(),
            None => result.into_owned(),
        };
        let call = pad_str(call, call_width, Alignment::Left, Some("…"));
        let reason = truncate_str(reason, reason_width, "…");
        let line = [&*number, &result, &call, &reason].join(GAP);
        writeln!(out, "{}", line.trim_end())
    };
    line(number, result, None, call, reason)?;
    for row in rows {
        line(
            &row.number,
            &row.result,
            Some(row.color),
            &row.call,
            &row.reason,
        )?;
    }
    Ok(())
}

impl Row {
    /// Returns the line of a call; `None` if the call was allowed as it is, succeeded, and printed
    /// no secret.
    fn of(record: &Record) -> Option<Self> {
        let is_rewritten = record.decision == Decision::Rewritten;
        let (result, color) = match (record.decision, record.status) {
            (Decision::Refused, _) => (record.decision.name().to_owned(), Color::Red),
            (_, Status::Succeeded) if is_rewritten => {
                (record.decision.name().to_owned(), Color::Cyan)
            }
            (_, Status::Succeeded) if record.redactions > 0 => ("redacted".to_owned(), Color::Cyan),
            (_, Status::Succeeded) => return None,
            _ if is_rewritten => {
                let result = format!("{}, {}", record.decision.name(), record.result());
                (result, Color::Yellow)
            }
            _ => (record.result(), Color::Yellow),
        };
        let call = match record.tool {
            "bash" => format!("$ {}", record.call),
            tool => format!("{tool} {}", record.call),
        };
        // No hook decided on an allowed call.
        let reason = match record.decision {
            Decision::Allowed => {
                let notes = record.notes.strip_prefix(LAST_LINE);
                notes.unwrap_or(&record.notes).to_owned()
            }
            Decision::Rewritten | Decision::Refused => format!("{}: {}", record.by, record.why),
        };
        Some(Self {
            number: record.number.to_string(),
            result,
            color,
            call,
            reason,
        })
    }
}
