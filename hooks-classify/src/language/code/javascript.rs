//! JavaScript that only computes and prints, and the shell of a document database, which speaks
//! it.
//!
//! As in Python, no value that such code can get at does harm when it is called. What every value
//! has, and what leads to code, is its constructor: no name of a property may say that one, and
//! none may be computed. A name that is declared means that only where it is; `var` leaves a global
//! of its name as it is, and is not allowed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tree_sitter::Node;

use super::names::{JAVASCRIPT, MONGO, Names};
use super::syntax::{children, is_field, nodes, parse};
use crate::judge::{Arg, Judge};
use crate::shell::plain;
use crate::tables::Effect;

/// What an expression is made of, besides names, properties and calls.
const EXPRESSIONS: &[&str] = &[
    "arguments",
    "array",
    "binary_expression",
    "comment",
    "escape_sequence",
    "expression_statement",
    "false",
    "null",
    "number",
    "object",
    "pair",
    "parenthesized_expression",
    "program",
    "regex",
    "regex_flags",
    "regex_pattern",
    "string",
    "string_fragment",
    "true",
    "unary_expression",
];

/// What a script has beyond that.
const STATEMENTS: &[&str] = &[
    "array_pattern",
    "arrow_function",
    "break_statement",
    "catch_clause",
    "continue_statement",
    "else_clause",
    "empty_statement",
    "finally_clause",
    "for_in_statement",
    "for_statement",
    "formal_parameters",
    "if_statement",
    "lexical_declaration",
    "object_pattern",
    "optional_chain",
    "pair_pattern",
    "rest_pattern",
    "return_statement",
    "sequence_expression",
    "spread_element",
    "statement_block",
    "template_string",
    "template_substitution",
    "ternary_expression",
    "throw_statement",
    "try_statement",
    "update_expression",
    "variable_declarator",
    "while_statement",
];

/// Within what a name means what is declared there.
const SCOPES: &[&str] = &[
    "arrow_function",
    "catch_clause",
    "for_in_statement",
    "for_statement",
    "program",
    "statement_block",
];

/// Of what names in a declaration are made up.
const PATTERNS: &[&str] = &[
    "array_pattern",
    "formal_parameters",
    "identifier",
    "object_pattern",
    "pair_pattern",
    "property_identifier",
    "rest_pattern",
    "shorthand_property_identifier_pattern",
];

/// Whether a script only computes and prints.
pub(super) fn is_harmless(text: &str) -> bool {
    let text = plain(text);
    let Some(tree) = parse(&tree_sitter_javascript::LANGUAGE.into(), &text) else {
        return false;
    };
    let mut script = Script {
        text: &text,
        names: &JAVASCRIPT,
        bound: HashMap::new(),
    };
    let root = tree.root_node();
    nodes(root).all(|node| script.bind(node)) && nodes(root).all(|node| script.allows(node))
}

/// What a script calls something.
#[derive(Clone, PartialEq)]
enum Bound {
    /// A value of its own.
    Local,
    /// A function of its own.
    Function,
    /// What stands under this path: a module, or something of one.
    Path(String),
}

/// What is required.
enum Required<'t> {
    /// A file of data.
    Data,
    Module(&'t str),
}

struct Script<'t> {
    text: &'t str,
    names: &'t Names,
    /// By the scope, and the name.
    bound: HashMap<(usize, &'t str), Bound>,
}

