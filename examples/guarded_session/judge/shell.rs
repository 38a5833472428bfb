//! Reads a command line as a shell would, as far as that can be known before it
//! runs: the programs it names, their words, redirections and assignments.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point};

use super::word::{Word, names_home, unquote};

/// How deep constructs may nest.
const DEPTH_LIMIT: usize = 100;

/// How long the parser may think, in hundreds of its steps; a command of a thousand
/// words takes as many. For text that is broken at its very end it takes time and
/// memory that grow with the square of the steps before.
const STEP_LIMIT: usize = 64;

/// The longest text that is read, in bytes: for each step the parser may look ahead
/// to the end of it.
const LENGTH_LIMIT: usize = 4 << 10;

/// What a command line holds, in the order of its text.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
    /// Where output and input are redirected to and from.
    pub(crate) redirects: Vec<Word>,
    /// The variables that are set.
    pub(crate) assigned: Vec<String>,
    /// Whether it uses what only bash has.
    pub(crate) needs_bash: bool,
}

/// One program and what it is given.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) name: Word,
    pub(crate) arguments: Vec<Word>,
}

/// What cannot be known before the command runs, or was not understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Unclear {
    #[error("the shell's syntax is broken at byte {0}")]
    Syntax(usize),
    #[error("it is longer than {LENGTH_LIMIT} bytes; long texts are for the `write` tool")]
    Length,
    #[error("it is too tangled to be read")]
    Effort,
    #[error("it is nested too deeply to be read")]
    Depth,
    #[error("it defines a function, which can change what any word means")]
    Function,
    #[error("it uses a construct that this policy does not read ({0})")]
    Construct(String),
    #[error("the parser for shell text does not work: {0}")]
    Parser(#[from] tree_sitter::LanguageError),
}

impl Command {
    /// The program's name without its folder, if that is known.
    pub(crate) fn program(&self) -> Option<&str> {
        let name = self
            .name
            .text
            .as_deref()
            .filter(|_| !self.name.is_pattern)?;
        let in_system = [
            "/bin/",
            "/usr/bin/",
            "/sbin/",
            "/usr/sbin/",
            "/usr/local/bin/",
        ]
        .iter()
        .find_map(|folder| name.strip_prefix(folder));
        Some(in_system.unwrap_or(name))
    }

    /// What is given to the program literally, options among it.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.arguments
            .iter()
            .filter_map(|word| word.text.as_deref())
    }

    /// Whether one of its options is `long`, or holds the letter `short`.
    pub(crate) fn has_option(&self, short: char, long: &str) -> bool {
        self.texts()
            .take_while(|text| *text != "--")
            .any(|text| match text.strip_prefix("--") {
                Some(name) => !long.is_empty() && name.split('=').next() == Some(long),
                None => text
                    .strip_prefix('-')
                    .is_some_and(|letters| letters.contains(short)),
            })
    }

    /// The words that are not options.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &Word> {
        self.arguments.iter().filter(|word| {
            word.text
                .as_deref()
                .is_none_or(|text| !text.starts_with('-') || text == "-")
        })
    }
}

impl Script {
    /// Reads `text`.
    ///
    /// # Errors
    /// When something in it is not understood.
    pub(crate) fn parse(text: &str) -> Result<Self, Unclear> {
        if text.len() > LENGTH_LIMIT {
            return Err(Unclear::Length);
        }
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into())?;
        let (mut error, mut steps) = (None, 0_usize);
        // The parser would go to great lengths to make sense of broken text, which is
        // refused all the same.
        let mut watch = |state: &ParseState| {
            steps += 1;
            if state.has_error() {
                error = Some(Unclear::Syntax(state.current_byte_offset()));
            } else if steps > STEP_LIMIT {
                error = Some(Unclear::Effort);
            }
            if error.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let mut rest = |offset: usize, _: Point| text.as_bytes().get(offset..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut rest, None, Some(options));
        let Some(tree) = tree else {
            return Err(error.unwrap_or(Unclear::Effort));
        };
        let mut reader = Reader {
            text,
            script: Self::default(),
            depth: 0,
        };
        reader.visit(tree.root_node())?;
        Ok(reader.script)
    }

    /// Every word that may be a path: arguments and redirections.
    pub(crate) fn words(&self) -> impl Iterator<Item = &Word> {
        self.commands
            .iter()
            .flat_map(|command| &command.arguments)
            .chain(&self.redirects)
    }
}

