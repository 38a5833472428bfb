//! Documents of agents' settings. In: a text of JSON with comments, or of TOML. Out: its value.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;

/// Byte order mark.
pub(crate) const BOM: char = '\u{feff}';

/// Parser options: JSON with comments and trailing commas, without other extensions.
pub(crate) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Returns the value of a text of JSON with comments, if it parses.
pub(crate) fn json(text: &str) -> Option<Value> {
    let tree = CstRootNode::parse(text.strip_prefix(BOM).unwrap_or(text), &OPTIONS).ok()?;
    tree.to_serde_value()
}

/// Returns the value of a text of TOML, if it parses.
pub(crate) fn toml(text: &str) -> Option<Value> {
    let table = text.parse::<toml::Table>().ok()?;
    serde_json::to_value(table).ok()
}
