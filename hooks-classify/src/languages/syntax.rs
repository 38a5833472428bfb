//! Syntax trees: a text and the grammar of its language in, the tree of the text and its nodes out.

use tree_sitter::{Language, Node, Parser, Tree};

/// Deeper trees are not read: a look-up of a node's parent starts at the root.
const MAX_TREE_DEPTH: u32 = 100;

/// Text of a script, with look-ups of the text of its nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceText<'t>(pub(super) &'t str);

impl<'t> SourceText<'t> {
    /// Returns the text of a node.
    pub(super) fn of(self, node: Node<'_>) -> &'t str {
        &self.0[node.byte_range()]
    }

    /// Returns the text of the child in a field of a node; empty without such a child.
    pub(super) fn field(self, node: Node<'_>, field: &str) -> &'t str {
        node.child_by_field_name(field)
            .map_or("", |child| self.of(child))
    }
}

/// Returns the tree of a text, if the grammar reads all of the text and the tree is not too deep.
pub(super) fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let tree = parser.parse(text, None)?;
    let root = tree.root_node();
    let fits = !root.has_error() && !is_deep(root);
    fits.then_some(tree)
}

fn is_deep(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    loop {
        if cursor.depth() > MAX_TREE_DEPTH {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// Returns a node and every node below it. Iterative, because a tree may be deep.
pub(super) fn nodes(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = root.walk();
    let mut next = Some(root);
    std::iter::from_fn(move || {
        let node = next?;
        next = None;
        if cursor.goto_first_child() {
            next = Some(cursor.node());
        } else {
            loop {
                if cursor.goto_next_sibling() {
                    next = Some(cursor.node());
                    break;
                }
                if !cursor.goto_parent() {
                    break;
                }
            }
        }
        Some(node)
    })
}

/// Returns the named children of a node, without comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    let children = node.named_children(&mut cursor);
    children.filter(|child| child.kind() != "comment").collect()
}

/// Returns `true` if a node is the child of its parent in this field.
pub(super) fn is_field(node: Node<'_>, field: &str) -> bool {
    node.parent()
        .and_then(|parent| parent.child_by_field_name(field))
        .is_some_and(|child| child == node)
}
