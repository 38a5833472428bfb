//! Tables of the commands. In: the names of the columns. Out: a table that fits the terminal.

use std::io::{self, IsTerminal};

use comfy_table::{ContentArrangement, Table, presets};
use terminal_size::terminal_size_of;

/// Returns an empty table, as wide as the terminal; without a limit if standard output is not a
/// terminal, so that other programs find each row on one line.
pub(super) fn table<const N: usize>(head: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(head);
    if io::stdout().is_terminal()
        && let Some((width, _)) = terminal_size_of(io::stdout())
    {
        table.set_width(width.0);
    }
    table
}
