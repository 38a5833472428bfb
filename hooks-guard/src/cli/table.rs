//! Tables of the commands. In: the names of the columns. Out: a table that fits the terminal.

use std::io::{self, IsTerminal};

use comfy_table::{
    Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table, presets,
};
use hooks_guard::classify::Crud;

use super::color::is_turned_off;

/// Returns an empty table as wide as the terminal, of which only the last `wrapped` columns break
/// their lines. If standard output is not a terminal, the width has no limit, so that other
/// programs find each row on one line.
pub(super) fn table<const N: usize>(head: [&str; N], wrapped: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(head);
    if !io::stdout().is_terminal() {
        table.force_no_tty();
    }
    for column in table.column_iter_mut().take(N - wrapped) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

/// Returns a cell that is red on a terminal.
pub(super) fn warning(text: &str) -> Cell {
    match is_turned_off() {
        true => Cell::new(text),
        false => Cell::new(text).fg(Color::Red),
    }
}

/// Returns the cell of a class, in the class's colour on a terminal.
pub(super) fn class(class: Crud) -> Cell {
    let cell = Cell::new(class.to_string()).set_alignment(CellAlignment::Left);
    if is_turned_off() {
        return cell;
    }
    cell.fg(match class {
        Crud::Read => Color::Green,
        Crud::Create => Color::Cyan,
        Crud::Update => Color::Yellow,
        Crud::Delete => Color::Red,
    })
}
