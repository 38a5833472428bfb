//! The values of a settings file as a list of nodes, each with the index of its parent.

use std::ops::Range;

use super::pattern::PatternKey;
use super::value::{
    MAX_SETTINGS_BYTES, MAX_SETTINGS_DEPTH, SettingKind, SettingValue, SettingsError,
    SettingsFormat,
};

/// Keys and values of a settings file.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    format: SettingsFormat,
    /// A parent is stored before its children, and the values below a node follow it.
    nodes: Vec<Node>,
    copied_bytes: usize,
}

#[derive(Clone, Debug)]
struct Node {
    /// `None` at the top level of the file.
    parent: Option<usize>,
    /// Number of keys in the path.
    depth: usize,
    key: NodeKey,
    value: SettingValue,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKey {
    Name(String),
    Index(usize),
}

impl From<&str> for NodeKey {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl Settings {
    pub(super) fn new(format: SettingsFormat) -> Self {
        Self {
            format,
            nodes: Vec::new(),
            copied_bytes: 0,
        }
    }

    /// Adds a value below a node, or at the top level, and returns the index of its node.
    pub(super) fn add(
        &mut self,
        parent: Option<usize>,
        key: impl Into<NodeKey>,
        value: SettingValue,
    ) -> Result<usize, SettingsError> {
        let depth = 1 + parent.map_or(0, |parent| self.nodes[parent].depth);
        if depth > MAX_SETTINGS_DEPTH {
            return Err(SettingsError::TooDeep { line: value.line });
        }
        if let Some(parent) = parent {
            let kind = &mut self.nodes[parent].value.kind;
            if *kind == SettingKind::EmptyCollection {
                *kind = SettingKind::Collection;
            }
        }
        self.nodes.push(Node {
            parent,
            depth,
            key: key.into(),
            value,
        });
        Ok(self.nodes.len() - 1)
    }

    /// Adds an empty list or table, and returns the index of its node.
    pub(super) fn add_collection(
        &mut self,
        parent: Option<usize>,
        key: impl Into<NodeKey>,
        line: usize,
    ) -> Result<usize, SettingsError> {
        let value = SettingValue::new(SettingKind::EmptyCollection, "", line);
        self.add(parent, key, value)
    }

    /// Number of nodes: the index of the next one.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn value(&self, node: usize) -> &SettingValue {
        &self.nodes[node].value
    }

    /// Returns the nodes directly below the first node of `within`.
    pub(super) fn children(&self, within: Range<usize>) -> Vec<usize> {
        let parent = Some(within.start);
        within
            .filter(|node| self.nodes[*node].parent == parent)
            .collect()
    }

    /// Returns the indexes of a node and of all nodes below it, which are before `end`.
    pub(super) fn subtree(&self, node: usize, end: usize) -> Range<usize> {
        let depth = self.nodes[node].depth;
        let below = (node + 1..end)
            .take_while(|below| self.nodes[*below].depth > depth)
            .count();
        node..node + 1 + below
    }

    /// Copies a node and the nodes below it to another parent. `key` replaces the key of the node.
    pub(super) fn copy(
        &mut self,
        nodes: Range<usize>,
        parent: Option<usize>,
        key: Option<NodeKey>,
    ) -> Result<(), SettingsError> {
        let (from, to) = (nodes.start, self.nodes.len());
        let mut new_key = key;
        for index in nodes {
            let node = &self.nodes[index];
            let key = new_key.take().unwrap_or_else(|| node.key.clone());
            let name_bytes = match &key {
                NodeKey::Name(name) => name.len(),
                NodeKey::Index(_) => 1,
            };
            let value = node.value.clone();
            let parent = match node.parent {
                Some(old) if index > from => Some(old - from + to),
                _ => parent,
            };
            self.count_copy(name_bytes + value.text.len(), value.line)?;
            self.add(parent, key, value)?;
        }
        Ok(())
    }

    /// Counts a copy of a text.
    pub(super) fn count_copy(&mut self, bytes: usize, line: usize) -> Result<(), SettingsError> {
        self.copied_bytes += bytes + 1;
        if self.copied_bytes > MAX_SETTINGS_BYTES {
            return Err(SettingsError::TooManyCopies { line });
        }
        Ok(())
    }

