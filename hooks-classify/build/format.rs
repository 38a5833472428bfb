//! Format of program files: TOML in, entries with all keys spelled out ([`RawProgram`]) out, or a mistake with
//! its line.
//!
//! A file states each fact once. The returned entries repeat it: the keys of `every_command` in each
//! command, the options of the groups that `use` names, the whole entry that `same_as` names.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue, ValueDeserializer};

use crate::raw::RawProgram;
use crate::read::{Source, TableError, line};

/// Keys that state the effect of a plain call, and the effect of each.
pub(crate) const EFFECTS: [(&str, &str); 6] = [
    ("reads", "read"),
    ("creates", "create"),
    ("updates", "update"),
    ("deletes", "delete"),
    ("runs", "code"),
    ("unclear", "unknown"),
];

/// Maximum length of a chain of `same_as`.
const MAX_COPIES: usize = 8;

/// Reads the programs of a file: one program with its keys at the top, or a list named `program`.
pub(crate) fn programs(source: &Source) -> Result<Vec<RawProgram>, TableError> {
    let parsed = DeTable::parse(&source.text).map_err(|error| of_toml(source, 0, &error))?;
    let mut table = Table::new(source, 0, parsed.into_inner());
    let Some(list) = table.take_value("program") else {
        let file = source.file.rsplit('/').next().unwrap_or_default();
        return Ok(vec![program(table, file.strip_suffix(".toml"))?]);
    };
    table.into_entry::<NoKeys>()?;
    let list = table_list(source, list)?;
    list.into_iter().map(|one| program(one, None)).collect()
}

/// An empty table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoKeys {}

fn error_at(source: &Source, at: usize, message: impl Into<String>) -> TableError {
    TableError {
        file: source.file.clone(),
        line: Some(line(&source.text, at)),
        message: message.into(),
    }
}

fn of_toml(source: &Source, at: usize, error: &toml::de::Error) -> TableError {
    let start = error.span().map_or(at, |span| span.start);
    error_at(source, start, error.message())
}

/// Table of the file, from which keys are taken one by one.
struct Table<'a> {
    source: &'a Source,
    /// Byte offset of the table.
    at: usize,
    /// In the order of the file.
    keys: Vec<(Spanned<DeString<'a>>, Spanned<DeValue<'a>>)>,
}

impl<'a> Table<'a> {
    fn new(source: &'a Source, at: usize, table: DeTable<'a>) -> Self {
        let mut keys: Vec<_> = table.into_iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        Self { source, at, keys }
    }

    fn of_value(source: &'a Source, value: Spanned<DeValue<'a>>) -> Result<Self, TableError> {
        let at = value.span().start;
        match value.into_inner() {
            DeValue::Table(table) => Ok(Self::new(source, at, table)),
            other => {
                let message = format!(
                    "expected a table, found a value of the type {}",
                    other.type_str()
                );
                Err(error_at(source, at, message))
            }
        }
    }

    fn error_at(&self, message: impl Into<String>) -> TableError {
        error_at(self.source, self.at, message)
    }

    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(name, _)| name.get_ref() == key)
    }

    fn take_value(&mut self, key: &str) -> Option<Spanned<DeValue<'a>>> {
        let at = self
            .keys
            .iter()
            .position(|(name, _)| name.get_ref() == key)?;
        Some(self.keys.remove(at).1)
    }

    fn take<T: Deserialize<'a>>(&mut self, key: &str) -> Result<Option<T>, TableError> {
        let read = |value: Spanned<DeValue<'a>>| {
            let at = value.span().start;
            T::deserialize(ValueDeserializer::from(value))
                .map_err(|error| of_toml(self.source, at, &error))
        };
        let at = self.keys.iter().position(|(name, _)| name.get_ref() == key);
        at.map(|at| read(self.keys.remove(at).1)).transpose()
    }

    /// Reads the keys that are left.
    fn into_entry<T: Deserialize<'a>>(self) -> Result<T, TableError> {
        let (source, at) = (self.source, self.at);
        let table: DeTable<'a> = self.keys.into_iter().collect();
        let value = Spanned::new(at..at, DeValue::Table(table));
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| of_toml(source, at, &error))
    }
}

fn table_list<'a>(
    source: &'a Source,
    list: Spanned<DeValue<'a>>,
) -> Result<Vec<Table<'a>>, TableError> {
    let at = list.span().start;
    let DeValue::Array(list) = list.into_inner() else {
        return Err(error_at(source, at, "`program` must be a list of tables"));
    };
    let list: DeArray<'a> = list;
    list.into_iter()
        .map(|one| Table::of_value(source, one))
        .collect()
}

