//! The grammar `tree-sitter-bash`: a text in, its script out.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use tree_sitter::{Node, Parser};

use super::here_document::{duplicate_operator, here_document_word};
use super::lex::{QuoteMode, lex_word};
use crate::model::script::{
    AndOr, Command, CommandKind, Join, Pipeline, Redirect, RedirectOperator, ShellScript,
    ShellWord, TimeKeyword,
};
use crate::model::span::Span;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new({
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok().map(|()| parser)
    });
}

/// Returns the script of a text, or `None` if the parser rejects it.
pub(crate) fn parse(text: &str) -> Option<ShellScript> {
    let plain = mask_non_ascii(text);
    let tree = PARSER.with(|parser| parser.borrow_mut().as_mut()?.parse(&*plain, None))?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut ends = HashMap::new();
    if text.contains('`') || text.contains("$(") || text.contains("<(") || text.contains(">(") {
        collect_substitution_ends(root, &mut ends);
    }
    let lower = TreeLowering {
        text,
        substitution_ends: ends,
    };
    lower.statements(&children(root))
}

/// Returns the text for the grammar: of the same length, with a character that may be in a word but
/// not in a name for each byte that is not ASCII. The scanner of the grammar looks up such
/// characters beyond the end of a table, and reads some of them as white space.
pub(crate) fn mask_non_ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain = |byte: u8| if byte.is_ascii() { byte as char } else { '%' };
    Cow::Owned(text.bytes().map(plain).collect())
}

/// Returns the starts and ends of substitutions. It does not recurse: a tree may be deep.
fn collect_substitution_ends(root: Node<'_>, ends: &mut HashMap<usize, usize>) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            ends.insert(node.start_byte(), node.end_byte());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .filter(|child| child.kind() != "comment")
        .collect()
}

fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

struct TreeLowering<'a> {
    text: &'a str,
    substitution_ends: HashMap<usize, usize>,
}

