//! Words for people. In: numbers, sizes and names. Out: parts of a sentence.

use gix_object::bstr::{BStr, ByteSlice};
use hooks_runtime::display::{escape, shorten};

use super::commits::Quantity;

/// Maximum number of named files.
const MAX_NAMES: usize = 3;
/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 60;

/// Things of one kind: how many there are, and the first names.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedFiles {
    pub(super) number: usize,
    names: Vec<String>,
}

impl NamedFiles {
    pub(super) fn add(&mut self, name: &BStr) {
        self.number += 1;
        if self.names.len() < MAX_NAMES {
            self.names.push(name_of(name));
        }
    }

    /// Returns the names in parentheses; empty without things.
    pub(super) fn names(&self) -> String {
        match self.names.as_slice() {
            [] => String::new(),
            names if self.number > names.len() => format!(" ({}, …)", names.join(", ")),
            names => format!(" ({})", names.join(", ")),
        }
    }
}

/// Returns a name that is safe to show.
pub(super) fn name_of(name: &BStr) -> String {
    shorten(&escape(&name.to_str_lossy()), MAX_NAME_CHARS)
}

/// Returns a number with its noun, such as `at least 2 files`.
pub(super) fn counted(count: Quantity, one: &str, many: &str) -> String {
    let noun = if count.number == 1 { one } else { many };
    match count.at_least {
        true => format!("at least {} {noun}", count.number),
        false => format!("{} {noun}", count.number),
    }
}

/// Returns a size such as `3.1 MiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        let noun = if bytes == 1 { "byte" } else { "bytes" };
        return format!("{bytes} {noun}");
    }
    // Tenths, rounded down, without floating-point numbers.
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10 * 1024 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_rounded_down_to_tenths() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1_250, "1.2 KiB"),
            (3_250_586, "3.1 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
