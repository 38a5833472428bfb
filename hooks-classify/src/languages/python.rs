//! Python: a script in, `true` out if it only computes and prints.
//!
//! No value that such code can reach does harm when it is called: every name must be in the table,
//! every attribute too, and every value that is passed to another call. So it does not matter which
//! value is called where.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tree_sitter::Node;

use super::names::{CodeNames, PYTHON, SYNTAX};
use super::syntax::{SourceText, children, is_field, nodes, parse};
use crate::shell::mask_non_ascii;

/// Returns `true` if a script only computes and prints.
pub(super) fn is_harmless(text: &str) -> bool {
    let text = mask_non_ascii(text);
    let Some(tree) = parse(&tree_sitter_python::LANGUAGE.into(), &text) else {
        return false;
    };
    let mut script = PythonScript {
        text: SourceText(&text),
        names: &PYTHON,
        bound: HashMap::new(),
    };
    let root = tree.root_node();
    nodes(root).all(|node| script.bind(node)) && nodes(root).all(|node| script.allows(node))
}

/// The meaning of a name in a script.
#[derive(PartialEq)]
enum PythonName {
    /// A value of the script.
    Local,
    /// A module at this path, or a part of a module.
    Path(String),
}

impl PythonName {
    fn is_of_pathlib(&self) -> bool {
        matches!(self, PythonName::Path(path) if path.starts_with("pathlib"))
    }
}

struct PythonScript<'t> {
    text: SourceText<'t>,
    names: &'t CodeNames,
    bound: HashMap<&'t str, PythonName>,
}

