//! Parses a rules file strictly. In: a text. Out: its rules, or every mistake with its line and
//! column.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Mistake, RulesError};
use super::paths::{Directory, PathPatterns, WordPattern};
use super::project::RuleFolders;
use super::rule::{
    Conditions, EVERY_PROGRAM, HostPattern, McpPattern, Redirections, Rule, RuleTest, TestInput,
    mcp_tool,
};
use super::verdict::{Origin, RuleEffect};
use crate::classify::Crud;
use crate::excerpt::Excerpt;
use crate::protocol::names_files;
use crate::protocol::own_tools::{self, OwnToolRules};
use crate::request::McpTool;
use crate::spelling::{listed, suggestion};

/// Maximum number of rules in a file.
const MAX_RULES: usize = 1000;
/// Maximum number of values in a list.
const MAX_VALUES: usize = 100;
/// Maximum number of characters of a value.
const MAX_VALUE_CHARS: usize = 2000;
/// Maximum number of reported mistakes.
const MAX_MISTAKES: usize = 50;

const KEYS: &[&str] = &[
    "effect",
    "program",
    "subcommand",
    "arguments",
    "except",
    "path",
    "within",
    "outside",
    "class",
    "tool",
    "host",
    "mcp",
    "agent",
    "redirections",
    "environment",
    "substitutions",
    "reason",
    "test",
];
const TEST_KEYS: &[&str] = &["command", "tool", "path", "host", "mcp", "agent", "expect"];

type Value<'i> = Spanned<DeValue<'i>>;

/// Parses the rules of a text.
pub(super) fn read(
    text: &str,
    name: &str,
    origin: Origin,
    project: Option<&Directory>,
    home: &Path,
) -> Result<Vec<Rule>, RulesError> {
    let mut reader = RuleFileReader {
        text,
        name,
        home,
        mistakes: Vec::new(),
        patterns: HashMap::new(),
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().unwrap_or(0..0);
        let what = format!("invalid TOML: {}", error.message());
        reader.add_mistake(at, what, "correct the syntax");
    }
    let mut rules = Vec::new();
    if reader.mistakes.is_empty() {
        for (key, value) in table.get_ref() {
            if key.get_ref() != "rule" {
                let what = format!("unknown key `{}` in a rules file", key.get_ref());
                let remedy =
                    suggestion(key.get_ref(), &["rule"], "begin each rule with `[[rule]]`");
                reader.add_mistake(key.span(), what, remedy);
                continue;
            }
            let Some(list) = value.get_ref().as_array() else {
                reader.add_mistake(value.span(), "`rule` is not a list", "write `[[rule]]`");
                continue;
            };
            if list.len() > MAX_RULES {
                let what = format!("too many rules ({})", list.len());
                reader.add_mistake(value.span(), what, format!("write at most {MAX_RULES}"));
                continue;
            }
            for value in list.iter() {
                let Some(table) = value.get_ref().as_table() else {
                    reader.add_mistake(value.span(), "a rule is not a table", "write `[[rule]]`");
                    continue;
                };
                let line = reader.line(value.span().start);
                let (effect, conditions, reason, tests) = reader.rule(value, table);
                rules.push(Rule {
                    effect,
                    place: format!("{name}:{line}"),
                    origin,
                    project: project.cloned(),
                    conditions,
                    reason,
                    tests,
                });
            }
        }
    }
    match reader.mistakes.is_empty() {
        true => Ok(rules),
        false => {
            reader
                .mistakes
                .sort_by_key(|one| (one.excerpt.line, one.excerpt.column));
            reader.mistakes.truncate(MAX_MISTAKES);
            Err(RulesError::Mistakes(reader.mistakes))
        }
    }
}

struct RuleFileReader<'a> {
    text: &'a str,
    name: &'a str,
    home: &'a Path,
    mistakes: Vec<Mistake>,
    /// Compiled patterns by their texts; rules of a file often have the same patterns.
    patterns: HashMap<String, WordPattern>,
}

