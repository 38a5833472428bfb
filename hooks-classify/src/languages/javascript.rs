//! JavaScript: a script in, `true` out if it only computes and prints.
//!
//! As in Python, no value that such code can reach does harm when it is called. Every value has a
//! constructor, which leads to code: no property may have that name, and no name of a property may be
//! computed. A declared name has its meaning in its scope only; `var` does not replace a global of the
//! same name, so it is not allowed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tree_sitter::Node;

use super::names::{CodeNames, JAVASCRIPT, SYNTAX};
use super::syntax::{SourceText, children, is_field, nodes, parse};
use crate::shell::mask_non_ascii;
use crate::tables::WordSet;

/// Kinds of nodes that are scopes of names.
const SCOPES: &[&str] = &[
    "arrow_function",
    "catch_clause",
    "for_in_statement",
    "for_statement",
    "program",
    "statement_block",
];

/// Kinds of nodes in the pattern of a declaration.
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

/// Returns `true` if a script only computes and prints.
pub(super) fn is_harmless(text: &str) -> bool {
    let text = mask_non_ascii(text);
    let Some(tree) = parse(&tree_sitter_javascript::LANGUAGE.into(), &text) else {
        return false;
    };
    let mut script = JavaScriptScript {
        text: SourceText(&text),
        names: &JAVASCRIPT,
        bound: HashMap::new(),
    };
    let root = tree.root_node();
    nodes(root).all(|node| script.bind(node)) && nodes(root).all(|node| script.allows(node))
}

/// The meaning of a name in a script.
#[derive(Clone, PartialEq)]
enum JavaScriptName {
    /// A value of the script.
    Local,
    /// A function of the script.
    Function,
    /// A module at this path, or a part of a module.
    Path(String),
}

/// The result of `require`.
enum RequiredModule<'t> {
    /// A file of data.
    Data,
    Module(&'t str),
}

struct JavaScriptScript<'t> {
    text: SourceText<'t>,
    names: &'t CodeNames,
    /// By the scope, and the name.
    bound: HashMap<(usize, &'t str), JavaScriptName>,
}