impl<'t> PythonScript<'t> {
    /// Records the names that a node binds. Returns `false` if a name may have two meanings, or a
    /// module may not be imported.
    fn bind(&mut self, node: Node<'_>) -> bool {
        match node.kind() {
            "import_statement" => children(node).into_iter().all(|name| self.import(name)),
            "import_from_statement" => self.import_from(node),
            "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => {
                self.bind_target(node.child_by_field_name("left"))
            }
            "named_expression" => self.bind_target(node.child_by_field_name("name")),
            "as_pattern_target" | "lambda_parameters" => children(node)
                .into_iter()
                .all(|child| self.bind_target(Some(child))),
            _ => true,
        }
    }

    fn import(&mut self, name: Node<'_>) -> bool {
        let (path, bound) = match name.kind() {
            "aliased_import" => (
                self.text.field(name, "name"),
                self.text.field(name, "alias"),
            ),
            _ => (self.text.of(name), self.text.of(name)),
        };
        let first = bound.split('.').next().unwrap_or(bound);
        let means = if bound == path { first } else { path };
        self.names.modules.contains(path)
            && self.bind_name(first, PythonName::Path(means.to_owned()))
    }

    fn import_from(&mut self, node: Node<'_>) -> bool {
        let module = self.text.field(node, "module_name");
        if !self.names.modules.contains(module) {
            return false;
        }
        let mut cursor = node.walk();
        let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
        // Without names it is everything.
        !names.is_empty()
            && names.into_iter().all(|name| {
                let (name, bound) = match name.kind() {
                    "aliased_import" => (
                        self.text.field(name, "name"),
                        self.text.field(name, "alias"),
                    ),
                    _ => (self.text.of(name), self.text.of(name)),
                };
                self.bind_name(bound, PythonName::Path(format!("{module}.{name}")))
            })
    }

    fn bind_target(&mut self, target: Option<Node<'_>>) -> bool {
        let Some(target) = target else {
            return true;
        };
        match target.kind() {
            "identifier" => self.bind_name(self.text.of(target), PythonName::Local),
            // These are separate nodes.
            "attribute" | "subscript" => true,
            _ => children(target)
                .into_iter()
                .all(|child| self.bind_target(Some(child))),
        }
    }

    fn bind_name(&mut self, name: &'t str, means: PythonName) -> bool {
        // If the assignment does not run, the name is the built-in one.
        if SYNTAX.python_builtins.contains(name) || name.starts_with("__") {
            return false;
        }
        match self.bound.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(means);
                true
            }
            Entry::Occupied(entry) => *entry.get() == means,
        }
    }

    fn allows(&self, node: Node<'_>) -> bool {
        match node.kind() {
            "identifier" => self.allows_name(node),
            "attribute" => self.allows_attribute(node),
            "call" => self.allows_call(node),
            // It may set the encoding of the text.
            "comment" => !self.text.of(node).contains("coding"),
            // `print >>file`, `async for`.
            "chevron" | "async" => false,
            kind => !node.is_named() || SYNTAX.python_kinds.contains(kind),
        }
    }

    fn allows_name(&self, node: Node<'_>) -> bool {
        let Some(parent) = node.parent() else {
            return false;
        };
        let is_checked_elsewhere = match parent.kind() {
            // Its path or the name of the attribute is checked.
            "attribute" => is_field(node, "attribute") || self.path(parent).is_some(),
            "keyword_argument" => is_field(node, "name"),
            "call" => is_field(node, "function"),
            "dotted_name" | "aliased_import" => true,
            _ => false,
        };
        if is_checked_elsewhere {
            return true;
        }
        let name = self.text.of(node);
        match self.bound.get(name) {
            Some(PythonName::Local) => true,
            Some(PythonName::Path(path)) => self.allows_path(node, path),
            None => self.allows_path(node, name),
        }
    }

    /// Returns `true` if the value at this path is allowed.
    fn allows_path(&self, node: Node<'_>, path: &str) -> bool {
        if path == "sys.path" {
            return is_only_printed(self, node);
        }
        self.names.is_call(path)
            || self.names.attributes_of_value(path).is_some_and(|rest| {
                rest.is_empty() || rest.split('.').all(|name| self.is_attribute(name))
            })
    }

    fn is_method(&self, name: &str) -> bool {
        // The method of a path writes a file.
        let writes = matches!(name, "replace" | "copy");
        let is_of_path = || self.bound.values().any(PythonName::is_of_pathlib);
        self.names.methods.contains(name) && !(writes && is_of_path())
    }

    fn is_attribute(&self, name: &str) -> bool {
        self.is_method(name) || self.names.attributes.contains(name)
    }

    fn allows_attribute(&self, node: Node<'_>) -> bool {
        if is_field(node, "function") && node.parent().is_some_and(|it| it.kind() == "call") {
            // `allows_call` decides.
            return true;
        }
        match self.path(node) {
            Some(path) => {
                let is_part = is_field(node, "object")
                    && node.parent().is_some_and(|it| it.kind() == "attribute");
                is_part || self.allows_path(node, &path)
            }
            None => self.is_attribute(self.text.field(node, "attribute")),
        }
    }

    /// Returns the path of dotted names, unless the first name is a value of the script.
    fn path(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "identifier" => match (self.bound.get(self.text.of(node)), self.text.of(node)) {
                (Some(PythonName::Local), _) => None,
                (Some(PythonName::Path(path)), _) => Some(path.clone()),
                (None, name) if self.names.is_call(name) => None,
                (None, name) => Some(name.to_owned()),
            },
            "attribute" => {
                let object = self.path(node.child_by_field_name("object")?)?;
                // The result of `datetime.date` is not a module.
                Some(format!("{object}.{}", self.text.field(node, "attribute")))
            }
            _ => None,
        }
    }

    fn allows_call(&self, node: Node<'_>) -> bool {
        let Some(mut function) = node.child_by_field_name("function") else {
            return false;
        };
        // The grammar reads `*f(x)` after another argument as a call of `*f`.
        if let ("list_splat", [splat]) = (function.kind(), children(function).as_slice()) {
            function = *splat;
        }
        let arguments = node
            .child_by_field_name("arguments")
            .map(children)
            .unwrap_or_default();
        match function.kind() {
            "identifier" => {
                let name = self.text.of(function);
                match (self.bound.get(name), name) {
                    (Some(PythonName::Local), _) => false,
                    (Some(PythonName::Path(path)), _) => self.allows_call_of(path, &arguments),
                    (None, "open") => self.allows_open(&arguments),
                    (None, "type") => arguments.len() == 1 && is_only_printed(self, node),
                    (None, name) => self.names.is_call(name),
                }
            }
            "attribute" => match self.path(function) {
                Some(path) => self.allows_call_of(&path, &arguments),
                None => {
                    let name = self.text.field(function, "attribute");
                    self.is_method(name) || name == "read_text" && self.is_named_path(function)
                }
            },
            _ => false,
        }
    }

    fn allows_call_of(&self, path: &str, arguments: &[Node<'_>]) -> bool {
        if path == "importlib.util.find_spec" {
            // If the name has a dot, its first part is imported.
            return matches!(arguments, [name] if self.literal(*name).is_some_and(|name| !name.contains('.')));
        }
        self.names.is_call(path)
            || self.names.attributes_of_value(path).is_some_and(|rest| {
                let mut names = rest.rsplit('.');
                names.next().is_some_and(|name| self.is_method(name))
                    && names.all(|name| self.is_attribute(name))
            })
    }

    /// Returns `true` if a method belongs to a path whose name is a literal.
    fn is_named_path(&self, method: Node<'_>) -> bool {
        let call = method.child_by_field_name("object");
        call.filter(|call| call.kind() == "call")
            .is_some_and(|call| {
                let class = call.child_by_field_name("function");
                let arguments = call.child_by_field_name("arguments").map(children);
                class.and_then(|class| self.path(class)).as_deref() == Some("pathlib.Path")
                    && matches!(arguments.as_deref(), Some([name]) if self.is_named_file(*name))
            })
    }

    /// Returns `true` if a call of `open` only reads a file whose name is a literal.
    fn allows_open(&self, arguments: &[Node<'_>]) -> bool {
        let Some((file, how)) = arguments.split_first() else {
            return false;
        };
        let named = self.is_named_file(*file) || self.text.of(*file) == "0";
        let reads = |node: Node<'_>| {
            self.literal(node)
                .is_some_and(|mode| matches!(mode, "r" | "rb" | "rt"))
        };
        named
            && how.iter().enumerate().all(|(at, node)| match node.kind() {
                "keyword_argument" => {
                    let value = node.child_by_field_name("value");
                    match self.text.field(*node, "name") {
                        "mode" => value.is_some_and(reads),
                        "encoding" | "errors" | "newline" => {
                            value.is_some_and(|value| self.literal(value).is_some())
                        }
                        _ => false,
                    }
                }
                _ => at == 0 && reads(*node),
            })
    }

    /// Returns `true` if a node is the name of a file as a literal, also
    /// `os.path.expanduser('~/a')`.
    fn is_named_file(&self, node: Node<'_>) -> bool {
        let expanded = || {
            let function = node.child_by_field_name("function")?;
            let arguments = node.child_by_field_name("arguments").map(children)?;
            let home = self.path(function)? == "os.path.expanduser";
            Some(home && matches!(arguments.as_slice(), [name] if self.literal(*name).is_some()))
        };
        self.literal(node).is_some() || node.kind() == "call" && expanded() == Some(true)
    }

    /// Returns the text of a string literal.
    fn literal(&self, node: Node<'_>) -> Option<&'t str> {
        let parts = (node.kind() == "string").then(|| children(node))?;
        match parts.as_slice() {
            [_, _] => Some(""),
            [_, content, _] if content.kind() == "string_content" => {
                let text = self.text.of(*content);
                (!text.contains(['\\', '{'])).then_some(text)
            }
            _ => None,
        }
    }
}

/// Returns `true` if a value is only printed.
fn is_only_printed(script: &PythonScript<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    match parent.kind() {
        "argument_list" => {
            let function = parent
                .parent()
                .and_then(|call| call.child_by_field_name("function"));
            function.is_some_and(|function| match function.kind() {
                "identifier" => {
                    let name = script.text.of(function);
                    !script.bound.contains_key(name)
                        && matches!(name, "print" | "len" | "repr" | "str")
                }
                "attribute" => {
                    let object = function.child_by_field_name("object");
                    script.text.field(function, "attribute") == "join"
                        && object.is_some_and(|object| object.kind() == "string")
                }
                _ => false,
            })
        }
        "attribute" => script.text.field(parent, "attribute") == "__name__",
        "interpolation" => true,
        "for_statement" | "for_in_clause" => is_field(node, "right"),
        _ => false,
    }
}