impl<'t> Script<'t> {
    fn of(&self, node: Node<'_>) -> &'t str {
        &self.text[node.byte_range()]
    }

    fn field(&self, node: Node<'_>, field: &str) -> &'t str {
        node.child_by_field_name(field)
            .map_or("", |child| self.of(child))
    }

    /// Takes up the names that a node declares; false where one may mean two things.
    fn bind(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "variable_declarator" => self.declare(node),
            "arrow_function" => {
                let one = node.child_by_field_name("parameter");
                let all = node.child_by_field_name("parameters");
                one.or(all)
                    .is_none_or(|names| self.bind_all(node, names, &Bound::Local))
            }
            "for_in_statement" if !self.field(node, "kind").is_empty() => node
                .child_by_field_name("left")
                .is_some_and(|names| self.bind_all(node, names, &Bound::Local)),
            "catch_clause" => node
                .child_by_field_name("parameter")
                .is_none_or(|names| self.bind_all(node, names, &Bound::Local)),
            _ => true,
        }
    }

    fn declare(&mut self, node: Node<'_>) -> bool {
        let (Some(scope), Some(name)) = (scope(node), node.child_by_field_name("name")) else {
            return false;
        };
        let Some(value) = node.child_by_field_name("value") else {
            return self.bind_all(scope, name, &Bound::Local);
        };
        match self.required(value) {
            Some(Required::Module(module)) => self.bind_module(scope, name, module),
            _ if value.kind() == "arrow_function" => self.bind_all(scope, name, &Bound::Function),
            _ => self.bind_all(scope, name, &Bound::Local),
        }
    }

    fn bind_module(&mut self, scope: Node<'_>, name: Node<'_>, module: &str) -> bool {
        match name.kind() {
            "identifier" => self.bind_name(scope, self.of(name), Bound::Path(module.to_owned())),
            "object_pattern" => children(name).into_iter().all(|part| {
                let (key, bound) = match part.kind() {
                    "shorthand_property_identifier_pattern" => (self.of(part), self.of(part)),
                    "pair_pattern" => (self.field(part, "key"), self.field(part, "value")),
                    _ => return false,
                };
                self.bind_name(scope, bound, Bound::Path(format!("{module}.{key}")))
            }),
            _ => false,
        }
    }

    /// Every name in a pattern.
    fn bind_all(&mut self, scope: Node<'_>, pattern: Node<'_>, means: &Bound) -> bool {
        nodes(pattern).all(|node| match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                self.bind_name(scope, self.of(node), means.clone())
            }
            kind => !node.is_named() || PATTERNS.contains(&kind),
        })
    }

    fn bind_name(&mut self, scope: Node<'_>, name: &'t str, means: Bound) -> bool {
        if self.names.is_call(name) || name == "require" {
            return false;
        }
        match self.bound.entry((scope.id(), name)) {
            Entry::Vacant(entry) => {
                entry.insert(means);
                true
            }
            Entry::Occupied(entry) => *entry.get() == means,
        }
    }

    /// What a name means where it stands.
    fn meaning(&self, name: Node<'_>) -> Option<&Bound> {
        let text = self.of(name);
        let mut at = Some(name);
        while let Some(node) = at {
            if let Some(bound) = self.bound.get(&(node.id(), text)) {
                return Some(bound);
            }
            at = node.parent();
        }
        None
    }

    /// What `require('…')` gives, if it is that and may be.
    fn required(&self, node: Node<'_>) -> Option<Required<'t>> {
        if node.kind() != "call_expression" || self.field(node, "function") != "require" {
            return None;
        }
        let arguments = children(node.child_by_field_name("arguments")?);
        let [name] = arguments.as_slice() else {
            return None;
        };
        let name = self.literal(*name)?;
        let is_file = name.starts_with(['.', '/']);
        if is_file && name.ends_with(".json") {
            return Some(Required::Data);
        }
        let module = name.strip_prefix("node:").unwrap_or(name);
        let is_known = self.names.modules.contains(module);
        is_known.then_some(Required::Module(module))
    }

    /// What a string says, if it stands there.
    fn literal(&self, node: Node<'_>) -> Option<&'t str> {
        let text = (node.kind() == "string").then(|| self.of(node))?;
        let inside = text.get(1..text.len() - 1)?;
        (!inside.contains('\\')).then_some(inside)
    }

    fn allows(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "identifier" => self.allows_name(node),
            "shorthand_property_identifier" => {
                is_property(self.of(node)) && self.allows_value(node)
            }
            "shorthand_property_identifier_pattern" | "property_identifier" => {
                is_property(self.of(node))
            }
            "member_expression" => self.allows_member(node),
            "subscript_expression" => self.allows_index(node),
            "call_expression" => self.allows_call(node),
            "new_expression" => {
                let constructor = node.child_by_field_name("constructor");
                constructor
                    .is_some_and(|it| self.path(it).is_some_and(|path| self.names.is_call(&path)))
            }
            "assignment_expression" | "augmented_assignment_expression" => {
                let left = node.child_by_field_name("left");
                left.is_some_and(|left| {
                    let declared = matches!(self.meaning(left), Some(Bound::Local));
                    left.kind() == "identifier" && declared
                })
            }
            // A text that is one thing to this grammar might be another to node.
            "regex" => !self.of(node).contains(['\'', '"', '`']),
            // What ends a comment may be no line to the grammar.
            "comment" => is_comment(self.of(node)),
            "unary_expression" => self.field(node, "operator") != "delete",
            // The name of a key, and of what a pattern takes out.
            "pair" | "pair_pattern" => {
                let key = node.child_by_field_name("key");
                key.is_some_and(|key| {
                    key.kind() != "string" || self.literal(key).is_some_and(is_property)
                })
            }
            "async" | "await" | "yield" => false,
            kind => !node.is_named() || EXPRESSIONS.contains(&kind) || STATEMENTS.contains(&kind),
        }
    }

    fn allows_name(&self, node: Node<'_>) -> bool {
        let Some(parent) = node.parent() else {
            return false;
        };
        let judged_there = match parent.kind() {
            "call_expression" => is_field(node, "function"),
            "new_expression" => is_field(node, "constructor"),
            "member_expression" => self.path(parent).is_some(),
            // Where a module gets its name.
            "variable_declarator" => is_field(node, "name"),
            "pair_pattern" => is_field(node, "value"),
            _ => false,
        };
        judged_there || self.allows_value(node)
    }

    fn allows_value(&self, node: Node<'_>) -> bool {
        match self.meaning(node) {
            Some(Bound::Local | Bound::Function) => true,
            Some(Bound::Path(path)) => self.allows_path(path),
            None => self.allows_path(self.of(node)),
        }
    }

    /// Whether the value under this path may be had.
    fn allows_path(&self, path: &str) -> bool {
        self.names.is_call(path) || self.names.of_value(path).is_some()
    }

    fn allows_member(&self, node: Node<'_>) -> bool {
        let parent = node.parent();
        let is_called = parent.is_some_and(|it| {
            it.kind() == "call_expression" && is_field(node, "function")
                || it.kind() == "new_expression" && is_field(node, "constructor")
        });
        // With the call.
        is_called
            || match self.path(node) {
                Some(path) => {
                    let is_part = parent.is_some_and(|it| it.kind() == "member_expression");
                    is_part || self.allows_path(&path)
                }
                // A property of a value, whose name is looked at by itself.
                None => true,
            }
    }

    /// An index that is written there.
    fn allows_index(&self, node: Node<'_>) -> bool {
        let index = node.child_by_field_name("index");
        index.is_some_and(|index| match index.kind() {
            "number" => true,
            _ => self.literal(index).is_some_and(is_property),
        })
    }

    /// The path of what is written as names with dots between them, if it does not begin with a
    /// value.
    fn path(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "identifier" => match self.meaning(node) {
                Some(Bound::Local | Bound::Function) => None,
                Some(Bound::Path(path)) => Some(path.clone()),
                None => Some(self.of(node).to_owned()),
            },
            "member_expression" => {
                let object = self.path(node.child_by_field_name("object")?)?;
                Some(format!("{object}.{}", self.field(node, "property")))
            }
            "call_expression" => match self.required(node)? {
                Required::Module(module) => Some(module.to_owned()),
                Required::Data => None,
            },
            _ => None,
        }
    }

    fn allows_call(&self, node: Node<'_>) -> bool {
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return false;
        };
        // A template behind a name is a call, too.
        if arguments.kind() != "arguments" {
            return false;
        }
        match function.kind() {
            "identifier" if self.of(function) == "require" => match self.required(node) {
                Some(Required::Data) => true,
                // A module is no value: only what it has is looked at.
                Some(Required::Module(_)) => node.parent().is_some_and(|parent| {
                    matches!(parent.kind(), "member_expression" | "variable_declarator")
                }),
                None => false,
            },
            "identifier" => match (self.meaning(function), self.path(function)) {
                (Some(Bound::Function), _) => true,
                (_, Some(path)) => self.names.is_call(&path) || self.reads(&path, arguments),
                _ => false,
            },
            "member_expression" => match self.path(function) {
                Some(path) => self.calls(&path) || self.reads(&path, arguments),
                None => {
                    let name = self.field(function, "property");
                    self.names.methods.contains(name)
                }
            },
            _ => false,
        }
    }

    /// Whether a call reads a file, or says something of one, whose name is written there.
    fn reads(&self, path: &str, arguments: Node<'_>) -> bool {
        let arguments = children(arguments);
        let Some((file, how)) = arguments.split_first() else {
            return false;
        };
        let named = self.literal(*file).is_some() || self.of(*file) == "0";
        let is_reader = matches!(
            path,
            "fs.existsSync" | "fs.readFileSync" | "fs.readdirSync" | "fs.statSync"
        );
        // An encoding; an object might say how it is opened.
        is_reader && named && how.iter().all(|how| self.literal(*how).is_some())
    }

    fn calls(&self, path: &str) -> bool {
        self.names.is_call(path)
            || self.names.of_value(path).is_some_and(|rest| {
                rest.rsplit('.')
                    .next()
                    .is_some_and(|name| self.names.methods.contains(name))
            })
    }
}

