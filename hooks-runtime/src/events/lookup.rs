//! Looks up a field of an event by its name.
//!
//! A map hashes a name to find it, which takes longer than to compare it with a few others;
//! most events have a few fields.

use serde_json::Value;

use crate::Map;

/// Maximum number of fields that are compared one by one.
const FEW: usize = 8;

#[inline]
pub(super) fn get<'m>(map: &'m Map, field: &str) -> Option<&'m Value> {
    if map.len() > FEW {
        return map.get(field);
    }
    let mut fields = map.iter();
    fields
        .find(|(name, _)| *name == field)
        .map(|(_, value)| value)
}

#[inline]
pub(super) fn get_mut<'m>(map: &'m mut Map, field: &str) -> Option<&'m mut Value> {
    if map.len() > FEW {
        return map.get_mut(field);
    }
    let mut fields = map.iter_mut();
    fields
        .find(|(name, _)| *name == field)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::{FEW, get, get_mut};
    use crate::Map;

    #[test]
    fn lookups_equal_those_of_the_map_for_any_number_of_fields() {
        let names = [
            "",
            "a",
            "aa",
            "ab",
            "b",
            "é",
            "tool",
            "tool_name",
            "tool_names",
        ];
        let names = names.map(str::to_owned).into_iter();
        let names: Vec<_> = names
            .chain((0..2 * FEW).map(|at| format!("{at:02}")))
            .collect();
        for fields in 0..=names.len() {
            let (present, _) = names.split_at(fields);
            let named = present.iter().cloned();
            let mut map: Map = named.zip((0..).map(Into::into)).collect();
            for name in &names {
                assert_eq!(get(&map, name), map.get(name), "`{name}` of {fields}");
                let expected = map.get(name).cloned();
                assert_eq!(
                    get_mut(&mut map, name).cloned(),
                    expected,
                    "`{name}` of {fields}"
                );
            }
        }
    }
}
