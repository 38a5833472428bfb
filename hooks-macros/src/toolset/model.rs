//! Model of a tool set, in which every variant is a valid tool.

use syn::{Attribute, Ident, Type, Visibility};

/// A tool set.
pub(crate) struct ToolSet<'a> {
    pub(crate) vis: &'a Visibility,
    /// The enum.
    pub(crate) name: &'a Ident,
    /// `{Tools}Hooks`
    pub(crate) hooks: Ident,
    pub(crate) tools: Vec<Tool<'a>>,
}

/// One tool.
pub(crate) struct Tool<'a> {
    pub(crate) attrs: &'a [Attribute],
    pub(crate) variant: &'a Ident,
    /// The input.
    pub(crate) input: &'a Type,
    pub(crate) output: Type,
    /// Name in calls.
    pub(crate) name: String,
    /// Documentation of the variant.
    pub(crate) description: String,
    /// The slot of its hooks.
    pub(crate) slot: Ident,
    /// The trait of its hooks.
    pub(crate) hook: Ident,
}