struct Reader<'a> {
    text: &'a str,
    script: Script,
    depth: usize,
}

impl Reader<'_> {
    /// Reads `node`, whatever it is, and all that is in it.
    fn visit(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        if node.is_error() || node.is_missing() {
            return Err(Unclear::Syntax(node.start_byte()));
        }
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Unclear::Depth);
        }
        match node.kind() {
            "command" => self.command(node)?,
            "file_redirect" => self.redirect(node)?,
            "variable_assignment" => self.assignment(node)?,
            "function_definition" => return Err(Unclear::Function),
            "word" | "number" | "raw_string" | "string" | "concatenation" | "simple_expansion" => {
                self.word(node)?;
            }
            "test_command" => {
                self.script.needs_bash |= self.source(node).starts_with("[[");
                self.visit_children(node)?;
            }
            "process_substitution"
            | "herestring_redirect"
            | "array"
            | "ansi_c_string"
            | "c_style_for_statement"
            | "regex"
            | "extglob_pattern" => {
                self.script.needs_bash = true;
                self.visit_children(node)?;
            }
            kind if is_read_through(kind) => self.visit_children(node)?,
            kind => return Err(Unclear::Construct(kind.replace('_', " "))),
        }
        self.depth -= 1;
        Ok(())
    }

    fn visit_children(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        // Unnamed children too: what is missing or wrong may be a mere bracket.
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() || child.is_error() || child.is_missing() {
                self.visit(child)?;
            }
        }
        Ok(())
    }

    fn command(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let (mut name, mut arguments) = (None, Vec::new());
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "command_name" => name = Some(self.word(child)?),
                "file_redirect"
                | "variable_assignment"
                | "herestring_redirect"
                | "heredoc_redirect"
                | "comment" => self.visit(child)?,
                _ => arguments.push(self.word(child)?),
            }
        }
        if let Some(name) = name {
            self.script.commands.push(Command { name, arguments });
        }
        Ok(())
    }

    fn redirect(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut cursor = node.walk();
        for destination in node.children_by_field_name("destination", &mut cursor) {
            let word = self.word(destination)?;
            self.script.redirects.push(word);
        }
        Ok(())
    }

    fn assignment(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        if let Some(name) = node.child_by_field_name("name") {
            let name = self.source(name).to_owned();
            self.script.assigned.push(name);
        }
        match node.child_by_field_name("value") {
            Some(value) => self.visit(value),
            None => Ok(()),
        }
    }

    /// Reads a word, and the commands whose output it may hold.
    fn word(&mut self, node: Node<'_>) -> Result<Word, Unclear> {
        let source = &self.text[node.byte_range()];
        let mut word = Word {
            source: source.to_owned(),
            place: node.byte_range(),
            ..Word::default()
        };
        match node.kind() {
            "word" | "number" => word.read_bare(),
            "raw_string" => word.text = source.get(1..source.len() - 1).map(str::to_owned),
            "string" => {
                let is_literal = self.children_are(node, &["string_content"]);
                if is_literal {
                    word.text = source.get(1..source.len() - 1).map(unquote);
                } else {
                    word.names_home = names_home(source);
                    self.visit_children(node)?;
                }
            }
            "command_name" | "concatenation" => {
                let mut cursor = node.walk();
                let parts = node
                    .named_children(&mut cursor)
                    .map(|part| self.word(part))
                    .collect::<Result<Vec<_>, _>>()?;
                word.is_pattern = parts.iter().any(|part| part.is_pattern);
                word.names_home = parts.iter().any(|part| part.names_home);
                word.text = parts.into_iter().map(|part| part.text).collect();
            }
            "simple_expansion" | "expansion" => {
                word.names_home = names_home(source);
                self.visit_children(node)?;
            }
            // A substitution, whose commands are read; or what is not known.
            _ => self.visit(node)?,
        }
        Ok(word)
    }

    fn children_are(&self, node: Node<'_>, kinds: &[&str]) -> bool {
        let mut cursor = node.walk();
        node.named_children(&mut cursor)
            .all(|child| kinds.contains(&child.kind()))
    }

    fn source(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }
}

