//! Word expansion: a word of the script in, the words after expansion out, with unknown parts
//! marked.

use super::expanded_word::{ExpandedChar, ExpandedWord, split_words, text_of};
use super::interpreter::Interpreter;
use crate::model::arg::Arg;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::io::OutputKind;
use crate::model::script::{ShellWord, WordPiece};

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
        split_words(&expanded, span)
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
        let words = split_words(&expanded, whole.span);
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

    fn unsplit_arg(&self, whole: &ExpandedWord, chars: &[ExpandedChar], word: &ShellWord) -> Arg {
        // `chars` is the end of the word, or its start does not matter.
        let start = whole.chars.len() - chars.len();
        Arg {
            text: text_of(chars),
            span: self.cursor.span_map.map(word.span),
            glob: chars
                .iter()
                .any(|c| !c.quoted && !c.from_expansion && matches!(c.character, '*' | '?')),
            overridable: whole.overridable,
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
                } => {
                    out.has_quotes |= *quoted && name != "@";
                    self.expand_parameter(name, operator, *quoted, out);
                }
                WordPiece::CommandSubstitution { text, quoted } => {
                    out.has_quotes |= quoted;
                    self.sink.recorder.record_substitution();
                    let place = self.cursor.span_map.of_substitution(text, word.span);
                    let before = self.shell.environment.clone();
                    let outer_kind =
                        std::mem::replace(&mut self.shell.output_kind, OutputKind::Numbers);
                    let output = self.with_captured_stdout(true, |interpreter| {
                        interpreter.run_text(&text.text, place, &Input::Inherited)
                    });
                    let kind = std::mem::replace(&mut self.shell.output_kind, outer_kind);
                    self.shell.exit_subshell(before);
                    // If the text changes `IFS`, the words of the output are unknown.
                    let splits = !quoted && self.shell.environment.variables.contains_key("IFS");
                    match output.filter(|_| !splits) {
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
                    let output = self.run_text(&text.text, place, &Input::Inherited);
                    self.shell.output_kind = outer_kind;
                    self.shell.exit_subshell(before);
                    let path = format!("/dev/fd/{}", 63 + self.shell.environment.files.len());
                    let contents = output.map_or(FileContents::Unknown, FileContents::Text);
                    self.shell.environment.files.insert(path.clone(), contents);
                    out.push(&path, true, true);
                }
                WordPiece::Arithmetic { inner } => {
                    self.sink.recorder.record_substitution();
                    let mut number = ExpandedWord::default();
                    self.expand_pieces(inner, &mut number);
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