/// What a declaration belongs to.
fn scope(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.parent();
    while let Some(node) = at {
        if SCOPES.contains(&node.kind()) {
            break;
        }
        at = node.parent();
    }
    at
}

/// Whether a property of this name leads to no code.
fn is_property(name: &str) -> bool {
    !matches!(
        name,
        "constructor" | "prototype" | "caller" | "callee" | "arguments"
    ) && !name.starts_with("__")
        && !name.contains('\\')
}

/// Whether a comment ends for everybody where it ends here. What is no ASCII may end a line.
fn is_comment(text: &str) -> bool {
    (text.starts_with("//") || text.starts_with("/*")) && !text.contains('%')
}

/// The shell of a document database.
pub(in super::super) fn mongo(judge: &mut Judge<'_>, arg: &Arg) {
    let lower: String = arg.text.split_whitespace().collect();
    let lower = lower.to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let effect = if any(MONGO.deletes) {
        Effect::Delete
    } else if any(MONGO.updates) {
        Effect::Update
    } else if any(MONGO.creates) {
        Effect::Create
    } else if arg.known() && !any(MONGO.reaches) && finds(&arg.text) {
        Effect::Read
    } else {
        Effect::Code
    };
    judge.find(effect, arg.span, "a script of the database's shell");
}

/// Whether every call in it is one that reads.
fn finds(text: &str) -> bool {
    let shown = text.trim().strip_prefix("show ").unwrap_or_default();
    if !shown.is_empty() && shown.chars().all(char::is_alphanumeric) {
        return true;
    }
    let text = plain(text);
    let Some(tree) = parse(&tree_sitter_javascript::LANGUAGE.into(), &text) else {
        return false;
    };
    let reads = |node: Node<'_>| {
        MONGO
            .reads
            .contains(&text[node.byte_range()].to_ascii_lowercase())
    };
    nodes(tree.root_node()).all(|node| match node.kind() {
        "call_expression" | "new_expression" => {
            let callee = node
                .child_by_field_name("function")
                .or_else(|| node.child_by_field_name("constructor"));
            let arguments = node.child_by_field_name("arguments");
            let called = callee.is_some_and(|callee| match callee.kind() {
                "identifier" => reads(callee),
                "member_expression" => callee.child_by_field_name("property").is_some_and(reads),
                _ => false,
            });
            called && arguments.is_none_or(|arguments| arguments.kind() == "arguments")
        }
        "identifier" | "member_expression" | "property_identifier" | "subscript_expression" => {
            is_property(&text[node.byte_range()])
        }
        // An escape may hide the name of a stage.
        "async" | "delete" | "escape_sequence" => false,
        kind => !node.is_named() || EXPRESSIONS.contains(&kind),
    })
}