/// The options that commands of a program share, by the name of their group.
struct Groups {
    options: BTreeMap<String, Vec<String>>,
    unused: RefCell<BTreeSet<String>>,
}

impl Groups {
    fn new(table: &mut Table<'_>) -> Result<Self, TableError> {
        let options: BTreeMap<String, Vec<String>> = table.take("groups")?.unwrap_or_default();
        let unused = RefCell::new(options.keys().cloned().collect());
        Ok(Self { options, unused })
    }

    fn get(&self, name: &str) -> Option<&[String]> {
        self.unused.borrow_mut().remove(name);
        self.options.get(name).map(Vec::as_slice)
    }
}

/// Keys that each command of a program inherits.
#[derive(Default)]
struct EveryCommand<'a> {
    options: Vec<String>,
    keys: Vec<(Spanned<DeString<'a>>, Spanned<DeValue<'a>>)>,
}

impl<'a> EveryCommand<'a> {
    fn take(table: &mut Table<'a>) -> Result<Self, TableError> {
        let Some(value) = table.take_value("every_command") else {
            return Ok(Self::default());
        };
        let mut every = Table::of_value(table.source, value)?;
        let options = every.take("options")?.unwrap_or_default();
        Ok(Self {
            options,
            keys: every.keys,
        })
    }
}

/// A command as the file states it.
struct Node {
    names: Vec<String>,
    /// Byte offset of the entry.
    at: usize,
    entry: NodeEntry,
    below: Vec<Node>,
}

enum NodeEntry {
    Entry(Box<RawProgram>),
    /// Path of the command whose entry is copied.
    SameAs(String),
}

fn program<'a>(mut table: Table<'a>, file_name: Option<&str>) -> Result<RawProgram, TableError> {
    let source = table.source;
    let start = table.error_at("");
    let mut names: Vec<String> = match (table.take("names")?, file_name) {
        (Some(names), _) => names,
        (None, Some(name)) => vec![name.to_owned()],
        (None, None) => return Err(table.error_at("a program in a list needs `names`")),
    };
    if let Some(name) = file_name.filter(|file| !names.iter().any(|name| name == file)) {
        return Err(table.error_at(format!(
            "the name of the file is missing; add `{name}` to `names`"
        )));
    }
    if table.take("any_case")? == Some(true) {
        let small: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        names.extend(
            small
                .into_iter()
                .filter(|name| !names.contains(name))
                .collect::<Vec<_>>(),
        );
    }
    let groups = Groups::new(&mut table)?;
    let every = EveryCommand::take(&mut table)?;
    let commands = table.take_value("commands");
    let mut raw = entry(table, names, &EveryCommand::default(), &groups)?;
    let mut tree = Vec::new();
    if let Some(commands) = commands {
        for (key, value) in Table::of_value(source, commands)?.keys {
            let at = key.span().start;
            add(
                &mut tree,
                key.get_ref(),
                at,
                Table::of_value(source, value)?,
                &every,
                &groups,
            )?;
        }
    }
    if let Some(group) = groups.unused.borrow().first() {
        let message = format!("no command uses the group `{group}`");
        return Err(TableError { message, ..start });
    }
    raw.command = spelled_out(source, &tree, &tree, 0)?;
    Ok(raw)
}

/// Adds the command of a key, `PATH NAME|NAME`, below the command that the path names.
fn add<'a>(
    tree: &mut Vec<Node>,
    key: &str,
    at: usize,
    mut table: Table<'a>,
    every: &EveryCommand<'a>,
    groups: &Groups,
) -> Result<(), TableError> {
    table.at = at;
    let (path, last) = key.rsplit_once(' ').unwrap_or(("", key));
    let mut place = tree;
    for word in path.split_whitespace() {
        let Some(node) = place
            .iter_mut()
            .find(|node| node.names.iter().any(|name| name == word))
        else {
            let message =
                format!("unknown command `{word}`; put its entry before those of its commands");
            return Err(table.error_at(message));
        };
        if let NodeEntry::SameAs(other) = &node.entry {
            let message = format!("`{word}` is a copy of `{other}`, so it cannot have commands");
            return Err(table.error_at(message));
        }
        place = &mut node.below;
    }
    let mut names: Vec<String> = last.split('|').map(str::to_owned).collect();
    if let Some(all) = table.take::<Vec<String>>("names")? {
        if names.len() > 1 || !all.contains(&names[0]) {
            return Err(table.error_at(format!(
                "`names` must contain all names of the command, including `{}`",
                names[0]
            )));
        }
        names = all;
    }
    let every = match table.take("every_command")? {
        None => every,
        Some(false) => &EveryCommand::default(),
        Some(true) => {
            return Err(table.error_at("a command can only set `every_command` to `false`"));
        }
    };
    let entry = match table.take("same_as")? {
        Some(other) => {
            table.into_entry::<NoKeys>()?;
            NodeEntry::SameAs(other)
        }
        None => NodeEntry::Entry(Box::new(entry(table, names.clone(), every, groups)?)),
    };
    place.push(Node {
        names,
        at,
        entry,
        below: Vec::new(),
    });
    Ok(())
}