/// Constructs that mean nothing beyond what is in them.
fn is_read_through(kind: &str) -> bool {
    matches!(
        kind,
        "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "negated_command"
            | "redirected_statement"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "for_statement"
            | "do_group"
            | "case_statement"
            | "case_item"
            | "declaration_command"
            | "unset_command"
            | "variable_assignments"
            | "command_substitution"
            | "expansion"
            | "arithmetic_expansion"
            | "binary_expression"
            | "unary_expression"
            | "parenthesized_expression"
            | "postfix_expression"
            | "ternary_expression"
            | "subscript"
            | "test_operator"
            | "heredoc_redirect"
            | "heredoc_start"
            | "heredoc_body"
            | "heredoc_content"
            | "heredoc_end"
            | "string_content"
            | "variable_name"
            | "special_variable_name"
            | "file_descriptor"
            | "comment"
    )
}

#[cfg(test)]
mod tests {
    use super::{LENGTH_LIMIT, Script};

    fn commands(text: &str) -> Vec<String> {
        let script = Script::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        script
            .commands
            .iter()
            .map(|command| {
                let words = std::iter::once(&command.name).chain(&command.arguments);
                let words = words.map(|word| word.text.clone().unwrap_or("?".to_owned()));
                words.collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    #[test]
    fn quotes_and_backslashes_are_taken_off() {
        assert_eq!(
            commands(r#"r\m -"r"f '/tmp/a b' "c\"d""#),
            [r#"rm -rf /tmp/a b c"d"#]
        );
    }

    #[test]
    fn commands_are_found_wherever_they_hide() {
        for text in [
            "a; rm x",
            "a && rm x || b",
            "a | rm x",
            "(rm x)",
            "{ rm x; }",
            "! rm x",
            "rm x &",
            "if a; then rm x; fi",
            "if rm x; then a; fi",
            "while a; do rm x; done",
            "for f in a b; do rm x; done",
            "case $a in b) rm x;; esac",
            "echo $(rm x)",
            "echo `rm x`",
            "echo \"in $(rm x) text\"",
            "echo ${a:-$(rm x)}",
            "a=$(rm x)",
            "a=$(rm x) b",
            "export a=$(rm x)",
            "cat <(rm x)",
            "cat <<END\n$(rm x)\nEND",
            "cat <<< $(rm x)",
            "[ -n \"$(rm x)\" ]",
            "[[ -n $(rm x) ]]",
            "echo $((1 + $(rm x)))",
            "a > $(rm x)",
            "time rm x",
            "a=(1 $(rm x))",
        ] {
            let found = commands(text);
            assert!(
                found.iter().any(|command| command.ends_with("rm x")),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn what_only_running_would_tell_is_unknown() {
        for (text, expected) in [
            ("rm $x", "rm ?"),
            ("rm \"$x\"/y", "rm ?"),
            ("rm ~/x", "rm ?"),
            ("rm {a,b}", "rm ?"),
            ("$x y", "? y"),
            ("$'rm' y", "? y"),
        ] {
            assert_eq!(commands(text), [expected], "{text}");
        }
        assert!(Script::parse("cat \"$HOME/x\"").unwrap().commands[0].arguments[0].names_home);
        assert!(Script::parse("rm *").unwrap().commands[0].arguments[0].is_pattern);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in [
            "f() { rm x; }",
            ":(){ :|:& };:",
            "if",
            "a <",
            "echo 'open",
            "))",
            "a | | b",
        ] {
            assert!(Script::parse(text).is_err(), "{text}");
        }
        let deep = "(".repeat(200) + "a" + &")".repeat(200);
        assert!(Script::parse(&deep).is_err());
    }

    #[test]
    fn hostile_text_is_given_up_soon() {
        for part in ["a|", "a=(", "$(", "a;", "! [[", "(a)|", "a|&"] {
            // Without limits, some of these take minutes and all memory.
            let text = part.repeat(LENGTH_LIMIT / part.len());
            assert!(Script::parse(&text).is_err(), "{part}");
            assert!(Script::parse(&text.repeat(100)).is_err(), "{part}");
        }
        let long = format!(
            "cat > notes <<'END'\n{}END\n",
            "a line (of many)\n".repeat(200)
        );
        assert!(Script::parse(&long).is_ok());
    }

    #[test]
    fn redirections_assignments_and_bash_are_noticed() {
        let script = Script::parse("PATH=x a > out 2>&1 < in; [[ a ]]").unwrap();
        let redirects: Vec<_> = script
            .redirects
            .iter()
            .filter_map(|word| word.text.as_deref())
            .collect();
        assert_eq!(redirects, ["out", "1", "in"]);
        assert_eq!(script.assigned, ["PATH"]);
        assert!(script.needs_bash);
        assert!(!Script::parse("[ a ] && echo \"$b\"").unwrap().needs_bash);
    }
}
