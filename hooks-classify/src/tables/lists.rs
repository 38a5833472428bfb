//! Look-ups in the tables: a name in, an option, a command or a truth value out. They allocate nothing.

use std::fmt;
use std::ops::{Deref, Range};

use super::compiled::{
    COMMAND_ROWS, NAME_ENDS, NAME_TEXT, OPERAND_LISTS, OPTION_KINDS, OPTION_ROWS, PHRASE_ENDS,
    PHRASE_TEXT, PROGRAM_DETAILS, PROGRAMS,
};
use super::{OperandCount, OptionSpec, Program, ProgramDetails};
use crate::model::role::Role;

/// Sorted words, for look-ups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordSet(pub(crate) &'static [&'static str]);

impl WordSet {
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.0.binary_search(&word).is_ok()
    }
}

/// Returns the name with a number; the numbers are in the order of the names.
fn name_of(number: u16) -> &'static str {
    text_of(NAME_TEXT, &NAME_ENDS, number)
}

/// Returns the text with a number, of texts that are joined to one.
fn text_of(all: &'static str, ends: &[u32], number: u16) -> &'static str {
    &all[range_of(ends, number)]
}

fn range_of(ends: &[u32], number: u16) -> Range<usize> {
    let number = usize::from(number);
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    start as usize..ends[number] as usize
}

/// What a program does, or the name of its function: the number of a text.
///
/// The rows of programs have numbers and no references, which the loader would have to relocate in
/// each process: 20 000 relocations, 0.27 million instructions.
#[derive(Clone, Copy)]
pub(crate) struct Phrase(pub(super) u16);

impl Phrase {
    pub(crate) fn text(self) -> &'static str {
        text_of(PHRASE_TEXT, &PHRASE_ENDS, self.0)
    }
}

impl fmt::Debug for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text(), f)
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// The operands of a program: the number of a list.
#[derive(Clone, Copy)]
pub(crate) struct OperandList(pub(super) u16);

impl Deref for OperandList {
    type Target = [(Role, OperandCount)];

    fn deref(&self) -> &Self::Target {
        OPERAND_LISTS[usize::from(self.0)]
    }
}

impl fmt::Debug for OperandList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// The details of a program: their number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Details(pub(super) u16);

impl Details {
    pub(crate) fn get(self) -> &'static ProgramDetails {
        &PROGRAM_DETAILS[usize::from(self.0)]
    }
}

impl Deref for Details {
    type Target = ProgramDetails;

    fn deref(&self) -> &Self::Target {
        self.get()
    }
}

/// Returns the row with this name. Compares bytes: whether a name begins at a character need not be
/// checked; −1.5 % of the everyday commands of `classify -- counts`.
fn find_row(rows: &'static [[u16; 2]], wanted: &str) -> Option<u16> {
    let name = |row: &[u16; 2]| &NAME_TEXT.as_bytes()[range_of(&NAME_ENDS, row[0])];
    let at = rows.binary_search_by(|row| name(row).cmp(wanted.as_bytes()));
    Some(rows[at.ok()?][1])
}

/// The options of a program, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionTable {
    pub(super) first: u32,
    pub(super) count: u16,
}

impl OptionTable {
    fn rows(self) -> &'static [[u16; 2]] {
        let first = self.first as usize;
        &OPTION_ROWS[first..first + usize::from(self.count)]
    }

    pub(crate) fn get(self, name: &str) -> Option<&'static OptionSpec> {
        let kind = find_row(self.rows(), name)?;
        Some(&OPTION_KINDS[usize::from(kind)])
    }

    pub(crate) fn contains_key(self, name: &str) -> bool {
        find_row(self.rows(), name).is_some()
    }

    /// Iterates in the order of the names.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'static str, &'static OptionSpec)> {
        let rows = self.rows().iter();
        rows.map(|row| (name_of(row[0]), &OPTION_KINDS[usize::from(row[1])]))
    }

    pub(crate) fn values(self) -> impl Iterator<Item = &'static OptionSpec> {
        self.iter().map(|(_, option)| option)
    }
}

/// The commands of a program, by name and by pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTable {
    pub(super) first: u32,
    pub(super) plain: u16,
    /// Number of commands whose names are patterns. They follow the plain commands, in the order of the
    /// table.
    pub(super) patterns: u16,
}

impl CommandTable {
    fn rows(self) -> (&'static [[u16; 2]], &'static [[u16; 2]]) {
        let first = self.first as usize;
        let plain = first + usize::from(self.plain);
        let patterns = plain + usize::from(self.patterns);
        (&COMMAND_ROWS[first..plain], &COMMAND_ROWS[plain..patterns])
    }

    pub(crate) fn is_empty(self) -> bool {
        self.plain == 0 && self.patterns == 0
    }

    /// Returns the command with a plain name.
    pub(crate) fn get(self, name: &str) -> Option<&'static Program> {
        let number = find_row(self.rows().0, name)?;
        Some(&PROGRAMS[usize::from(number)])
    }

    /// Returns the command with this name in the table, or else with this pattern.
    pub(super) fn by_name_or_pattern(self, name: &str) -> Option<&'static Program> {
        let by_pattern = || self.patterns().find(|(pattern, _)| *pattern == name);
        let by_name = self.get(name);
        by_name.or_else(|| by_pattern().map(|(_, command)| command))
    }

    /// Iterates over the names that are no patterns, in order.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.rows().0.iter().map(|row| name_of(row[0]))
    }

    pub(super) fn patterns(self) -> impl Iterator<Item = (&'static str, &'static Program)> {
        let rows = self.rows().1.iter();
        rows.map(|row| (name_of(row[0]), &PROGRAMS[usize::from(row[1])]))
    }
}