/// Reads the keys of a program or command that are not about its commands.
fn entry<'a>(
    mut table: Table<'a>,
    names: Vec<String>,
    every: &EveryCommand<'a>,
    groups: &Groups,
) -> Result<RawProgram, TableError> {
    let (source, at) = (table.source, table.at);
    let mut stated = EFFECTS.iter().filter(|(key, _)| table.has(key)).copied();
    let (Some((key, effect)), None) = (stated.next(), stated.next()) else {
        let keys = EFFECTS.map(|(key, _)| format!("`{key}`")).join(", ");
        return Err(table.error_at(format!("`{}` needs exactly one of {keys}", names.join("|"))));
    };
    let does = table.take(key)?.unwrap_or_default();
    let mut options: Vec<String> = table.take("options")?.unwrap_or_default();
    for name in table.take::<Vec<String>>("use")?.unwrap_or_default() {
        match groups.get(&name) {
            Some(more) => options.extend_from_slice(more),
            None => return Err(table.error_at(format!("unknown group `{name}`"))),
        }
    }
    options.extend_from_slice(&every.options);
    for (key, value) in &every.keys {
        if !table.has(key.get_ref()) {
            table.keys.push((key.clone(), value.clone()));
        }
    }
    if table.take("negatable")? == Some(true) {
        options = negatable(&options);
    }
    let raw: RawProgram = table.into_entry()?;
    Ok(RawProgram {
        names,
        does,
        effect: effect.to_owned(),
        options,
        line: line(&source.text, at),
        ..raw
    })
}

/// Writes `--[no-]x` for each long option `--x` without a separate `--no-x`.
fn negatable(options: &[String]) -> Vec<String> {
    let words = |line: &String| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let known: BTreeSet<String> = options.iter().flat_map(words).collect();
    let negatable = |word: &str| {
        word.strip_prefix("--").is_some_and(|name| {
            !name.starts_with("no-")
                && !name.contains(['[', '*', '='])
                && !known.contains(&format!("--no-{name}"))
        })
    };
    let one = |word: &str| match negatable(word) {
        true => word.replacen("--", "--[no-]", 1),
        false => word.to_owned(),
    };
    let line = |line: &String| {
        line.split_whitespace()
            .map(one)
            .collect::<Vec<_>>()
            .join(" ")
    };
    options.iter().map(line).collect()
}

/// Returns the entries of commands with the commands below them; `tree` contains all commands of
/// the program.
fn spelled_out(
    source: &Source,
    nodes: &[Node],
    tree: &[Node],
    copies: usize,
) -> Result<Vec<RawProgram>, TableError> {
    let one = |node: &Node| {
        let mut raw = match &node.entry {
            NodeEntry::Entry(raw) => RawProgram {
                command: spelled_out(source, &node.below, tree, copies)?,
                ..RawProgram::clone(raw)
            },
            NodeEntry::SameAs(path) => {
                let found = find(tree, path).filter(|_| copies < MAX_COPIES);
                let copy = found.map(|found| {
                    spelled_out(source, std::slice::from_ref(found), tree, copies + 1)
                });
                let copy = copy.transpose()?.and_then(|mut copy| copy.pop());
                copy.ok_or_else(|| {
                    let message =
                        format!("`same_as` names no other command of the program: `{path}`");
                    error_at(source, node.at, message)
                })?
            }
        };
        raw.names.clone_from(&node.names);
        raw.line = line(&source.text, node.at);
        Ok(raw)
    };
    nodes.iter().map(one).collect()
}

fn find<'t>(tree: &'t [Node], path: &str) -> Option<&'t Node> {
    let mut words = path.split_whitespace();
    let of_name = |nodes: &'t [Node], word: &str| {
        nodes
            .iter()
            .find(|node| node.names.iter().any(|name| name == word))
    };
    let first = of_name(tree, words.next()?)?;
    words.try_fold(first, |node, word| of_name(&node.below, word))
}
