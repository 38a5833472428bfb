//! Generator of programs.

use super::grammar::{FUNCTIONS, Grammar, Place, ROLES};
use super::statement::{Form, Piece, Statement};
use crate::support::random::Random;

/// The kind of the assignments with which each program begins, until a statement replaces them.
const FIRST: &str = "first assignment";

/// The variable that is unset at first.
const UNSET: &str = "q";

/// The gaps of templates.
const GAPS: &str = "nmvabLFqdgGrxceRw";

/// Maximum nesting of bodies, and of words.
const DEPTH: usize = 2;

pub(super) struct ProgramGenerator<'a> {
    grammar: &'a Grammar,
    random: Random,
    /// The text that each variable mostly gets in this program.
    usual: Vec<(&'static str, &'static str)>,
    /// How often, of 20, a text is one that makes a file.
    danger: usize,
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

impl<'a> ProgramGenerator<'a> {
    pub(super) fn new(grammar: &'a Grammar, seed: u64) -> Self {
        Self {
            grammar,
            random: Random(seed),
            usual: Vec::new(),
            danger: 0,
            last: "a",
        }
    }

    /// Returns a program that is allowed.
    pub(super) fn program(
        &mut self,
        mut is_allowed: impl FnMut(&[Statement]) -> bool,
    ) -> Vec<Statement> {
        self.usual = ROLES
            .iter()
            .flat_map(|role| role.names.iter().map(move |name| (*name, role)))
            .map(|(name, role)| {
                // The variables after the first hold more often what the first must not get.
                let most = if name == role.names[0] { 20 } else { 3 };
                let text = match self.random.below(most) {
                    0 => self.random.of(role.makes),
                    1 if name != role.names[0] => self.random.of(role.other),
                    _ => self.random.of(role.harmless),
                };
                (name, text)
            })
            .collect();
        self.danger = self.random.of(&[1, 4, 8, 12]);
        let context = Context {
            depth: DEPTH,
            callable: FUNCTIONS,
            in_function: false,
            in_loop: false,
        };
        // A program that needs confirmation tests nothing: it grows as long as it is allowed.
        let mut program = loop {
            let mut program = self.first_assignments();
            let run = self.grammar.run();
            let template = self.chosen(&run.templates);
            program.push(self.filled(run.name, template, context));
            if is_allowed(&program) {
                break program;
            }
        };
        for _ in 0..4 + self.random.below(8) {
            let at = match self.random.below(6) {
                0 => program.len(),
                _ => self.random.below(program.len()),
            };
            let mut changed = program.clone();
            if changed[at..]
                .first()
                .is_some_and(|first| first.kind == FIRST)
            {
                changed.remove(at);
            }
            changed.insert(at, self.statement(context));
            if is_allowed(&changed) {
                program = changed;
            }
        }
        program
    }

    /// Returns assignments to the variables and, in some programs, to the parameters.
    fn first_assignments(&mut self) -> Vec<Statement> {
        let mut texts = Vec::new();
        for name in ROLES.iter().flat_map(|role| role.names) {
            self.last = name;
            texts.push(match self.random.below(4) {
                _ if *name == UNSET => format!("unset {name}"),
                0 => format!("{name}={}", self.literal()),
                _ => format!("{name}={}", self.usual()),
            });
        }
        self.last = ROLES[0].names[0];
        match self.random.below(3) {
            0 => texts.push(format!("set -- {}", self.usual())),
            1 => texts.push(format!("set -- {} {}", self.usual(), self.literal())),
            _ => {}
        }
        let pieces = texts.into_iter().map(|text| vec![Piece::Text(text)]);
        let statements = pieces.map(|pieces| Statement {
            kind: FIRST,
            pieces,
        });
        statements.collect()
    }

    fn chosen(&mut self, templates: &'a [String]) -> &'a str {
        &templates[self.random.below(templates.len())]
    }

    fn statement(&mut self, context: Context) -> Statement {
        let is_possible = |place| match place {
            Place::Anywhere => true,
            Place::InFunction => context.in_function,
            Place::OutsideFunctions => !context.callable.is_empty(),
            Place::InLoop => context.in_loop,
        };
        loop {
            let kinds = &self.grammar.kinds;
            let total = kinds.iter().map(|kind| kind.weight).sum();
            let mut at = self.random.below(total);
            let kind = kinds
                .iter()
                .find(|kind| {
                    let is_here = at < kind.weight;
                    at = at.saturating_sub(kind.weight);
                    is_here
                })
                .expect("the weights sum up to the total");
            let template = self.chosen(&kind.templates);
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
            if !GAPS.contains(gap) {
                push(pieces, "@");
                continue;
            }
            rest = &rest[1..];
            let form = [Form::Line, Form::Lines][self.random.below(2)];
            let gap = match gap {
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
                'G' => {
                    push(pieces, function);
                    continue;
                }
                'n' => {
                    self.last = self.random.of(&[
                        "a", "a", "a", "a", "b", "b", "c", "c", "o", "o", "r", "s", "u", "q",
                    ]);
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
                'v' if depth == 0 || self.random.below(10) < 5 => {
                    let text = self.literal();
                    push(pieces, text);
                    continue;
                }
                'v' => 'w',
                other => other,
            };
            let last = self.last;
            let piece = loop {
                let piece = match depth {
                    0 => plain_text(gap),
                    _ => self.chosen(&self.grammar.lists[&gap]),
                };
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

    /// Returns the text that the variable named last mostly gets.
    fn usual(&self) -> &'static str {
        let usual = self.usual.iter().find(|(name, _)| *name == self.last);
        usual.expect("each variable has a usual text").1
    }

    /// Returns a text for the variable named last.
    fn literal(&mut self) -> &'static str {
        let role = ROLES.iter().find(|role| role.names.contains(&self.last));
        let role = role.expect("each variable has a role");
        match self.random.below(20) {
            0 => self.random.of(role.harmless),
            1..3 => self.random.of(role.other),
            at if at < 3 + self.danger => self.random.of(role.makes),
            _ => self.usual(),
        }
    }
}

/// Returns what fills a gap at the deepest place.
fn plain_text(gap: char) -> &'static str {
    match gap {
        'c' => "true",
        'r' => ":",
        'x' => "echo x",
        'e' => "1",
        'R' => "2>&1",
        _ => "x",
    }
}

fn push(pieces: &mut Vec<Piece>, more: &str) {
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.push_str(more);
    } else {
        pieces.push(Piece::Text(more.to_owned()));
    }
}