impl RuleFileReader<'_> {
    /// Returns the line of a byte offset.
    fn line(&self, at: usize) -> usize {
        Excerpt::new(self.text, at..at).line
    }

    fn add_mistake(
        &mut self,
        at: Range<usize>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.mistakes.push(Mistake {
            file: self.name.to_owned(),
            excerpt: Excerpt::new(self.text, at),
            what: what.into(),
            remedy: remedy.into(),
        });
    }

    fn rule(
        &mut self,
        whole: &Value<'_>,
        table: &DeTable<'_>,
    ) -> (RuleEffect, Conditions, Option<String>, Vec<RuleTest>) {
        let mut effect = None;
        let mut conditions = Conditions::default();
        let mut reason = None;
        let mut tests = Vec::new();
        // Keys that are valid only in `allow` rules of commands.
        let mut accepted: Vec<(String, Range<usize>)> = Vec::new();
        let mut of_commands: Option<(String, Range<usize>)> = None;
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if matches!(
                name,
                "redirections" | "environment" | "substitutions" | "within" | "except"
            ) {
                accepted.push((name.to_owned(), key.span()));
            }
            if matches!(
                name,
                "program"
                    | "subcommand"
                    | "arguments"
                    | "except"
                    | "redirections"
                    | "environment"
                    | "substitutions"
            ) {
                of_commands = of_commands.or(Some((name.to_owned(), key.span())));
            }
            match name {
                "effect" => effect = self.effect(value, name),
                "program" => conditions.program = self.programs(value),
                "subcommand" => conditions.subcommand = self.subcommands(value),
                // An empty list accepts no word.
                "arguments" if allows(table) && is_empty_list(value) => {
                    conditions.arguments = Some(Vec::new());
                }
                "arguments" => conditions.arguments = self.globs(value, name),
                "except" => conditions.except = self.globs(value, name),
                "path" => conditions.path = self.paths(value, name),
                "within" => conditions.within = Some(self.folders(value, name)),
                "outside" => conditions.outside = Some(self.folders(value, name)),
                "class" => conditions.class = self.classes(value),
                "tool" => conditions.tool = self.texts(value, name),
                "host" => conditions.host = self.hosts(value),
                "mcp" => conditions.mcp = self.mcp_patterns(value),
                "agent" => conditions.agent = self.texts(value, name),
                "redirections" => conditions.redirections = self.redirections(value),
                "environment" => {
                    conditions.environment = self.globs(value, name).unwrap_or_default()
                }
                "substitutions" => match value.get_ref().as_bool() {
                    Some(set) => conditions.substitutions = set,
                    None => self.add_mistake(
                        value.span(),
                        "`substitutions` is not a boolean",
                        "write `true` or `false`",
                    ),
                },
                "reason" => reason = self.text(value, name),
                "test" => tests = self.tests(value),
                _ => {
                    let remedy = suggestion(name, KEYS, &format!("the keys are {}", listed(KEYS)));
                    self.add_mistake(
                        key.span(),
                        format!("unknown key `{name}` in a rule"),
                        remedy,
                    );
                }
            }
        }
        if effect.is_none() && !table.contains_key("effect") {
            let remedy = "add `effect = \"ask\"`, or \"allow\" or \"deny\"";
            self.add_mistake(whole.span(), "the rule has no `effect`", remedy);
        }
        if effect != Some(RuleEffect::Allow) && effect.is_some() {
            for (name, at) in accepted {
                let what = format!("`{name}` is valid only in an `allow` rule");
                let remedy = match name.as_str() {
                    "within" => "remove it; use `outside` for files outside of a directory",
                    "except" => "remove it; use `arguments` for the words to restrict",
                    _ => "remove it; use `path` for the files of redirections",
                };
                self.add_mistake(at, what, remedy);
            }
        }
        if effect == Some(RuleEffect::Allow) {
            if let Some(at) = position_of_key(table, "outside") {
                let remedy = "remove it; use `within` for files inside of a directory";
                let what = "`outside` is not valid in an `allow` rule";
                self.add_mistake(at, what, remedy);
            }
            let programs = conditions.program.iter().flatten();
            if programs.into_iter().any(|program| program == EVERY_PROGRAM)
                && let Some(at) = position_of_key(table, "program")
            {
                let what = "`*` is not valid in an `allow` rule";
                self.add_mistake(at, what, "list each program by name");
            }
            let mut patterns = conditions.mcp.iter().flatten();
            if let Some(pattern) = patterns.find(|pattern| pattern.server.contains('*'))
                && let Some(at) = position_of_key(table, "mcp")
            {
                let what = format!(
                    "the server `{}` is a pattern, which is not valid in an `allow` rule",
                    pattern.server
                );
                self.add_mistake(at, what, "list each server by name");
            }
        }
        if let Some(effect) = effect
            && let Some(at) = position_of_key(table, "tool")
        {
            for name in conditions.tool.iter().flatten() {
                self.check_tool(effect, name, at.clone());
            }
        }
        if conditions.tool.is_some()
            && let Some((name, at)) = of_commands
        {
            let what = format!("`{name}` applies to commands, `tool` to other tools");
            self.add_mistake(at, what, "split it into two rules");
        }
        let others = [
            "program",
            "subcommand",
            "arguments",
            "except",
            "path",
            "within",
            "outside",
            "tool",
            "class",
            "host",
        ];
        for (key, requests) in [
            ("host", "requests for network access"),
            ("mcp", "tools of MCP servers"),
        ] {
            let Some(at) = position_of_key(table, key) else {
                continue;
            };
            let mut others = others.iter().filter(|name| **name != key);
            if let Some(name) = others.find(|name| table.contains_key(**name)) {
                let what = format!("`{key}` applies to {requests}, `{name}` to other requests");
                self.add_mistake(at, what, "split it into two rules");
            }
        }
        if conditions.subcommand.is_some() && conditions.program.is_none() {
            let remedy = "add `program`";
            self.add_mistake(
                whole.span(),
                "the rule has a `subcommand` but no `program`",
                remedy,
            );
        }
        let limits = ["program", "path", "class", "tool", "host", "mcp"];
        if effect == Some(RuleEffect::Allow) && !limits.iter().any(|key| table.contains_key(*key)) {
            let remedy = "limit it by `program`, `path`, `class`, `tool`, `host` or `mcp`";
            self.add_mistake(whole.span(), "the rule allows everything", remedy);
        }
        (
            effect.unwrap_or(RuleEffect::Deny),
            conditions,
            reason,
            tests,
        )
    }

    /// Reports a tool of an agent about which no rule with this effect can decide.
    fn check_tool(&mut self, effect: RuleEffect, name: &str, at: Range<usize>) {
        let problem = match (own_tools::rules_for(name), effect) {
            (OwnToolRules::None, _) => Some((
                format!("the guard leaves the tool `{name}` to the agent"),
                "remove it; the settings of the agent may deny it",
            )),
            (OwnToolRules::Restrict, RuleEffect::Allow) => Some((
                format!("no rule can allow the tool `{name}`"),
                "remove it; the guard judges the addresses in its input",
            )),
            _ => None,
        };
        if let Some((what, remedy)) = problem {
            self.add_mistake(at, what, remedy);
        }
    }

    fn effect(&mut self, value: &Value<'_>, key: &str) -> Option<RuleEffect> {
        match value.get_ref().as_str() {
            Some("allow") => Some(RuleEffect::Allow),
            Some("ask") => Some(RuleEffect::Ask),
            Some("deny") => Some(RuleEffect::Deny),
            other => {
                let what = format!(
                    "`{key}` is {}",
                    other.map_or("not a string".into(), |o| format!("`{o}`"))
                );
                self.add_mistake(value.span(), what, "write \"allow\", \"ask\" or \"deny\"");
                None
            }
        }
    }

    fn text(&mut self, value: &Value<'_>, key: &str) -> Option<String> {
        let Some(text) = value.get_ref().as_str() else {
            self.add_mistake(
                value.span(),
                format!("`{key}` is not a string"),
                "put it in quotes",
            );
            return None;
        };
        if text.trim().is_empty() {
            self.add_mistake(
                value.span(),
                format!("`{key}` is empty"),
                "set it or remove the key",
            );
            return None;
        }
        if text.chars().count() > MAX_VALUE_CHARS {
            let remedy = format!("write at most {MAX_VALUE_CHARS} characters");
            self.add_mistake(value.span(), format!("`{key}` is too long"), remedy);
            return None;
        }
        let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
        if text.contains(odd) {
            let remedy = "remove them";
            self.add_mistake(
                value.span(),
                format!("`{key}` contains control characters"),
                remedy,
            );
            return None;
        }
        Some(text.to_owned())
    }

    /// Returns the text or the list of texts of a key, each with its place.
    fn spanned_texts(&mut self, value: &Value<'_>, key: &str) -> Vec<(String, Range<usize>)> {
        let mut out = Vec::new();
        let Some(list) = value.get_ref().as_array() else {
            let text = self.text(value, key);
            return text.map(|text| (text, value.span())).into_iter().collect();
        };
        if list.is_empty() {
            let remedy = "add a value or remove the key";
            self.add_mistake(value.span(), format!("`{key}` is an empty list"), remedy);
        }
        if list.len() > MAX_VALUES {
            let remedy = format!("write at most {MAX_VALUES}");
            self.add_mistake(
                value.span(),
                format!("`{key}` has {} values", list.len()),
                remedy,
            );
            return out;
        }
        for one in list.iter() {
            if let Some(text) = self.text(one, key) {
                out.push((text, one.span()));
            }
        }
        out
    }

    fn texts(&mut self, value: &Value<'_>, key: &str) -> Option<Vec<String>> {
        Some(
            self.spanned_texts(value, key)
                .into_iter()
                .map(|(text, _)| text)
                .collect(),
        )
    }

    fn programs(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        let mut out = Vec::new();
        for (text, at) in self.spanned_texts(value, "program") {
            if text.contains(char::is_whitespace) {
                let what = format!("`{text}` is not a program name");
                self.add_mistake(
                    at,
                    what,
                    "move the other words to `subcommand` or `arguments`",
                );
                continue;
            }
            let found = match text.contains('/') {
                true => alternatives(&text),
                false => vec![text.clone()],
            };
            let is_pattern = |text: &String| text.contains(['*', '?', '[', '{', '}']);
            if text != EVERY_PROGRAM && found.iter().any(is_pattern) {
                let what = format!("`{text}` is a pattern");
                self.add_mistake(at, what, "list each program by name");
                continue;
            }
            out.extend(found);
            if out.len() > MAX_VALUES {
                let what = format!("`program` has {} values", out.len());
                let remedy =
                    format!("write at most {MAX_VALUES}, with every alternative of `{{…}}`");
                self.add_mistake(at, what, remedy);
                return None;
            }
        }
        Some(out)
    }

    fn hosts(&mut self, value: &Value<'_>) -> Option<Vec<HostPattern>> {
        let mut out = Vec::new();
        for (text, at) in self.spanned_texts(value, "host") {
            match HostPattern::new(&text) {
                Ok(host) => out.push(host),
                Err(why) => self.add_mistake(
                    at,
                    format!("`{text}` {why}"),
                    "write a name such as `api.example.com`, or `*.example.com` for all of its \
                     subdomains",
                ),
            }
        }
        Some(out)
    }

    fn mcp_patterns(&mut self, value: &Value<'_>) -> Option<Vec<McpPattern>> {
        let mut out = Vec::new();
        for (text, at) in self.spanned_texts(value, "mcp") {
            match McpPattern::new(&text) {
                Ok(pattern) => out.push(pattern),
                Err((what, remedy)) => self.add_mistake(at, what, remedy),
            }
        }
        Some(out)
    }

    /// Returns the tool of an MCP server in a test.
    fn mcp_tool(&mut self, value: &Value<'_>) -> Option<McpTool> {
        let text = self.text(value, "mcp")?;
        let Some((server, tool)) = mcp_tool(&text).filter(|_| !text.contains('*')) else {
            let what = format!("`{text}` is not a tool of an MCP server");
            let remedy = "write one server and one tool, such as `github/create_issue`";
            self.add_mistake(value.span(), what, remedy);
            return None;
        };
        Some(McpTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
        })
    }

    fn subcommands(&mut self, value: &Value<'_>) -> Option<Vec<Vec<String>>> {
        let mut out = Vec::new();
        for (text, at) in self.spanned_texts(value, "subcommand") {
            // `-m MODULE` of an interpreter names the program.
            let words = text.strip_prefix("-m ").unwrap_or(&text).split_whitespace();
            if words.clone().next().is_none() || words.into_iter().any(|word| word.starts_with('-'))
            {
                let what = format!("`{text}` contains an option");
                self.add_mistake(at, what, "move options to `arguments`");
                continue;
            }
            out.push(text.split_whitespace().map(str::to_owned).collect());
        }
        Some(out)
    }

    fn globs(&mut self, value: &Value<'_>, key: &str) -> Option<Vec<WordPattern>> {
        let mut out = Vec::new();
        for (text, at) in self.spanned_texts(value, key) {
            if let Some(pattern) = self.patterns.get(&text) {
                out.push(pattern.clone());
                continue;
            }
            match WordPattern::new(&text) {
                Ok(pattern) => {
                    out.push(pattern.clone());
                    self.patterns.insert(text, pattern);
                }
                Err((what, remedy)) => self.add_mistake(at, what, remedy),
            }
        }
        Some(out)
    }

    fn paths(&mut self, value: &Value<'_>, key: &str) -> Option<PathPatterns> {
        let mut paths = PathPatterns::default();
        for (text, at) in self.spanned_texts(value, key) {
            if let Err((what, remedy)) = paths.add(&text, self.home) {
                self.add_mistake(at, what, remedy);
            }
        }
        Some(paths)
    }

    fn folders(&mut self, value: &Value<'_>, key: &str) -> RuleFolders {
        let mut folders = RuleFolders::default();
        for (text, at) in self.spanned_texts(value, key) {
            if let Err((what, remedy)) = folders.add(&text, self.home) {
                self.add_mistake(at, what, remedy);
            }
        }
        folders
    }

    fn redirections(&mut self, value: &Value<'_>) -> Redirections {
        let mut out = Redirections::default();
        for (text, at) in self.spanned_texts(value, "redirections") {
            match text.as_str() {
                "<<" => out.documents = true,
                "|" => out.pipes = true,
                _ => {
                    if let Err((what, remedy)) = out.paths.add(&text, self.home) {
                        self.add_mistake(at, what, remedy);
                    }
                }
            }
        }
        out
    }

    fn classes(&mut self, value: &Value<'_>) -> Option<Vec<Crud>> {
        let mut out = Vec::new();
        for (text, at) in self.spanned_texts(value, "class") {
            match text.as_str() {
                "READ" => out.push(Crud::Read),
                "CREATE" => out.push(Crud::Create),
                "UPDATE" => out.push(Crud::Update),
                "DELETE" => out.push(Crud::Delete),
                _ => {
                    let remedy = "write \"READ\", \"CREATE\", \"UPDATE\" or \"DELETE\"";
                    self.add_mistake(at, format!("`{text}` is not a class"), remedy);
                }
            }
        }
        Some(out)
    }

    fn tests(&mut self, value: &Value<'_>) -> Vec<RuleTest> {
        let Some(list) = value.get_ref().as_array() else {
            self.add_mistake(
                value.span(),
                "`test` is not a list",
                "write `[[rule.test]]`",
            );
            return Vec::new();
        };
        let mut tests = Vec::new();
        for one in list.iter() {
            let Some(table) = one.get_ref().as_table() else {
                self.add_mistake(one.span(), "a test is not a table", "write `[[rule.test]]`");
                continue;
            };
            tests.extend(self.test(one, table));
        }
        tests
    }

    fn test(&mut self, whole: &Value<'_>, table: &DeTable<'_>) -> Option<RuleTest> {
        let (mut command, mut tool, mut path, mut host) = (None, None, None, None);
        let (mut mcp, mut agent, mut expect) = (None, None, None);
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            match name {
                "command" => command = self.text(value, name),
                "tool" => tool = self.text(value, name),
                "path" => path = self.text(value, name),
                "host" => host = self.text(value, name),
                "mcp" => mcp = self.mcp_tool(value),
                "agent" => agent = self.text(value, name),
                "expect" => expect = self.effect(value, name),
                _ => {
                    let keys = format!("the keys are {}", listed(TEST_KEYS));
                    let remedy = suggestion(name, TEST_KEYS, &keys);
                    self.add_mistake(
                        key.span(),
                        format!("unknown key `{name}` in a test"),
                        remedy,
                    );
                }
            }
        }
        // The unknown key may be the missing one.
        let is_misspelt = |names: &[&str]| {
            let mut keys = table.keys().map(|key| key.get_ref().as_ref());
            keys.any(|key| !TEST_KEYS.contains(&key) && !suggestion(key, names, "").is_empty())
        };
        if !table.contains_key("expect") && !is_misspelt(&["expect"]) {
            let remedy = "add `expect = \"ask\"`, or \"allow\" or \"deny\"";
            self.add_mistake(whole.span(), "the test has no `expect`", remedy);
        }
        let has = |name: &str| table.contains_key(name);
        let inputs = ["command", "tool", "host", "mcp"];
        let mut given = inputs.into_iter().filter(|name| has(name));
        let (first, second) = (given.next(), given.next());
        let mistake = match (first, second) {
            _ if is_misspelt(&["command", "tool", "path", "host", "mcp"]) => None,
            (Some(first), Some(second)) => Some((
                position_of_key(table, second),
                format!("the test has a `{first}` and a `{second}`"),
                "split it into two tests",
            )),
            (Some("tool"), None) if !has("path") && tool.as_deref().is_none_or(names_files) => {
                Some((
                    None,
                    "the test has a `tool` but no `path`".to_owned(),
                    "add the `path` of a file",
                ))
            }
            (Some(first @ ("command" | "host" | "mcp")), None) if has("path") => Some((
                position_of_key(table, "path"),
                format!("the test has a `{first}` and a `path`"),
                "remove the `path`, which belongs to a `tool`",
            )),
            (None, _) if has("path") => Some((
                None,
                "the test has a `path` but no `tool`".to_owned(),
                "add the `tool` that accesses the file",
            )),
            (None, _) => Some((
                None,
                "the test has no command, tool, host or MCP tool".to_owned(),
                "add a `command`, a `tool` with a `path`, a `host`, or `mcp`",
            )),
            _ => None,
        };
        if let Some((at, what, remedy)) = mistake {
            self.add_mistake(at.unwrap_or_else(|| whole.span()), what, remedy);
            return None;
        }
        let what = match (command, tool, path, host, mcp) {
            (Some(command), ..) => TestInput::Command(command),
            (_, Some(tool), Some(path), ..) => TestInput::File { tool, path },
            (_, Some(tool), None, ..) => TestInput::Tool(tool),
            (.., Some(host), _) => TestInput::Host(host),
            (.., Some(tool)) => TestInput::Mcp(tool),
            // The mistake of the value is reported.
            _ => return None,
        };
        let line = self.line(whole.span().start);
        Some(RuleTest {
            line,
            what,
            agent,
            expect: expect?,
        })
    }
}

fn allows(rule: &DeTable<'_>) -> bool {
    let effect = rule.get("effect");
    effect.is_some_and(|effect| effect.get_ref().as_str() == Some("allow"))
}

fn is_empty_list(value: &Value<'_>) -> bool {
    value
        .get_ref()
        .as_array()
        .is_some_and(|list| list.is_empty())
}

/// Returns the texts of a text with `{a,b}`, each with one of the alternatives; the text itself if it
/// has none. More than [`MAX_VALUES`] texts are cut off after the first one too many.
fn alternatives(text: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut rest = text;
    while let Some((before, (inside, after))) = rest
        .split_once('{')
        .and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        let all = texts.iter().flat_map(|text| {
            let choices = inside.split(',');
            choices.map(move |choice| format!("{text}{before}{choice}"))
        });
        texts = all.take(MAX_VALUES + 1).collect();
        rest = after;
    }
    texts.iter().map(|text| format!("{text}{rest}")).collect()
}

/// Returns the place of a key in a table.
fn position_of_key(table: &DeTable<'_>, name: &str) -> Option<Range<usize>> {
    let key = table.iter().find(|(key, _)| key.get_ref() == name);
    key.map(|(key, _)| key.span())
}
