//! Evaluation of text by scripts: a script in, the parts of it that run although they are strings out,
//! judged by its words.

use std::ops::Range;

use crate::model::language::Language;
use crate::model::lazy_regex::LazyRegex;

/// Code in a script.
#[derive(Debug, Default)]
pub(crate) struct ScriptCode {
    /// Parts of the text that run.
    pub(crate) ranges: Vec<Range<usize>>,
    /// `true` if the script runs text that it does not show: `eval`, `system` with a variable.
    pub(crate) evaluates: bool,
}

/// Returns the code of a script.
pub(crate) fn code_of_script(language: Language, text: &str) -> ScriptCode {
    let mut code = ScriptCode::default();
    for pattern in patterns(language) {
        for found in pattern.get().find_iter(text) {
            match literal_argument(text, found.range()) {
                Some(argument) => code.ranges.push(argument),
                None => code.evaluates = true,
            }
        }
    }
    if !(language.is_query() || language == Language::Cmd) {
        code.ranges.extend(outside_strings(text));
        code.ranges.extend(typed_commands(text));
    }
    if code.evaluates {
        code.ranges = std::iter::once(0..text.len()).collect();
    }
    code
}

/// Returns the texts that a script types at a prompt, if they are more likely commands than
/// passwords.
fn typed_commands(text: &str) -> Vec<Range<usize>> {
    static TYPED: LazyRegex = LazyRegex::new(|| {
        r#"\b(?:send(?:_user|line)?\b|set\s+\w+\s)\s*\(?\s*(?:--?\w*\s+)*b?\\?["'{]([^\n"'}]*)|\.write\(\s*b?\\?["']([^\n"']*)"#.to_owned()
    });
    let found = TYPED.get().captures_iter(text);
    let typed = found.filter_map(|found| found.get(1).or(found.get(2)));
    let is_command = |typed: &regex::Match<'_>| {
        let typed = typed
            .as_str()
            .trim_end_matches("\\n")
            .trim_end_matches("\\r");
        typed.trim().contains([' ', '\t', ';', '|', '&', '/'])
    };
    typed
        .filter(is_command)
        .map(|typed| typed.range())
        .collect()
}

/// Returns the patterns of calls that run a text.
fn patterns(language: Language) -> Vec<&'static LazyRegex> {
    static ANY: LazyRegex = LazyRegex::new(|| {
        r#"(?i)(?:^|[^\w.])(?:eval|exec|compile|execfile|system|popen|syscall|qx|iex|create_function|call_user_func\w*|passthru|shell_exec|proc_open|pcntl_exec|loadstring|loadfile|dofile|spawn\w*|fork)\s*[\s({"'`$\[/!|]|\.(?:eval|system|popen\w*|exec[lv]\w*|spawn\w*|instance_eval|class_eval|module_eval|instance_exec|runin\w*context|execute_script|call)\b|(?-i:\bFunction\s*\()|subprocess|child_process|\bpty\b|runpy|pickle|marshal|importlib|builtins|__(?:import|class|subclasses|globals|dict|getattribute)\w*__|\b(?:globals|locals|vars)\(|invoke-|scriptblock|os\.exec|io\.popen|open3|`|%x[\W_]|\|\s*getline|print[^;\n]*\||require\(\s*[^'"\s]|import\(\s*[^'"\s]|\bvm\b|getattr\(\s*(?:os|sys)|\bconstructor\b|\]\s*\("#.to_owned()
    });
    static PERL: LazyRegex = LazyRegex::new(|| {
        r#"\bopen\s*\(?[^;]*\||/e[egimsx]*\b|\bdo\s+[$"'{]|\brequire\s+\$"#.to_owned()
    });
    static RUBY: LazyRegex = LazyRegex::new(|| {
        r"\b(?:public_)?send\b|__send__|\bmethod\(|\bopen\s*\(?\s*[^)]*\||\bload\b|Kernel"
            .to_owned()
    });
    static PHP: LazyRegex = LazyRegex::new(|| {
        r"(?i)\bassert\s*\(|\$\w+\s*\(|preg_replace\s*\(\s*.[^,]*/e|\binclude\b|\brequire\b"
            .to_owned()
    });
    static LUA: LazyRegex = LazyRegex::new(|| r"\bload\s*[(\x22']|os\.execute".to_owned());
    static STATEMENTS: LazyRegex = LazyRegex::new(|| {
        r"(?i)\\!|\bprogram\s+['\x22$]|xp_cmdshell|\bexec(?:ute)?\s*(?:\(|immediate|format|'|@)|sp_executesql|\bdo\s+\$|\bprepare\b|\bsystem\s|\.(?:shell|system)\b|load_extension|\beval(?:sha)?\b".to_owned()
    });
    static SED: LazyRegex =
        LazyRegex::new(|| r"[/|,#!:@]\w*e\w*\s*(?:$|[;}\n])|(?:^|[;{\n])\s*\d*e\b".to_owned());
    static WINDOWS: LazyRegex = LazyRegex::new(|| r"& |&\$|%".to_owned());
    static TCL: LazyRegex = LazyRegex::new(|| {
        r"\b(?:eval|exec|system|uplevel|source|subst)\b|\bspawn\s[^\n;]*\$".to_owned()
    });
    match language {
        Language::Jq => vec![],
        Language::Tcl => vec![&TCL],
        Language::Sed => vec![&SED],
        Language::Sql | Language::Redis => vec![&STATEMENTS],
        Language::PowerShell | Language::Cmd => vec![&ANY, &WINDOWS],
        Language::Perl => vec![&ANY, &PERL],
        Language::Ruby => vec![&ANY, &RUBY],
        Language::Php => vec![&ANY, &PHP],
        Language::Lua => vec![&ANY, &LUA],
        Language::Awk | Language::Python | Language::Node | Language::Mongo => vec![&ANY],
        _ => vec![&ANY, &PERL, &RUBY, &PHP, &LUA, &TCL],
    }
}

/// Returns the string that a call has as its first argument. Such code is visible.
fn literal_argument(text: &str, call: Range<usize>) -> Option<Range<usize>> {
    static LITERAL: LazyRegex = LazyRegex::new(|| {
        r#"^\(\s*[bru]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*[,)]"#.to_owned()
    });
    let open = text[call.start..].find('(').map(|at| call.start + at);
    let open = open.filter(|open| *open <= call.end)?;
    let argument = LITERAL.get().find(&text[open..])?;
    Some(open..open + argument.end())
}

/// Returns the parts of a script outside of strings and after unclosed quotes.
fn outside_strings(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut open, mut start): (Option<char>, usize) = (None, 0);
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (open, c) {
            (Some(_), '\\') => drop(characters.next()),
            (Some(quote), c) if c == quote => (open, start) = (None, at + 1),
            (None, '"' | '\'') => {
                ranges.push(start..at);
                open = Some(c);
            }
            // An unclosed quote on a line is not a quote, or it is part of a multi-line string.
            (Some(_), '\n') if !text[..at].contains("\"\"\"") && !text[..at].contains("'''") => {
                (open, start) = (None, at);
            }
            _ => {}
        }
    }
    if open.is_none() {
        ranges.push(start..text.len());
    }
    ranges.retain(|range| !range.is_empty());
    ranges
}