impl<'t> JavaScriptScript<'t> {
    /// Records the names that a node declares. Returns `false` if a name may have two meanings.
    fn bind(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "variable_declarator" => self.declare(node),
            "arrow_function" => {
                let one = node.child_by_field_name("parameter");
                let all = node.child_by_field_name("parameters");
                one.or(all)
                    .is_none_or(|names| self.bind_all(node, names, &JavaScriptName::Local))
            }
            "for_in_statement" if !self.text.field(node, "kind").is_empty() => node
                .child_by_field_name("left")
                .is_some_and(|names| self.bind_all(node, names, &JavaScriptName::Local)),
            "catch_clause" => node
                .child_by_field_name("parameter")
                .is_none_or(|names| self.bind_all(node, names, &JavaScriptName::Local)),
            _ => true,
        }
    }

    fn declare(&mut self, node: Node<'_>) -> bool {
        let (Some(scope), Some(name)) = (scope(node), node.child_by_field_name("name")) else {
            return false;
        };
        let Some(value) = node.child_by_field_name("value") else {
            return self.bind_all(scope, name, &JavaScriptName::Local);
        };
        match self.required(value) {
            Some(RequiredModule::Module(module)) => self.bind_module(scope, name, module),
            _ if value.kind() == "arrow_function" => {
                self.bind_all(scope, name, &JavaScriptName::Function)
            }
            _ => self.bind_all(scope, name, &JavaScriptName::Local),
        }
    }

    fn bind_module(&mut self, scope: Node<'_>, name: Node<'_>, module: &str) -> bool {
        match name.kind() {
            "identifier" => self.bind_name(
                scope,
                self.text.of(name),
                JavaScriptName::Path(module.to_owned()),
            ),
            "object_pattern" => children(name).into_iter().all(|part| {
                let (key, bound) = match part.kind() {
                    "shorthand_property_identifier_pattern" => {
                        (self.text.of(part), self.text.of(part))
                    }
                    "pair_pattern" => {
                        (self.text.field(part, "key"), self.text.field(part, "value"))
                    }
                    _ => return false,
                };
                self.bind_name(
                    scope,
                    bound,
                    JavaScriptName::Path(format!("{module}.{key}")),
                )
            }),
            _ => false,
        }
    }

    /// Records every name in a pattern.
    fn bind_all(&mut self, scope: Node<'_>, pattern: Node<'_>, means: &JavaScriptName) -> bool {
        nodes(pattern).all(|node| match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                self.bind_name(scope, self.text.of(node), means.clone())
            }
            kind => !node.is_named() || PATTERNS.contains(&kind),
        })
    }

    fn bind_name(&mut self, scope: Node<'_>, name: &'t str, means: JavaScriptName) -> bool {
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

    /// Returns the meaning of a name in its scope.
    fn meaning(&self, name: Node<'_>) -> Option<&JavaScriptName> {
        let text = self.text.of(name);
        let mut at = Some(name);
        while let Some(node) = at {
            if let Some(bound) = self.bound.get(&(node.id(), text)) {
                return Some(bound);
            }
            at = node.parent();
        }
        None
    }

    /// Returns the result of a call of `require('…')`, if it is allowed.
    fn required(&self, node: Node<'_>) -> Option<RequiredModule<'t>> {
        if node.kind() != "call_expression" || self.text.field(node, "function") != "require" {
            return None;
        }
        let arguments = children(node.child_by_field_name("arguments")?);
        let [name] = arguments.as_slice() else {
            return None;
        };
        let name = self.literal(*name)?;
        let is_file = name.starts_with(['.', '/']);
        if is_file && name.ends_with(".json") {
            return Some(RequiredModule::Data);
        }
        let module = name.strip_prefix("node:").unwrap_or(name);
        let is_known = self.names.modules.contains(module);
        is_known.then_some(RequiredModule::Module(module))
    }

    /// Returns the text of a string literal.
    fn literal(&self, node: Node<'_>) -> Option<&'t str> {
        let text = (node.kind() == "string").then(|| self.text.of(node))?;
        let inside = text.get(1..text.len() - 1)?;
        (!inside.contains('\\')).then_some(inside)
    }

    fn allows(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "identifier" => self.allows_name(node),
            "shorthand_property_identifier" => {
                is_property(self.text.of(node)) && self.allows_value(node)
            }
            "shorthand_property_identifier_pattern" | "property_identifier" => {
                is_property(self.text.of(node))
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
                    let declared = matches!(self.meaning(left), Some(JavaScriptName::Local));
                    left.kind() == "identifier" && declared
                })
            }
            // Node may read such a text differently than the grammar does.
            "regex" => !self.text.of(node).contains(['\'', '"', '`']),
            // A comment may end at a character that ends no line in the grammar.
            "comment" => is_comment(self.text.of(node)),
            "unary_expression" => self.text.field(node, "operator") != "delete",
            // The name of a key, and of a property that a pattern takes out.
            "pair" | "pair_pattern" => {
                let key = node.child_by_field_name("key");
                key.is_some_and(|key| {
                    key.kind() != "string" || self.literal(key).is_some_and(is_property)
                })
            }
            "async" | "await" | "yield" => false,
            kind => {
                !node.is_named()
                    || is_expression(kind)
                    || SYNTAX.javascript_statements.contains(kind)
            }
        }
    }

    fn allows_name(&self, node: Node<'_>) -> bool {
        let Some(parent) = node.parent() else {
            return false;
        };
        let is_checked_elsewhere = match parent.kind() {
            "call_expression" => is_field(node, "function"),
            "new_expression" => is_field(node, "constructor"),
            "member_expression" => self.path(parent).is_some(),
            // The name of a module.
            "variable_declarator" => is_field(node, "name"),
            "pair_pattern" => is_field(node, "value"),
            _ => false,
        };
        is_checked_elsewhere || self.allows_value(node)
    }

    fn allows_value(&self, node: Node<'_>) -> bool {
        match self.meaning(node) {
            Some(JavaScriptName::Local | JavaScriptName::Function) => true,
            Some(JavaScriptName::Path(path)) => self.allows_path(path),
            None => self.allows_path(self.text.of(node)),
        }
    }

    /// Returns `true` if the value at this path is allowed.
    fn allows_path(&self, path: &str) -> bool {
        self.names.is_call(path) || self.names.attributes_of_value(path).is_some()
    }

    fn allows_member(&self, node: Node<'_>) -> bool {
        let parent = node.parent();
        let is_called = parent.is_some_and(|it| {
            it.kind() == "call_expression" && is_field(node, "function")
                || it.kind() == "new_expression" && is_field(node, "constructor")
        });
        // `allows_call` decides.
        is_called
            || match self.path(node) {
                Some(path) => {
                    let is_part = parent.is_some_and(|it| it.kind() == "member_expression");
                    is_part || self.allows_path(&path)
                }
                // A property of a value; the name of the property is a separate node.
                None => true,
            }
    }

    /// Returns `true` if the index is a literal that is allowed.
    fn allows_index(&self, node: Node<'_>) -> bool {
        let index = node.child_by_field_name("index");
        index.is_some_and(|index| match index.kind() {
            "number" => true,
            _ => self.literal(index).is_some_and(is_property),
        })
    }

    /// Returns the path of dotted names, unless the first name is a value of the script.
    fn path(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "identifier" => match self.meaning(node) {
                Some(JavaScriptName::Local | JavaScriptName::Function) => None,
                Some(JavaScriptName::Path(path)) => Some(path.clone()),
                None => Some(self.text.of(node).to_owned()),
            },
            "member_expression" => {
                let object = self.path(node.child_by_field_name("object")?)?;
                Some(format!("{object}.{}", self.text.field(node, "property")))
            }
            "call_expression" => match self.required(node)? {
                RequiredModule::Module(module) => Some(module.to_owned()),
                RequiredModule::Data => None,
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
        // A template after a name is a call, too.
        if arguments.kind() != "arguments" {
            return false;
        }
        match function.kind() {
            "identifier" if self.text.of(function) == "require" => match self.required(node) {
                Some(RequiredModule::Data) => true,
                // A module itself is not an allowed value; its parts may be.
                Some(RequiredModule::Module(_)) => node.parent().is_some_and(|parent| {
                    matches!(parent.kind(), "member_expression" | "variable_declarator")
                }),
                None => false,
            },
            "identifier" => match (self.meaning(function), self.path(function)) {
                (Some(JavaScriptName::Function), _) => true,
                (_, Some(path)) => {
                    self.names.is_call(&path) || self.allows_file_read(&path, arguments)
                }
                _ => false,
            },
            "member_expression" => match self.path(function) {
                Some(path) => self.allows_call_of(&path) || self.allows_file_read(&path, arguments),
                None => {
                    let name = self.text.field(function, "property");
                    self.names.methods.contains(name)
                }
            },
            _ => false,
        }
    }

    /// Returns `true` if a call reads a file, or facts about a file, whose name is a literal.
    fn allows_file_read(&self, path: &str, arguments: Node<'_>) -> bool {
        let arguments = children(arguments);
        let Some((file, how)) = arguments.split_first() else {
            return false;
        };
        let named = self.literal(*file).is_some() || self.text.of(*file) == "0";
        let is_reader = matches!(
            path,
            "fs.existsSync" | "fs.readFileSync" | "fs.readdirSync" | "fs.statSync"
        );
        // The rest is an encoding; an object may contain a mode in which the file is opened.
        is_reader && named && how.iter().all(|how| self.literal(*how).is_some())
    }

    fn allows_call_of(&self, path: &str) -> bool {
        self.names.is_call(path)
            || self.names.attributes_of_value(path).is_some_and(|rest| {
                rest.rsplit('.')
                    .next()
                    .is_some_and(|name| self.names.methods.contains(name))
            })
    }
}

