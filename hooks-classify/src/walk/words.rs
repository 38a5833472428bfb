//! Word expansion: a word of the script in, the words after expansion out, with unknown parts
//! marked.

use super::braces::{BraceExpansion, BraceSyntax, OTHER_BRACES, UnknownBraces};
use super::expanded_word::{ExpandedChar, ExpandedWord, overridden_text, text_of};
use super::interpreter::Interpreter;
use crate::model::arg::Arg;
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::io::OutputKind;
use crate::model::script::{ShellWord, WordPiece};
use crate::model::shells::Shells;
use crate::model::span::Span;

impl Interpreter<'_> {
    /// Expands a word to any number of words.
    pub(crate) fn expand(&mut self, word: &ShellWord) -> Vec<Arg> {
        let span = self.cursor.span_map.map(word.span);
        if let [WordPiece::Text { text, quoted }] = word.pieces.as_slice()
            && (*quoted || !text.contains(['{', '*', '?', '[']))
        {
            return vec![Arg::new(text.clone(), span)];
        }
        let mut expanded = ExpandedWord::default();
        self.expand_pieces(word, &mut expanded);
        self.split_words(&expanded, span)
    }

    /// Expands an assignment in a declaration: first the whole of it, which is not split, then the
    /// words that an older shell would split off.
    pub(crate) fn expand_assignment(&mut self, word: &ShellWord) -> Vec<Arg> {
        let mut expanded = ExpandedWord::default();
        self.expand_pieces(word, &mut expanded);
        let mut whole = self.unsplit_arg(&expanded, &expanded.chars, word);
        whole.glob = false;
        whole.is_array_literal = matches!(
            word.pieces.first(),
            Some(WordPiece::Text { text, quoted: false }) if text.contains("=(")
        );
        let words = self.split_words(&expanded, whole.span);
        self.track_secret_variable(&whole, std::slice::from_ref(word));
        std::iter::once(whole)
            .chain(words.into_iter().skip(1))
            .collect()
    }

    /// Expands a word that is not split, in an assignment or a redirection.
    pub(crate) fn expand_unsplit(&mut self, word: &ShellWord) -> Arg {
        let mut expanded = ExpandedWord::default();
        self.expand_pieces(word, &mut expanded);
        self.unsplit_arg(&expanded, &expanded.chars, word)
    }

    /// Expands both sides of the `=` of an assignment.
    pub(crate) fn split_at_equals(&mut self, word: &ShellWord) -> Option<(Arg, Arg)> {
        let mut expanded = ExpandedWord::default();
        self.expand_pieces(word, &mut expanded);
        let expanded = expanded.without_guessed_numbers();
        let sign = |ch: &ExpandedChar| ch.character == '=' && !ch.quoted && !ch.from_expansion;
        let at = expanded.chars.iter().position(sign)?;
        let name = self.unsplit_arg(&expanded, &expanded.chars[..at], word);
        self.track_secret_variable(&name, std::slice::from_ref(word));
        Some((
            name,
            self.unsplit_arg(&expanded, &expanded.chars[at + 1..], word),
        ))
    }

    /// Expands a test, and the conditions between its `&&` and `||`.
    pub(crate) fn expand_conditions(&mut self, word: &ShellWord) -> (Arg, Vec<Arg>) {
        let mut expanded = ExpandedWord::default();
        self.expand_pieces(word, &mut expanded);
        let sign = |ch: &ExpandedChar| matches!(ch.character, '&' | '|') && !ch.from_expansion;
        let conditions = expanded.chars.split(sign).filter(|one| !one.is_empty());
        let conditions = conditions.map(|one| self.unsplit_arg(&expanded, one, word));
        (
            self.unsplit_arg(&expanded, &expanded.chars, word),
            conditions.collect(),
        )
    }

    /// Splits an expanded word into words, after brace expansion.
    fn split_words(&mut self, expanded: &ExpandedWord, span: Span) -> Vec<Arg> {
        let shells = self.cursor.shells;
        let syntax = match shells.intersects(self.cursor.braces.shells()) {
            true => self.cursor.braces,
            false => BraceSyntax::Bash,
        };
        let braces = syntax.expand(&expanded.chars);
        if syntax == BraceSyntax::Bash && !self.sink.braces_differ {
            let same = |other: BraceSyntax| match (&braces, other.expand(&expanded.chars)) {
                (Ok(one), Ok(two)) => {
                    fields(expanded, one, syntax) == fields(expanded, &two, other)
                }
                (one, two) => one.is_err() && two.is_err(),
            };
            let mut others = OTHER_BRACES.into_iter();
            self.sink.braces_differ =
                others.any(|other| shells.intersects(other.shells()) && !same(other));
        }
        let braces = braces.unwrap_or_else(|UnknownBraces| {
            let reason = "its braces expand to words that are not known in every shell";
            self.add_finding(Effect::Unknown, span, reason);
            BraceExpansion {
                words: vec![expanded.chars.clone()],
                has_more: true,
            }
        });
        let words = fields(expanded, &braces, syntax).into_iter().map(|field| {
            let resolved_path = expanded.resolved_path(&text_of(&field), 0);
            let path_of_prefix = expanded.path_of_only_prefix(&text_of(&field));
            let glob = field
                .iter()
                .any(|ch| !ch.quoted && matches!(ch.character, '*' | '?' | '['));
            Arg {
                text: text_of(&field),
                span,
                glob,
                overridden: overridden_text(&field),
                may_split: glob || expanded.may_split || braces.has_more,
                // The name of a file is text that anything may have written.
                inert: !glob && field.iter().all(|ch| ch.is_inert()),
                has_guessed_number: field.iter().any(|ch| ch.is_guessed),
                is_array_literal: false,
                resolved_path,
                path_of_prefix,
            }
        });
        words.collect()
    }

    fn unsplit_arg(&self, whole: &ExpandedWord, chars: &[ExpandedChar], word: &ShellWord) -> Arg {
        // `chars` is the end of the word, or its start does not matter.
        let start = whole.chars.len() - chars.len();
        Arg {
            text: text_of(chars),
            span: self.cursor.span_map.map(word.span),
            glob: chars
                .iter()
                .any(|c| !c.quoted && !c.from_expansion && matches!(c.character, '*' | '?')),
            overridden: overridden_text(chars),
            may_split: false,
            inert: chars.iter().all(|ch| ch.is_inert()),
            has_guessed_number: chars.iter().any(|ch| ch.is_guessed),
            is_array_literal: false,
            resolved_path: whole.resolved_path(&text_of(chars), start),
            path_of_prefix: whole.path_of_only_prefix(&text_of(chars)),
        }
    }

    /// Expands the pieces of a word.
    pub(crate) fn expand_pieces(&mut self, word: &ShellWord, out: &mut ExpandedWord) {
        let span = self.cursor.span_map.map(word.span);
        for piece in &word.pieces {
            match piece {
                WordPiece::Text { text, quoted } => {
                    out.has_quotes |= quoted;
                    out.push(text, *quoted, false);
                }
                WordPiece::Variable {
                    name,
                    operator,
                    quoted,
                    subscript,
                } => {
                    out.has_quotes |= *quoted && name != "@";
                    self.sink.recorder.record_expansion(name, span);
                    if let Some(subscript) = subscript {
                        let subscript = self.expand_unsplit(subscript);
                        self.evaluate_subscript(&subscript, false);
                    }
                    // In zsh, the value is an element or a character, and may be empty.
                    if subscript.is_some() && self.cursor.shells.intersects(Shells::ANY_ZSH) {
                        let mut whole = ExpandedWord::default();
                        self.expand_parameter(name, operator, *quoted, &mut whole);
                        self.shell.environment.options.note_all_ends(&whole.text());
                        out.may_split |= !quoted;
                        out.push_unknown(self.shell.is_inert(name));
                        continue;
                    }
                    self.expand_parameter(name, operator, *quoted, out);
                }
                WordPiece::CommandSubstitution { text, quoted } => {
                    out.has_quotes |= quoted;
                    self.sink.recorder.record_substitution();
                    let place = self.cursor.span_map.of_substitution(text, word.span);
                    let before = self.shell.environment.clone();
                    let outer_kind =
                        std::mem::replace(&mut self.shell.output_kind, OutputKind::Numbers);
                    let filters = std::mem::take(&mut self.shell.output_filters);
                    let output = self.with_captured_stdout(true, |interpreter| {
                        interpreter.run_text(&text.text, place, &Input::Inherited)
                    });
                    self.shell.output_filters = filters;
                    let kind = std::mem::replace(&mut self.shell.output_kind, outer_kind);
                    self.shell.exit_subshell(before);
                    // If the text changes `IFS`, the words of the output are unknown.
                    let splits = !quoted && self.shell.environment.variables.contains_key("IFS");
                    let braces = self
                        .cursor
                        .shells
                        .intersects(Shells::BRACES_AFTER_VARIABLES);
                    let is_changed = |text: &str| splits || !quoted && braces && text.contains('{');
                    if let Some(text) = output.as_deref().filter(|text| is_changed(text)) {
                        self.shell.environment.options.note_all_ends(text);
                    }
                    match output.filter(|text| !is_changed(text)) {
                        Some(output) => out.push(output.trim_end_matches('\n'), *quoted, true),
                        None => {
                            out.may_split |= !quoted;
                            out.push_unknown(kind == OutputKind::Numbers);
                        }
                    }
                }
                WordPiece::ProcessSubstitution { text } => {
                    self.sink.recorder.record_substitution();
                    let place = self.cursor.span_map.of_substitution(text, word.span);
                    let before = self.shell.environment.clone();
                    let outer_kind = self.shell.output_kind;
                    let filters = std::mem::take(&mut self.shell.output_filters);
                    let output = self.run_text(&text.text, place, &Input::Inherited);
                    self.shell.output_filters = filters;
                    self.shell.output_kind = outer_kind;
                    self.shell.exit_subshell(before);
                    let path = format!("/dev/fd/{}", 63 + self.shell.environment.files.len());
                    let contents = output.map_or(FileContents::Unknown, FileContents::Text);
                    self.shell.environment.files.insert(path.clone(), contents);
                    out.push(&path, true, true);
                }
                WordPiece::Arithmetic { inner, bracketed } => {
                    self.sink.recorder.record_substitution();
                    let mut number = ExpandedWord::default();
                    self.expand_pieces(inner, &mut number);
                    let is_text = *bracketed
                        && self.cursor.shells.intersects(Shells::WITHOUT_BRACKETS)
                        && number.text().contains(['<', '>', '|', '&', ';', '(', '\n']);
                    if is_text {
                        let reason = "some shells do not compute `$[…]`, and read a command";
                        self.add_finding(Effect::Unknown, span, reason);
                    }
                    self.evaluate_expression(&Arg {
                        inert: number.is_inert(),
                        ..Arg::new(number.text(), span)
                    });
                    out.push_unknown_number(true);
                }
            }
        }
    }
}

/// Splits the words of a brace expansion at blanks from expansions.
fn fields(
    expanded: &ExpandedWord,
    braces: &BraceExpansion,
    syntax: BraceSyntax,
) -> Vec<Vec<ExpandedChar>> {
    let is_list = braces.words.len() > 1 && syntax.keeps_empty_words();
    let words = braces.words.iter();
    words
        .flat_map(|word| split_fields(word, expanded.has_quotes || is_list))
        .collect()
}

fn split_fields(chars: &[ExpandedChar], quotes: bool) -> Vec<Vec<ExpandedChar>> {
    let mut out = Vec::new();
    let mut current = Vec::new();
    let mut split = false;
    for ch in chars {
        if ch.from_expansion && !ch.quoted && ch.character.is_ascii_whitespace() {
            split = true;
            if !current.is_empty() {
                out.push(std::mem::take(&mut current));
            }
        } else {
            current.push(*ch);
        }
    }
    if !current.is_empty() || (quotes && !split) || (quotes && out.is_empty()) {
        out.push(current);
    }
    out
}
