//! Word expansion: a word of the script in, the words after expansion out, with unknown parts
//! marked.

use super::cells::{Cell, Cells, split, text};
use super::interpreter::Interpreter;
use crate::model::arg::Arg;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::io::OutputKind;
use crate::model::script::{ShellWord, WordPiece};

impl Interpreter<'_> {
    /// Expands a word to any number of words.
    pub(crate) fn expand(&mut self, word: &ShellWord) -> Vec<Arg> {
        let span = self.cursor.place.map(word.span);
        if let [WordPiece::Text { text, quoted }] = word.pieces.as_slice()
            && (*quoted || !text.contains(['{', '*', '?', '[']))
        {
            return vec![Arg::new(text.clone(), span)];
        }
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        split(&cells, span)
    }

    /// Expands an assignment in a declaration: first the whole of it, which is not split, then the
    /// words that an older shell would split off.
    pub(crate) fn expand_assignment(&mut self, word: &ShellWord) -> Vec<Arg> {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        let mut whole = self.unsplit(&cells, &cells.all, word);
        whole.glob = false;
        whole.is_array_literal = matches!(
            word.pieces.first(),
            Some(WordPiece::Text { text, quoted: false }) if text.contains("=(")
        );
        let words = split(&cells, whole.span);
        self.holds_secret_values(&whole, std::slice::from_ref(word));
        std::iter::once(whole)
            .chain(words.into_iter().skip(1))
            .collect()
    }

    /// Expands a word that is not split, in an assignment or a redirection.
    pub(crate) fn value(&mut self, word: &ShellWord) -> Arg {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        self.unsplit(&cells, &cells.all, word)
    }

    /// Expands both sides of the `=` of an assignment.
    pub(crate) fn split_at_equals(&mut self, word: &ShellWord) -> Option<(Arg, Arg)> {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        let cells = cells.sure();
        let sign = |cell: &Cell| cell.character == '=' && !cell.quoted && !cell.value;
        let at = cells.all.iter().position(sign)?;
        let name = self.unsplit(&cells, &cells.all[..at], word);
        self.holds_secret_values(&name, std::slice::from_ref(word));
        Some((name, self.unsplit(&cells, &cells.all[at + 1..], word)))
    }

    /// Expands a test, and the conditions between its `&&` and `||`.
    pub(crate) fn conditions(&mut self, word: &ShellWord) -> (Arg, Vec<Arg>) {
        let mut cells = Cells::default();
        self.cells(word, &mut cells);
        let sign = |cell: &Cell| matches!(cell.character, '&' | '|') && !cell.value;
        let conditions = cells.all.split(sign).filter(|one| !one.is_empty());
        let conditions = conditions.map(|one| self.unsplit(&cells, one, word));
        (self.unsplit(&cells, &cells.all, word), conditions.collect())
    }

    fn unsplit(&self, whole: &Cells, cells: &[Cell], word: &ShellWord) -> Arg {
        // `cells` is the end of the word, or its start does not matter.
        let start = whole.all.len() - cells.len();
        Arg {
            text: text(cells),
            span: self.cursor.place.map(word.span),
            glob: cells
                .iter()
                .any(|c| !c.quoted && !c.value && matches!(c.character, '*' | '?')),
            overridable: whole.maybe,
            may_split: false,
            inert: cells.iter().all(|cell| cell.is_inert()),
            has_guessed_number: cells.iter().any(|cell| cell.guess),
            is_array_literal: false,
            resolved_path: whole.place(&text(cells), start),
            path_of_prefix: whole.prefix(&text(cells)),
        }
    }

    /// Expands the pieces of a word.
    pub(crate) fn cells(&mut self, word: &ShellWord, out: &mut Cells) {
        let span = self.cursor.place.map(word.span);
        for piece in &word.pieces {
            match piece {
                WordPiece::Text { text, quoted } => {
                    out.quotes |= quoted;
                    out.push(text, *quoted, false);
                }
                WordPiece::Variable {
                    name,
                    operator: change,
                    quoted,
                } => {
                    out.quotes |= *quoted && name != "@";
                    self.variable(name, change, *quoted, out);
                }
                WordPiece::CommandSubstitution { text, quoted } => {
                    out.quotes |= quoted;
                    self.sink.parts.substitution();
                    let place = self.cursor.place.inner(text, word.span);
                    let before = self.shell.environment.clone();
                    let outer = std::mem::replace(&mut self.shell.output_kind, OutputKind::Numbers);
                    let output = self.capturing(true, |interpreter| {
                        interpreter.text(&text.text, place, &Input::Inherited)
                    });
                    let shown = std::mem::replace(&mut self.shell.output_kind, outer);
                    self.shell.exit_subshell(before);
                    // If the text changes `IFS`, the words of the output are unknown.
                    let splits = !quoted && self.shell.environment.variables.contains_key("IFS");
                    match output.filter(|_| !splits) {
                        Some(output) => out.push(output.trim_end_matches('\n'), *quoted, true),
                        None => {
                            out.many |= !quoted;
                            out.push_unknown(shown == OutputKind::Numbers);
                        }
                    }
                }
                WordPiece::ProcessSubstitution { text } => {
                    self.sink.parts.substitution();
                    let place = self.cursor.place.inner(text, word.span);
                    let before = self.shell.environment.clone();
                    let outer = self.shell.output_kind;
                    let output = self.text(&text.text, place, &Input::Inherited);
                    self.shell.output_kind = outer;
                    self.shell.exit_subshell(before);
                    let path = format!("/dev/fd/{}", 63 + self.shell.environment.files.len());
                    let contents = output.map_or(FileContents::Unknown, FileContents::Text);
                    self.shell.environment.files.insert(path.clone(), contents);
                    out.push(&path, true, true);
                }
                WordPiece::Arithmetic { inner } => {
                    self.sink.parts.substitution();
                    let mut number = Cells::default();
                    self.cells(inner, &mut number);
                    self.computes(&Arg {
                        inert: number.is_inert(),
                        ..Arg::new(number.text(), span)
                    });
                    out.push_number(true);
                }
            }
        }
    }
}