/// Returns the scope of a declaration.
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

fn is_expression(kind: &str) -> bool {
    SYNTAX.javascript_expressions.contains(kind)
}

/// Returns `true` if no property of this name leads to code.
fn is_property(name: &str) -> bool {
    !SYNTAX.javascript_accessors.contains(name) && !name.starts_with("__") && !name.contains('\\')
}

/// Returns `true` if all interpreters agree on the end of a comment. A character outside of ASCII,
/// which `%` replaces here, may end a line.
fn is_comment(text: &str) -> bool {
    (text.starts_with("//") || text.starts_with("/*")) && !text.contains('%')
}

/// Returns `true` if a text consists of expressions that call these functions and methods alone.
/// The names are in small letters.
pub(super) fn calls_only(names: &WordSet, text: &str) -> bool {
    let text = mask_non_ascii(text);
    let Some(tree) = parse(&tree_sitter_javascript::LANGUAGE.into(), &text) else {
        return false;
    };
    let is_allowed = |node: Node<'_>| names.contains(&text[node.byte_range()].to_ascii_lowercase());
    nodes(tree.root_node()).all(|node| match node.kind() {
        "call_expression" | "new_expression" => {
            let callee = node
                .child_by_field_name("function")
                .or_else(|| node.child_by_field_name("constructor"));
            let arguments = node.child_by_field_name("arguments");
            let called = callee.is_some_and(|callee| match callee.kind() {
                "identifier" => is_allowed(callee),
                "member_expression" => callee
                    .child_by_field_name("property")
                    .is_some_and(is_allowed),
                _ => false,
            });
            called && arguments.is_none_or(|arguments| arguments.kind() == "arguments")
        }
        "identifier" | "member_expression" | "property_identifier" | "subscript_expression" => {
            is_property(&text[node.byte_range()])
        }
        // An escape may hide the name of a stage.
        "async" | "delete" | "escape_sequence" => false,
        kind => !node.is_named() || is_expression(kind),
    })
}
