//! Statements of a generated program, as a tree: rendered as text, and shortened while they still fail.

use std::collections::BTreeSet;

/// A statement: text with bodies of further statements.
#[derive(Clone)]
pub(super) struct Statement {
    /// The kind of the grammar.
    pub(super) kind: &'static str,
    pub(super) pieces: Vec<Piece>,
}

#[derive(Clone)]
pub(super) enum Piece {
    Text(String),
    Body(Vec<Statement>, Form),
}

/// How a body is written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// In one line; in several if a statement has several.
    Line,
    Lines,
    /// Between single quotes.
    SingleQuoted,
    /// Between double quotes.
    DoubleQuoted,
}

/// Returns the text of statements.
pub(super) fn text_of(statements: &[Statement]) -> String {
    joined(statements, "\n")
}

/// Adds the kinds of statements, and of those in their bodies.
pub(super) fn add_kinds(statements: &[Statement], kinds: &mut BTreeSet<&'static str>) {
    for statement in statements {
        kinds.insert(statement.kind);
        for piece in &statement.pieces {
            if let Piece::Body(body, _) = piece {
                add_kinds(body, kinds);
            }
        }
    }
}

/// Returns statements without as many of them as possible, while `fails` returns `true`.
pub(super) fn shortened(
    mut statements: Vec<Statement>,
    fails: impl Fn(&[Statement]) -> bool,
) -> Vec<Statement> {
    'again: loop {
        for shorter in each_shorter(&statements) {
            if fails(&shorter) {
                statements = shorter;
                continue 'again;
            }
        }
        return statements;
    }
}

/// Returns the lists in which one statement is left out, or replaced by one of its bodies.
fn each_shorter(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let with = |instead: Vec<Statement>| {
            let mut list = statements.to_vec();
            list.splice(at..=at, instead);
            list
        };
        all.push(with(Vec::new()));
        for (place, piece) in statement.pieces.iter().enumerate() {
            let Piece::Body(body, form) = piece else {
                continue;
            };
            all.push(with(body.clone()));
            for shorter in each_shorter(body) {
                let mut changed = statement.clone();
                changed.pieces[place] = Piece::Body(shorter, *form);
                all.push(with(vec![changed]));
            }
        }
    }
    all
}

fn joined(statements: &[Statement], separator: &str) -> String {
    let texts: Vec<String> = statements.iter().map(Statement::text).collect();
    if texts.is_empty() {
        return ":".to_owned();
    }
    texts.join(separator)
}

impl Statement {
    fn text(&self) -> String {
        let pieces = self.pieces.iter();
        pieces
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Body(body, form) => form.of(body),
            })
            .collect()
    }
}

impl Form {
    /// Returns the text of a body, with the separators around it.
    fn of(self, body: &[Statement]) -> String {
        let lines = joined(body, "\n");
        match self {
            Self::Line if !lines.contains("<<") => format!(" {}; ", joined(body, "; ")),
            Self::Line | Self::Lines => format!("\n{lines}\n"),
            Self::SingleQuoted => lines.replace('\'', "'\\''"),
            Self::DoubleQuoted => lines
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('`', "\\`"),
        }
    }
}