    /// Returns `true` if a node is a value of a list.
    pub(super) fn is_item(&self, node: usize) -> bool {
        matches!(self.nodes[node].key, NodeKey::Index(_))
    }

    /// Returns the values at a path of keys, in the order of the text. `*` is any key or index, `[]`
    /// any value of a list; see [`PatternKey::Item`].
    ///
    /// Names are compared as the programs of the format compare them:
    ///
    /// - git: section and variable without case, subsection with case;
    /// - INI: options without case, sections with case; an option of `[DEFAULT]` belongs to every
    ///   section;
    /// - others: with case.
    #[cfg(test)]
    pub(crate) fn values(&self, path: &[&str]) -> Vec<SettingValue> {
        let keys: Vec<_> = path
            .iter()
            .map(|key| match *key {
                "*" => PatternKey::Any,
                "[]" => PatternKey::Item,
                name => PatternKey::Name(name.to_owned()),
            })
            .collect();
        self.nodes_at(&keys)
            .map(|node| self.value(node).clone())
            .collect()
    }

    /// Returns the nodes at a path.
    pub(super) fn nodes_at(&self, keys: &[PatternKey]) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |node| match keys {
            [outer @ .., PatternKey::Item] if self.is_single_value(*node) => {
                self.is_at(*node, keys) || (!outer.is_empty() && self.is_at(*node, outer))
            }
            _ => self.is_at(*node, keys),
        })
    }

    fn is_single_value(&self, node: usize) -> bool {
        !matches!(
            self.value(node).kind,
            SettingKind::Collection | SettingKind::EmptyCollection
        )
    }

    fn is_at(&self, node: usize, keys: &[PatternKey]) -> bool {
        if self.nodes[node].depth != keys.len() {
            return false;
        }
        let mut current = Some(node);
        for (level, key) in keys.iter().enumerate().rev() {
            let Some(node) = current.map(|index| &self.nodes[index]) else {
                return false;
            };
            let is_equal = match (key, &node.key) {
                (PatternKey::Any, _) | (PatternKey::Item, NodeKey::Index(_)) => true,
                (PatternKey::Item, NodeKey::Name(_)) => false,
                (PatternKey::Name(wanted), NodeKey::Index(index)) => wanted.parse() == Ok(*index),
                (PatternKey::Name(wanted), NodeKey::Name(name)) => {
                    self.is_same_name(name, wanted, level, level + 1 == keys.len())
                }
            };
            if !is_equal {
                return false;
            }
            current = node.parent;
        }
        true
    }

    fn is_same_name(&self, name: &str, wanted: &str, level: usize, is_last: bool) -> bool {
        match self.format {
            SettingsFormat::GitConfig if level == 0 || is_last => name.eq_ignore_ascii_case(wanted),
            SettingsFormat::Ini if level == 0 => name == wanted || name == "DEFAULT",
            // The reader has changed the options to small letters.
            SettingsFormat::Ini => name == wanted.to_lowercase(),
            _ => name == wanted,
        }
    }

    /// Returns the names in the path of a node, without indexes.
    #[cfg(test)]
    pub(super) fn names(&self, node: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut current = Some(node);
        while let Some(node) = current.map(|index| &self.nodes[index]) {
            if let NodeKey::Name(name) = &node.key {
                names.insert(0, name.clone());
            }
            current = node.parent;
        }
        names
    }

    /// Returns the path of a node: `tool.ruff.fix`, `plugins[0]`, `"a.b".c`.
    pub(super) fn path_text(&self, node: usize) -> String {
        let mut keys = Vec::new();
        let mut current = Some(node);
        while let Some(node) = current.map(|index| &self.nodes[index]) {
            keys.push(&node.key);
            current = node.parent;
        }
        let mut text = String::new();
        for key in keys.into_iter().rev() {
            match key {
                NodeKey::Index(index) => text.push_str(&format!("[{index}]")),
                NodeKey::Name(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    PatternKey::push_name(name, &mut text);
                }
            }
        }
        text
    }
}
