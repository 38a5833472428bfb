//! Generator of programs.

use super::grammar::{
    ARITHMETIC, CONDITIONS, FUNCTIONS, KINDS, PRINTS, Place, READS, REDIRECTIONS, ROLES, Role, WORDS,
};
use super::statement::{Form, Piece, Statement};
use crate::support::random::Random;

/// Maximum nesting of bodies, and of words.
const DEPTH: usize = 2;

pub(super) struct ProgramGenerator {
    random: Random,
    /// The text that each variable mostly gets in this program.
    usual: Vec<(&'static str, &'static str)>,
    /// The variable named last.
    last: &'static str,
}

/// Where a statement is.
#[derive(Clone, Copy)]
struct Context {
    depth: usize,
    /// Functions that may be called: none calls itself, even through another.
    callable: &'static [&'static str],
    in_function: bool,
    in_loop: bool,
}

impl ProgramGenerator {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            usual: Vec::new(),
            last: "a",
        }
    }

    pub(super) fn program(&mut self) -> Vec<Statement> {
        self.usual = ROLES
            .iter()
            .flat_map(|role| role.names.iter().map(move |name| (*name, role)))
            .map(|(name, role)| {
                // The variables after the first hold more often what the first must not get.
                let most = if name == role.names[0] { 12 } else { 3 };
                let text = match self.random.below(most) {
                    0 => self.random.of(role.makes),
                    1 if name != role.names[0] => self.random.of(role.other),
                    _ => self.random.of(role.harmless),
                };
                (name, text)
            })
            .collect();
        let context = Context {
            depth: DEPTH,
            callable: FUNCTIONS,
            in_function: false,
            in_loop: false,
        };
        let count = 2 + self.random.below(5);
        let mut statements: Vec<_> = (0..count).map(|_| self.statement(context)).collect();
        let runs = &KINDS[0];
        let run = self.random.of(runs.templates);
        statements.push(self.filled(runs.name, run, context));
        statements
    }

    fn statement(&mut self, context: Context) -> Statement {
        let is_possible = |place| match place {
            Place::Anywhere => true,
            Place::InFunction => context.in_function,
            Place::OutsideFunctions => !context.callable.is_empty(),
            Place::InLoop => context.in_loop,
        };
        loop {
            let total = KINDS.iter().map(|kind| kind.weight).sum();
            let mut at = self.random.below(total);
            let kind = KINDS
                .iter()
                .find(|kind| {
                    let is_here = at < kind.weight;
                    at = at.saturating_sub(kind.weight);
                    is_here
                })
                .expect("the weights sum up to the total");
            let template = self.random.of(kind.templates);
            let has_body = ["@b", "@L", "@F", "@q", "@d"]
                .iter()
                .any(|gap| template.contains(gap));
            if is_possible(kind.place) && (context.depth > 0 || !has_body) {
                return self.filled(kind.name, template, context);
            }
        }
    }

    fn body(&mut self, context: Context) -> Vec<Statement> {
        let count = 1 + self.random.below(3);
        let context = Context {
            depth: context.depth.saturating_sub(1),
            ..context
        };
        (0..count).map(|_| self.statement(context)).collect()
    }

    /// Returns a statement by its template.
    fn filled(&mut self, kind: &'static str, template: &str, context: Context) -> Statement {
        let mut pieces = Vec::new();
        let mut function = FUNCTIONS[0];
        self.fill(template, context, DEPTH, &mut pieces, &mut function);
        Statement { kind, pieces }
    }

    fn fill(
        &mut self,
        template: &str,
        context: Context,
        depth: usize,
        pieces: &mut Vec<Piece>,
        function: &mut &'static str,
    ) {
        let mut rest = template;
        while let Some(at) = rest.find('@') {
            push(pieces, &rest[..at]);
            let gap = rest[at + 1..].chars().next().unwrap_or(' ');
            rest = &rest[at + 1..];
            if !gap.is_ascii_alphabetic() {
                push(pieces, "@");
                continue;
            }
            rest = &rest[1..];
            let form = [Form::Line, Form::Lines][self.random.below(2)];
            let (list, plain): (&[&'static str], &str) = match gap {
                'b' => {
                    pieces.push(Piece::Body(self.body(context), form));
                    continue;
                }
                'L' => {
                    let context = Context {
                        in_loop: true,
                        ..context
                    };
                    pieces.push(Piece::Body(self.body(context), form));
                    continue;
                }
                'F' => {
                    let before = FUNCTIONS.iter().position(|name| name == function);
                    let callable = match before {
                        Some(before) if !context.in_function => &FUNCTIONS[..before],
                        _ => &[],
                    };
                    let context = Context {
                        callable,
                        in_function: true,
                        in_loop: false,
                        ..context
                    };
                    pieces.push(Piece::Body(self.body(context), form));
                    continue;
                }
                'q' => {
                    pieces.push(Piece::Body(self.body(context), Form::SingleQuoted));
                    continue;
                }
                'd' => {
                    pieces.push(Piece::Body(self.body(context), Form::DoubleQuoted));
                    continue;
                }
                'g' => {
                    // A definition may name any function, a call only those that cannot call it.
                    let is_definition = rest.starts_with('(') || rest.starts_with(" {");
                    let names = if is_definition || context.callable.is_empty() {
                        FUNCTIONS
                    } else {
                        context.callable
                    };
                    *function = self.random.of(names);
                    push(pieces, function);
                    continue;
                }
                'n' => {
                    self.last = self.random.of(&["a", "a", "a", "a", "b", "b", "c", "c", "o", "r"]);
                    push(pieces, self.last);
                    continue;
                }
                'm' => {
                    push(pieces, self.last);
                    continue;
                }
                'a' => {
                    let text = self.literal();
                    push(pieces, text);
                    continue;
                }
                'v' => {
                    if depth == 0 || self.random.below(10) < 5 {
                        (&["@a", "\"@a\""], "@a")
                    } else {
                        (WORDS, "x")
                    }
                }
                'w' => (WORDS, "x"),
                'c' => (CONDITIONS, "true"),
                'r' => (READS, ":"),
                'x' => (PRINTS, "echo x"),
                'e' => (ARITHMETIC, "1"),
                'R' => (REDIRECTIONS, "2>&1"),
                other => unreachable!("no gap `@{other}`"),
            };
            let last = self.last;
            let piece = loop {
                let piece = if depth == 0 { plain } else { self.random.of(list) };
                let has_body = piece.contains("@q");
                if !has_body || context.depth > 0 {
                    break piece;
                }
            };
            let context = Context {
                depth: context.depth.saturating_sub(1),
                ..context
            };
            self.fill(piece, context, depth.saturating_sub(1), pieces, function);
            self.last = last;
        }
        push(pieces, rest);
    }

    /// Returns a text for the variable named last.
    fn literal(&mut self) -> &'static str {
        let name = self.last;
        let usual = self.usual.iter().find(|(of, _)| *of == name);
        let role = ROLES.iter().find(|role| role.names.contains(&name));
        let (Some((_, usual)), Some(role)) = (usual, role) else {
            unreachable!("`{name}` has a role");
        };
        let Role {
            harmless,
            makes,
            other,
            ..
        } = role;
        match self.random.below(20) {
            0 => self.random.of(makes),
            1 => self.random.of(harmless),
            2 | 3 => self.random.of(other),
            _ => usual,
        }
    }
}

fn push(pieces: &mut Vec<Piece>, more: &str) {
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.push_str(more);
    } else {
        pieces.push(Piece::Text(more.to_owned()));
    }
}
