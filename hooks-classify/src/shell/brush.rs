//! The parser `brush-parser`: a text in, its script out.

use std::collections::HashMap;

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item, CompoundCommand, SourceLocation};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, SourceSpan};

use super::here_document::{clear_positions, duplicate_operator, here_document_word};
use super::lex::{QuoteMode, lex_word};
use crate::model::script::{
    AndOr, Command, CommandKind, Join, Pipeline, Redirect, RedirectOperator, ShellScript,
    ShellWord, TimeKeyword,
};
use crate::model::span::Span;

/// Returns the script of a text, or `None` if the parser rejects it.
pub(crate) fn parse(text: &str) -> Option<ShellScript> {
    // The parser panics at a descriptor beyond 32 bits. A line continuation may split its digits.
    let joined = text.replace("\\\n", "");
    let high = |part: &str| {
        let rest = part.trim_end_matches(|c: char| c.is_ascii_digit());
        part.len() - rest.len() > 9
    };
    if joined
        .match_indices(['<', '>'])
        .any(|(at, _)| high(&joined[..at]))
    {
        return None;
    }
    // If the end of a here-document in brackets is missing, the parser allocates without limit.
    let apart = |(at, _): (usize, &str)| {
        let rest = joined[at + 2..].trim_start_matches('-');
        rest.len() - rest.trim_start_matches([' ', '\t']).len() > 1
    };
    if joined.contains(['(', '{', '[', '`']) && joined.match_indices("<<").any(apart) {
        return None;
    }
    // This also applies if the end word is empty without its quotes and leading blanks, which
    // include a carriage return.
    let empty = |(at, _): (usize, &str)| {
        let rest = joined[at + 2..].trim_start_matches('-');
        let rest = rest.trim_start_matches([' ', '\t']);
        let behind = rest.trim_start_matches(['\r', '\x0c', '\'', '"']);
        // A single quote closes a surrounding quote, or is never closed.
        let word = &rest[..rest.len() - behind.len()];
        let ends = behind
            .chars()
            .next()
            .is_none_or(|c| " \t\n;&|<>()`".contains(c));
        ends && !matches!(word, "" | "'" | "\"")
    };
    if joined.match_indices("<<").any(empty) {
        return None;
    }
    let options = ParserOptions::default();
    let program = Parser::new(text.as_bytes(), &options)
        .parse_program()
        .ok()?;
    let offsets = (!text.is_ascii()).then(|| {
        text.char_indices()
            .map(|(i, _)| i)
            .chain([text.len()])
            .collect()
    });
    let lower = BrushLowering {
        text,
        offsets,
        options,
    };
    let mut items = Vec::new();
    for list in &program.complete_commands {
        items.extend(lower.list(list).items);
    }
    Some(ShellScript { items })
}

/// Returns `true` if a `~` precedes more digits than the word parser reads without a panic.
fn has_long_tilde_number(word: &str) -> bool {
    word.match_indices('~').any(|(at, _)| {
        let rest = word[at + 1..].trim_start_matches(['+', '-']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 9
    })
}

struct BrushLowering<'a> {
    text: &'a str,
    /// Byte positions of the characters, if the text is not ASCII.
    offsets: Option<Vec<usize>>,
    options: ParserOptions,
}