impl TreeLowering<'_> {
    fn slice(&self, node: Node<'_>) -> &str {
        self.text
            .get(node.start_byte()..node.end_byte())
            .unwrap_or("")
    }

    fn lex(&self, start: usize, end: usize, mode: QuoteMode) -> ShellWord {
        let mut word = lex_word(self.text, start, end, mode, &|at| {
            self.substitution_ends.get(&at).copied()
        });
        word.span = Span::new(start, end);
        word
    }

    fn word(&self, node: Node<'_>) -> ShellWord {
        self.lex(node.start_byte(), node.end_byte(), QuoteMode::Word)
    }

    /// Reads statements with their separators.
    fn statements(&self, nodes: &[Node<'_>]) -> Option<ShellScript> {
        let mut items: Vec<AndOr> = Vec::new();
        for node in nodes {
            if node.is_named() {
                items.push(self.and_or(*node)?);
            } else if self.slice(*node) == "&"
                && let Some(last) = items.last_mut()
            {
                last.background = true;
            }
        }
        Some(ShellScript { items })
    }

    fn and_or(&self, node: Node<'_>) -> Option<AndOr> {
        // `a <<E && b` hangs the rest of the list below the document.
        let mut list = if node.kind() == "list" {
            // Lists lean to the left and may be long, so they are followed without recursion.
            let mut right = Vec::new();
            let mut place = node;
            while place.kind() == "list" {
                let parts = children(place);
                let [first, operator, last] = parts.as_slice() else {
                    return None;
                };
                right.push((
                    if self.slice(*operator) == "&&" {
                        Join::And
                    } else {
                        Join::Or
                    },
                    *last,
                ));
                place = *first;
            }
            let mut list = self.and_or(place)?;
            for (join, node) in right.into_iter().rev() {
                let more = self.and_or(node)?;
                list.rest.push((join, more.first));
                list.rest.extend(more.rest);
            }
            list
        } else if let Some(list) = self.list_below(node) {
            // A node after a list, a pipe or a redirection belongs to its last command.
            let mut list = self.and_or(list)?;
            let last = list
                .rest
                .last_mut()
                .map_or(&mut list.first, |(_, last)| last);
            if node.kind() == "pipeline" {
                for part in children(node).into_iter().filter(Node::is_named).skip(1) {
                    last.commands.extend(self.pipeline(part)?.commands);
                }
                let inner = children(node).into_iter().find(Node::is_named)?;
                if inner.kind() == "redirected_statement" {
                    let at = last.commands.len()
                        - (children(node).iter().filter(|n| n.is_named()).count() - 1);
                    let mut own = Pipeline {
                        commands: last.commands.drain(..at).collect(),
                        time: None,
                    };
                    self.add_redirects(inner, &mut own)?;
                    own.commands.append(&mut last.commands);
                    *last = own;
                }
            } else {
                self.add_redirects(node, last)?;
            }
            list
        } else {
            AndOr {
                first: self.pipeline(node)?,
                rest: Vec::new(),
                background: false,
            }
        };
        self.append_list_after_here_document(node, &mut list)?;
        Some(list)
    }

    /// Reads the list that the grammar puts below a pipeline or a redirection.
    fn list_below<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        let first = match node.kind() {
            "redirected_statement" => node.child_by_field_name("body")?,
            "pipeline" => {
                let first = children(node).into_iter().find(Node::is_named)?;
                if first.kind() == "redirected_statement" {
                    first.child_by_field_name("body")?
                } else {
                    first
                }
            }
            _ => return None,
        };
        (first.kind() == "list").then_some(first)
    }

    fn append_list_after_here_document(&self, node: Node<'_>, list: &mut AndOr) -> Option<()> {
        if node.kind() != "redirected_statement" {
            return Some(());
        }
        for redirect in children(node) {
            if redirect.kind() == "heredoc_redirect"
                && let Some(right) = redirect.child_by_field_name("right")
            {
                let operator = redirect.child_by_field_name("operator")?;
                let join = if self.slice(operator) == "&&" {
                    Join::And
                } else {
                    Join::Or
                };
                let right = self.and_or(right)?;
                list.rest.push((join, right.first));
                list.rest.extend(right.rest);
            }
        }
        Some(())
    }

    fn pipeline(&self, node: Node<'_>) -> Option<Pipeline> {
        let mut pipeline = Pipeline::default();
        match node.kind() {
            "pipeline" => {
                for part in children(node) {
                    if part.is_named() {
                        let inner = self.pipeline(part)?;
                        if pipeline.commands.is_empty() {
                            pipeline.time = inner.time;
                        }
                        pipeline.commands.extend(inner.commands);
                    } else if self.slice(part) == "|&" {
                        // The parsers place this `2>&1` differently.
                    }
                }
            }
            "negated_command" => {
                let inner = children(node).into_iter().find(Node::is_named)?;
                return self.pipeline(inner);
            }
            "redirected_statement" => {
                pipeline = self.redirected_pipeline(node)?;
            }
            _ => pipeline.commands.push(self.command(node)?),
        }
        self.remove_time(&mut pipeline);
        Some(pipeline)
    }

    /// Reads `time` before a pipeline, which is not a program.
    fn remove_time(&self, pipeline: &mut Pipeline) {
        let Some(Command {
            kind: CommandKind::Simple { words, assigns },
            ..
        }) = pipeline.commands.first_mut()
        else {
            return;
        };
        let raw = |word: &ShellWord| self.text.get(word.span.start..word.span.end);
        if assigns.is_empty() && words.len() > 1 && raw(&words[0]) == Some("time") {
            words.remove(0);
            let mut time = TimeKeyword::Plain;
            if words.len() > 1 && raw(&words[0]) == Some("-p") {
                words.remove(0);
                time = TimeKeyword::PosixFormat;
            }
            pipeline.time = Some(time);
        }
    }

    fn redirected_pipeline(&self, node: Node<'_>) -> Option<Pipeline> {
        let mut pipeline = match node.child_by_field_name("body") {
            Some(body) => self.pipeline(body)?,
            None => Pipeline {
                commands: vec![Command {
                    kind: CommandKind::Simple {
                        assigns: Vec::new(),
                        words: Vec::new(),
                    },
                    redirects: Vec::new(),
                    span: span(node),
                }],
                time: None,
            },
        };
        self.add_redirects(node, &mut pipeline)?;
        Some(pipeline)
    }

    /// Adds redirections to the last command of the node that the grammar puts below them.
    fn add_redirects(&self, node: Node<'_>, pipeline: &mut Pipeline) -> Option<()> {
        let mut following = Vec::new();
        for part in children(node) {
            match part.kind() {
                "file_redirect" | "herestring_redirect" => {
                    let (redirect, more) = self.redirect(part)?;
                    let last = pipeline.commands.last_mut()?;
                    last.redirects.push(redirect);
                    self.append_words(last, more);
                    last.span.end = last.span.end.max(part.end_byte());
                }
                "heredoc_redirect" => self.here_document(part, pipeline, &mut following)?,
                _ => {}
            }
        }
        pipeline.commands.extend(following);
        Some(())
    }

    fn append_words(&self, command: &mut Command, more: Vec<ShellWord>) {
        if let CommandKind::Simple { words, .. } = &mut command.kind {
            words.extend(more);
        }
    }

    fn here_document(
        &self,
        node: Node<'_>,
        pipeline: &mut Pipeline,
        following: &mut Vec<Command>,
    ) -> Option<()> {
        let mut start = "";
        let mut delimiter_end = 0;
        let mut body = None;
        let mut tabs = false;
        let command = pipeline.commands.last_mut()?;
        let place = command.redirects.len();
        let mut inner = node.walk();
        for (index, part) in node.children(&mut inner).enumerate() {
            let field = node.field_name_for_child(index as u32);
            match part.kind() {
                "<<-" => tabs = true,
                "heredoc_start" => {
                    start = self.slice(part);
                    delimiter_end = part.end_byte();
                }
                "heredoc_body" => body = Some(part),
                "file_redirect" | "herestring_redirect" => {
                    let (redirect, more) = self.redirect(part)?;
                    command.redirects.push(redirect);
                    self.append_words(command, more);
                }
                "pipeline" => {
                    for next in children(part).into_iter().filter(Node::is_named) {
                        following.extend(self.pipeline(next)?.commands);
                    }
                }
                // Words after the line of the `<<` belong to the document; the grammar removes them
                // if the document begins with a backslash.
                _ if field == Some("argument")
                    && self.text[delimiter_end..part.end_byte()].contains('\n') => {}
                _ if field == Some("argument") => {
                    let word = self.word(part);
                    self.append_words(command, vec![word]);
                }
                _ => {}
            }
        }
        let at = body.map_or(span(node), |body| {
            // The grammar omits a first line that begins with a backslash.
            let line = self.text[delimiter_end..]
                .find('\n')
                .map_or(0, |line| delimiter_end + line + 1);
            let left_out = delimiter_end > 0
                && line < body.start_byte()
                && self.text[line..].starts_with('\\');
            let start = if left_out { line } else { body.start_byte() };
            Span::new(start, body.end_byte())
        });
        let text = if body.is_some() {
            self.text.get(at.start..at.end).unwrap_or("")
        } else {
            ""
        };
        let text = if tabs {
            text.lines()
                .map(|l| l.trim_start_matches('\t').to_owned() + "\n")
                .collect()
        } else {
            text.to_owned()
        };
        let expands = !start.contains(['\'', '"', '\\']);
        let target = here_document_word(&text, expands, at);
        command.redirects.insert(
            place,
            Redirect {
                operator: RedirectOperator::HereDocument,
                descriptor: self
                    .descriptor(node)?
                    .unwrap_or_else(|| RedirectOperator::default_descriptor("<<")),
                includes_stderr: false,
                span: at,
                target,
            },
        );
        Some(())
    }

    /// Reads a redirection; the grammar also puts later words below it.
    fn redirect(&self, node: Node<'_>) -> Option<(Redirect, Vec<ShellWord>)> {
        if node.kind() == "herestring_redirect" {
            let word = children(node).into_iter().rfind(|n| n.is_named())?;
            let target = self.word(word);
            return Some((
                Redirect {
                    operator: RedirectOperator::HereString,
                    descriptor: self
                        .descriptor(node)?
                        .unwrap_or_else(|| RedirectOperator::default_descriptor("<<<")),
                    includes_stderr: false,
                    span: target.span,
                    target,
                },
                Vec::new(),
            ));
        }
        let mut operator = None;
        let mut words = Vec::new();
        for part in children(node) {
            if part.kind() == "file_descriptor" {
                continue;
            }
            if part.is_named() {
                words.push(self.word(part));
            } else {
                operator = Some(self.slice(part).to_owned());
            }
        }
        let operator = operator?;
        let descriptor = self
            .descriptor(node)?
            .unwrap_or_else(|| RedirectOperator::default_descriptor(&operator));
        if operator.ends_with('-') && words.is_empty() {
            let target = lex_word("-", 0, 1, QuoteMode::Word, &|_| None);
            return Some((
                Redirect {
                    operator: RedirectOperator::Duplicate,
                    descriptor,
                    includes_stderr: false,
                    span: span(node),
                    target,
                },
                Vec::new(),
            ));
        }
        let more = words.split_off(1.min(words.len()));
        let target = words.pop()?;
        let both = operator.starts_with('&');
        let operator = match operator.as_str() {
            "<" => RedirectOperator::Read,
            ">" | ">|" | "&>" => RedirectOperator::Write,
            ">>" | "&>>" => RedirectOperator::Append,
            "<>" => RedirectOperator::ReadWrite,
            "<&" => RedirectOperator::Duplicate,
            ">&" => duplicate_operator(&target),
            _ => return None,
        };
        Some((
            Redirect {
                operator,
                descriptor,
                includes_stderr: both,
                span: target.span,
                target,
            },
            more,
        ))
    }

    /// Returns the descriptor before the sign of a redirection; `None` if it is not a number, such
    /// as a variable that receives the descriptor.
    fn descriptor(&self, redirect: Node<'_>) -> Option<Option<u32>> {
        let mut before = children(redirect).into_iter();
        match before.find(|part| part.kind() == "file_descriptor") {
            Some(part) => self.slice(part).parse().ok().map(Some),
            None => Some(None),
        }
    }

    fn command(&self, node: Node<'_>) -> Option<Command> {
        let mut redirects = Vec::new();
        let parts = children(node);
        let kind = match node.kind() {
            "command" => {
                let mut assigns = Vec::new();
                let mut words = Vec::new();
                for part in parts {
                    match part.kind() {
                        "variable_assignment" => assigns.push(self.word(part)),
                        "file_redirect" | "herestring_redirect" => {
                            let (redirect, more) = self.redirect(part)?;
                            redirects.push(redirect);
                            words.extend(more);
                        }
                        "subshell" => return None,
                        _ => words.push(self.word(part)),
                    }
                }
                CommandKind::Simple { assigns, words }
            }
            "declaration_command" | "unset_command" => CommandKind::Simple {
                assigns: Vec::new(),
                words: parts.into_iter().map(|p| self.word(p)).collect(),
            },
            "variable_assignment" => CommandKind::Simple {
                assigns: vec![self.word(node)],
                words: Vec::new(),
            },
            "variable_assignments" => CommandKind::Simple {
                assigns: parts.into_iter().map(|p| self.word(p)).collect(),
                words: Vec::new(),
            },
            "test_command" => CommandKind::Test(self.lex(
                node.start_byte(),
                node.end_byte(),
                QuoteMode::of_test(self.slice(node)),
            )),
            "subshell" => CommandKind::Subshell(self.statements(&parts)?),
            "compound_statement" if self.slice(node).starts_with("((") => CommandKind::Test(
                self.lex(node.start_byte(), node.end_byte(), QuoteMode::Expression),
            ),
            "compound_statement" | "do_group" => CommandKind::Group(self.statements(&parts)?),
            "if_statement" => CommandKind::If(self.if_scripts(&parts)?),
            "while_statement" => CommandKind::While {
                head: None,
                scripts: self.loop_scripts(&parts)?,
            },
            "c_style_for_statement" => {
                let open = parts.iter().find(|p| p.kind() == "((")?;
                let close = parts.iter().find(|p| p.kind() == "))")?;
                let head = self.text.get(open.end_byte()..close.start_byte())?;
                let head = head
                    .split(';')
                    .map(str::trim)
                    .filter(|p| !p.is_empty())
                    .collect::<Vec<_>>()
                    .join(";");
                let head = lex_word(&head, 0, head.len(), QuoteMode::Expression, &|_| None);
                let body = node.child_by_field_name("body")?;
                CommandKind::While {
                    head: Some(head),
                    scripts: vec![self.statements(&children(body))?],
                }
            }
            "for_statement" => {
                let name = self.slice(node.child_by_field_name("variable")?).to_owned();
                let listed = parts.iter().any(|part| part.kind() == "in");
                let mut cursor = node.walk();
                let words = node
                    .children_by_field_name("value", &mut cursor)
                    .map(|value| self.word(value))
                    .collect();
                let body = node.child_by_field_name("body")?;
                CommandKind::For {
                    name,
                    words: listed.then_some(words),
                    body: self.statements(&children(body))?,
                }
            }
            "case_statement" => {
                let subject = self.word(node.child_by_field_name("value")?);
                let mut arms = Vec::new();
                for item in parts.into_iter().filter(|part| part.kind() == "case_item") {
                    arms.push(self.case_arm(item)?);
                }
                CommandKind::Case { subject, arms }
            }
            "function_definition" => {
                let name = self.slice(node.child_by_field_name("name")?).to_owned();
                let mut body = self.command(node.child_by_field_name("body")?)?;
                let mut cursor = node.walk();
                for redirect in node.children_by_field_name("redirect", &mut cursor) {
                    body.redirects.push(self.redirect(redirect)?.0);
                }
                CommandKind::Function {
                    name,
                    body: Box::new(body),
                }
            }
            // A list, a pipeline or a redirection instead of a command.
            "list" | "pipeline" | "redirected_statement" | "negated_command" => {
                CommandKind::Group(ShellScript {
                    items: vec![self.and_or(node)?],
                })
            }
            _ => return None,
        };
        Some(Command {
            kind,
            redirects,
            span: span(node),
        })
    }

    fn case_arm(&self, item: Node<'_>) -> Option<(Vec<ShellWord>, ShellScript)> {
        let parts = children(item);
        let close = parts.iter().position(|part| part.kind() == ")")?;
        let patterns = parts[..close]
            .iter()
            .filter(|part| part.is_named())
            .map(|part| self.word(*part))
            .collect();
        Some((patterns, self.statements(&parts[close + 1..])?))
    }

    fn if_scripts(&self, parts: &[Node<'_>]) -> Option<Vec<ShellScript>> {
        let mut scripts = Vec::new();
        let mut current: Vec<Node<'_>> = Vec::new();
        let mut open = false;
        for part in parts {
            match part.kind() {
                "if" | "elif" | "else" => open = true,
                "then" => {
                    scripts.push(self.statements(&current)?);
                    current.clear();
                    open = true;
                }
                "elif_clause" | "else_clause" => {
                    if open {
                        scripts.push(self.statements(&current)?);
                        current.clear();
                        open = false;
                    }
                    scripts.extend(self.if_scripts(&children(*part))?);
                }
                "fi" => {}
                _ => current.push(*part),
            }
        }
        if open {
            scripts.push(self.statements(&current)?);
        }
        Some(scripts)
    }

    fn loop_scripts(&self, parts: &[Node<'_>]) -> Option<Vec<ShellScript>> {
        let body = parts.iter().find(|part| part.kind() == "do_group")?;
        let condition: Vec<_> = parts
            .iter()
            .copied()
            .filter(|part| part.kind() != "do_group")
            .collect();
        Some(vec![
            self.statements(&condition)?,
            self.statements(&children(*body))?,
        ])
    }
}