impl BrushLowering<'_> {
    fn byte_offset(&self, index: usize) -> usize {
        match &self.offsets {
            Some(offsets) => *offsets.get(index).unwrap_or(&self.text.len()),
            None => index.min(self.text.len()),
        }
    }

    fn span(&self, at: Option<&SourceSpan>) -> Span {
        at.map_or_else(
            || Span::new(0, self.text.len()),
            |at| {
                Span::new(
                    self.byte_offset(at.start.index),
                    self.byte_offset(at.end.index),
                )
            },
        )
    }

    fn list(&self, list: &ast::CompoundList) -> ShellScript {
        ShellScript {
            items: list
                .0
                .iter()
                .map(|ast::CompoundListItem(item, end)| AndOr {
                    background: matches!(end, ast::SeparatorOperator::Async),
                    ..self.and_or(item)
                })
                .collect(),
        }
    }

    fn and_or(&self, list: &ast::AndOrList) -> AndOr {
        AndOr {
            first: self.pipeline(&list.first),
            rest: list
                .additional
                .iter()
                .map(|next| match next {
                    ast::AndOr::And(pipeline) => (Join::And, self.pipeline(pipeline)),
                    ast::AndOr::Or(pipeline) => (Join::Or, self.pipeline(pipeline)),
                })
                .collect(),
            background: false,
        }
    }

    fn pipeline(&self, pipeline: &ast::Pipeline) -> Pipeline {
        let commands: Vec<Command> = pipeline
            .seq
            .iter()
            .map(|command| self.command(command))
            .collect();
        let is_simple = matches!(
            commands.first(),
            Some(Command {
                kind: CommandKind::Simple { .. },
                ..
            })
        );
        Pipeline {
            commands,
            time: pipeline
                .timed
                .as_ref()
                .filter(|_| is_simple)
                .map(|time| match time {
                    ast::PipelineTimed::Timed(_) => TimeKeyword::Plain,
                    ast::PipelineTimed::TimedWithPosixOutput(_) => TimeKeyword::PosixFormat,
                }),
        }
    }

    fn command(&self, command: &ast::Command) -> Command {
        let span = self.span(command.location().as_ref());
        let (kind, redirects) = match command {
            ast::Command::Simple(simple) => return self.simple(simple, span),
            ast::Command::Compound(compound, redirects) => {
                (self.compound(compound), redirects.as_ref())
            }
            ast::Command::Function(function) => {
                let body = Command {
                    kind: self.compound(&function.body.0),
                    redirects: self.redirects(function.body.1.as_ref()),
                    span,
                };
                let name = function.fname.value.clone();
                (
                    CommandKind::Function {
                        name,
                        body: Box::new(body),
                    },
                    None,
                )
            }
            ast::Command::ExtendedTest(test, redirects) => {
                let at = self.span(Some(&test.loc));
                (
                    CommandKind::Test(self.slice(at, QuoteMode::Expression)),
                    redirects.as_ref(),
                )
            }
        };
        Command {
            kind,
            redirects: self.redirects(redirects),
            span,
        }
    }

    fn compound(&self, compound: &CompoundCommand) -> CommandKind {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => CommandKind::Test(
                self.slice(self.span(Some(&arithmetic.loc)), QuoteMode::Expression),
            ),
            CompoundCommand::ArithmeticForClause(clause) => {
                let head = [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                    .map(|part| part.value.trim())
                    .collect::<Vec<_>>()
                    .join(";");
                let head = lex_word(&head, 0, head.len(), QuoteMode::Expression, &|_| None);
                CommandKind::While {
                    head: Some(head),
                    scripts: vec![self.list(&clause.body.list)],
                }
            }
            CompoundCommand::BraceGroup(group) => CommandKind::Group(self.list(&group.list)),
            CompoundCommand::Subshell(shell) => CommandKind::Subshell(self.list(&shell.list)),
            CompoundCommand::ForClause(clause) => CommandKind::For {
                name: clause.variable_name.clone(),
                words: clause
                    .values
                    .as_ref()
                    .map(|words| words.iter().map(|word| self.word(word)).collect()),
                body: self.list(&clause.body.list),
            },
            CompoundCommand::CaseClause(clause) => CommandKind::Case {
                subject: self.word(&clause.value),
                arms: clause
                    .cases
                    .iter()
                    .map(|case| {
                        let patterns = case.patterns.iter().map(|word| self.word(word)).collect();
                        (
                            patterns,
                            case.cmd
                                .as_ref()
                                .map(|list| self.list(list))
                                .unwrap_or_default(),
                        )
                    })
                    .collect(),
            },
            CompoundCommand::IfClause(clause) => {
                let mut scripts = vec![self.list(&clause.condition), self.list(&clause.then)];
                for other in clause.elses.iter().flatten() {
                    scripts.extend(other.condition.as_ref().map(|list| self.list(list)));
                    scripts.push(self.list(&other.body));
                }
                CommandKind::If(scripts)
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                CommandKind::While {
                    head: None,
                    scripts: vec![self.list(&clause.0), self.list(&clause.1.list)],
                }
            }
            CompoundCommand::Coprocess(process) => CommandKind::Subshell(ShellScript {
                items: vec![AndOr {
                    first: Pipeline {
                        commands: vec![self.command(&process.body)],
                        time: None,
                    },
                    rest: Vec::new(),
                    background: true,
                }],
            }),
        }
    }

    fn simple(&self, simple: &ast::SimpleCommand, span: Span) -> Command {
        let mut assigns = Vec::new();
        let mut words = Vec::new();
        let mut redirects = Vec::new();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::AssignmentWord(_, word) => assigns.push(self.word(word)),
                _ => self.prefix_or_suffix(item, &mut words, &mut redirects),
            }
        }
        words.extend(simple.word_or_name.iter().map(|word| self.word(word)));
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.prefix_or_suffix(item, &mut words, &mut redirects);
        }
        let test = simple
            .word_or_name
            .as_ref()
            .is_some_and(|word| word.value == "[");
        let kind = if test && assigns.is_empty() {
            let end = words.last().map_or(span.end, |word| word.span.end);
            let at = Span::new(words[0].span.start, end);
            CommandKind::Test(self.slice(
                at,
                QuoteMode::of_test(self.text.get(at.start..at.end).unwrap_or("")),
            ))
        } else {
            CommandKind::Simple { assigns, words }
        };
        Command {
            kind,
            redirects,
            span,
        }
    }

    fn prefix_or_suffix(
        &self,
        item: &Item,
        words: &mut Vec<ShellWord>,
        redirects: &mut Vec<Redirect>,
    ) {
        match item {
            Item::IoRedirect(redirect) => redirects.push(self.redirect(redirect)),
            Item::Word(word) | Item::AssignmentWord(_, word) => words.push(self.word(word)),
            Item::ProcessSubstitution(_, shell) => words.push(self.process(shell)),
        }
    }

    fn process(&self, shell: &ast::SubshellCommand) -> ShellWord {
        let mut at = self.span(Some(&shell.loc));
        if self.text.as_bytes().get(at.start) == Some(&b'(') {
            at.start = at.start.saturating_sub(1);
        }
        let end = at.end;
        let start = at.start;
        lex_word(self.text, start, end, QuoteMode::Word, &|place| {
            (place == start).then_some(end)
        })
    }

    fn redirects(&self, list: Option<&ast::RedirectList>) -> Vec<Redirect> {
        list.iter()
            .flat_map(|list| &list.0)
            .map(|one| self.redirect(one))
            .collect()
    }

    fn redirect(&self, redirect: &ast::IoRedirect) -> Redirect {
        use ast::IoFileRedirectKind as File;
        let written_descriptor = |descriptor: &Option<ast::IoFd>| {
            descriptor.map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        let (operator, descriptor, target) = match redirect {
            ast::IoRedirect::OutputAndError(word, append) => (
                if *append {
                    RedirectOperator::Append
                } else {
                    RedirectOperator::Write
                },
                RedirectOperator::default_descriptor("&>"),
                self.word(word),
            ),
            ast::IoRedirect::HereString(descriptor, word) => (
                RedirectOperator::HereString,
                written_descriptor(descriptor)
                    .unwrap_or_else(|| RedirectOperator::default_descriptor("<<<")),
                self.word(word),
            ),
            ast::IoRedirect::HereDocument(descriptor, document) => {
                let at = self.span(document.doc.loc.as_ref());
                let mut text = document.doc.value.clone();
                if document.remove_tabs {
                    text = text
                        .lines()
                        .map(|l| l.trim_start_matches('\t').to_owned() + "\n")
                        .collect();
                }
                (
                    RedirectOperator::HereDocument,
                    written_descriptor(descriptor)
                        .unwrap_or_else(|| RedirectOperator::default_descriptor("<<")),
                    here_document_word(&text, document.requires_expansion, at),
                )
            }
            ast::IoRedirect::File(descriptor, kind, target) => {
                let word = match target {
                    ast::IoFileRedirectTarget::Filename(word)
                    | ast::IoFileRedirectTarget::Duplicate(word) => self.word(word),
                    ast::IoFileRedirectTarget::Fd(fd) => {
                        let text = fd.to_string();
                        lex_word(&text, 0, text.len(), QuoteMode::Word, &|_| None)
                    }
                    ast::IoFileRedirectTarget::ProcessSubstitution(_, shell) => self.process(shell),
                };
                let (operator, sign) = match kind {
                    File::Read => (RedirectOperator::Read, "<"),
                    File::Write | File::Clobber => (RedirectOperator::Write, ">"),
                    File::Append => (RedirectOperator::Append, ">>"),
                    File::ReadAndWrite => (RedirectOperator::ReadWrite, "<>"),
                    File::DuplicateInput => (RedirectOperator::Duplicate, "<&"),
                    File::DuplicateOutput => (duplicate_operator(&word), ">&"),
                };
                let own = RedirectOperator::default_descriptor(sign);
                (
                    operator,
                    written_descriptor(descriptor).unwrap_or(own),
                    word,
                )
            }
        };
        Redirect {
            operator,
            descriptor,
            includes_stderr: matches!(redirect, ast::IoRedirect::OutputAndError(..)),
            span: target.span,
            target,
        }
    }

    fn slice(&self, at: Span, mode: QuoteMode) -> ShellWord {
        lex_word(self.text, at.start, at.end, mode, &|_| None)
    }

    fn word(&self, word: &ast::Word) -> ShellWord {
        let span = self.span(word.loc.as_ref());
        let value = word.value.as_str();
        let exact = word.loc.is_some() && self.text.get(span.start..span.end) == Some(value);
        let mut ends = HashMap::new();
        if (value.contains('`')
            || value.contains("$(")
            || value.contains("<(")
            || value.contains(">("))
            && !has_long_tilde_number(value)
            && let Ok(pieces) = brush_parser::word::parse(value, &self.options)
        {
            collect_substitution_ends(&pieces, &mut ends);
        }
        if exact {
            let base = span.start;
            lex_word(self.text, base, span.end, QuoteMode::Word, &|at| {
                ends.get(&at.wrapping_sub(base)).map(|end| end + base)
            })
        } else {
            let mut lowered = lex_word(value, 0, value.len(), QuoteMode::Word, &|at| {
                ends.get(&at).copied()
            });
            clear_positions(&mut lowered);
            lowered.span = span;
            lowered
        }
    }
}

fn collect_substitution_ends(pieces: &[WordPieceWithSource], ends: &mut HashMap<usize, usize>) {
    for piece in pieces {
        match &piece.piece {
            WordPiece::CommandSubstitution(_) => {
                ends.insert(piece.start_index, piece.end_index);
            }
            WordPiece::DoubleQuotedSequence(inner)
            | WordPiece::GettextDoubleQuotedSequence(inner) => {
                collect_substitution_ends(inner, ends)
            }
            _ => {}
        }
    }
}
