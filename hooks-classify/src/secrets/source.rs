//! Positions of expanded text in a command: a value and the part of the command that it comes from in, the
//! place of each of its bytes out.

use std::ops::Range;

use crate::model::arg::UNKNOWN;

/// Maximum number of places at which a value is looked for.
const MAX_STARTS: usize = 200;

/// Characters that a shell removes from a word, or that escape the next one.
const QUOTING: &[u8] = b"'\"\\$";

/// Place of each byte of a value in a command. A byte of an expansion has none.
#[derive(Debug)]
pub(crate) struct SourceMap {
    places: Vec<Option<Place>>,
}

/// Place of a byte in a command, with the escape before it.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    end: usize,
}

impl SourceMap {
    /// Finds a value in a part of a command, from which a shell removed quotes. Prefers a place at
    /// the end of the part: a value follows its name. Returns `None` if the value is not written
    /// there.
    pub(crate) fn find(command: &str, part: Range<usize>, value: &str) -> Option<Self> {
        let source = command.as_bytes().get(part.clone())?;
        let first = *value.as_bytes().first()?;
        let starts_unknown = value.starts_with(UNKNOWN);
        let escaped = |at: usize| source[at] == b'\\' && unescaped(source, at) == Some(first);
        let starts = (0..source.len())
            .filter(|at| starts_unknown || source[*at] == first || escaped(*at))
            .take(MAX_STARTS);
        let (mut earliest, mut delimited) = (None, None);
        for start in starts {
            let Some((places, end)) = align(source, start, value) else {
                continue;
            };
            let is_at_end = source[end..].iter().all(|byte| QUOTING.contains(byte));
            let moved = places.into_iter().map(|place| {
                place.map(|Place { start, end }| Place {
                    start: start + part.start,
                    end: end + part.start,
                })
            });
            let map = Self {
                places: moved.collect(),
            };
            if is_at_end {
                return Some(map);
            }
            let is_end = |at: usize| {
                let byte = source.get(at);
                byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"_-./".contains(byte))
            };
            match is_end(end) && start.checked_sub(1).is_none_or(is_end) {
                true => delimited.get_or_insert(map),
                false => earliest.get_or_insert(map),
            };
        }
        delimited.or(earliest)
    }

    /// Returns the ranges of the command that a range of the value comes from, without expansions.
    pub(crate) fn ranges(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut is_joined = false;
        for place in self.places.get(range).unwrap_or_default() {
            match (place, ranges.last_mut()) {
                (Some(place), Some(last)) if is_joined => last.end = place.end,
                (Some(place), _) => ranges.push(place.start..place.end),
                (None, _) => {}
            }
            is_joined = place.is_some();
        }
        ranges
    }
}

/// Returns the place of each byte of a value in a text with quotes, from `start` on, and where it
/// ends there.
fn align(source: &[u8], start: usize, value: &str) -> Option<(Vec<Option<Place>>, usize)> {
    let mut places = Vec::with_capacity(value.len());
    let mut at = start;
    for (number, known) in value.split(UNKNOWN).enumerate() {
        if number > 0 {
            places.extend(std::iter::repeat_n(None, UNKNOWN.len_utf8()));
        }
        if known.is_empty() {
            continue;
        }
        let (found, end) = match number {
            0 => align_known(source, at, known.as_bytes())?,
            // The text after an expansion of unknown length.
            _ => (at..source.len()).find_map(|from| align_known(source, from, known.as_bytes()))?,
        };
        places.extend(found.into_iter().map(Some));
        at = end;
    }
    Some((places, at))
}

fn align_known(source: &[u8], start: usize, value: &[u8]) -> Option<(Vec<Place>, usize)> {
    let mut places = Vec::with_capacity(value.len());
    let mut at = start;
    for byte in value {
        loop {
            let here = *source.get(at)?;
            if here == *byte {
                let is_escaped = at > start && source[at - 1] == b'\\' && !matches!(here, b'\\');
                let is_free = places.last().is_none_or(|last: &Place| last.end < at);
                places.push(Place {
                    start: at - usize::from(is_escaped && is_free),
                    end: at + 1,
                });
                at += 1;
                break;
            }
            if here == b'\\' && unescaped(source, at) == Some(*byte) {
                places.push(Place {
                    start: at,
                    end: at + 2,
                });
                at += 2;
                break;
            }
            // A here-document may lose its tabs, a line its end.
            let is_continued = here == b'\n' && at > 0 && source[at - 1] == b'\\';
            let is_removed = QUOTING.contains(&here) || here == b'\t' || is_continued;
            if !is_removed || places.is_empty() && at > start {
                return None;
            }
            at += 1;
        }
    }
    Some((places, at))
}

/// Returns the character of an escape in `$'…'`.
fn unescaped(source: &[u8], at: usize) -> Option<u8> {
    Some(match source.get(at + 1)? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'e' | b'E' => 27,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{SourceMap, UNKNOWN};

    fn written(source: &str, value: &str) -> Option<Vec<String>> {
        let map = SourceMap::find(source, 0..source.len(), value)?;
        let ranges = map.ranges(0..value.len());
        Some(
            ranges
                .into_iter()
                .map(|range| source[range].to_owned())
                .collect(),
        )
    }

    #[test]
    fn values_are_found_despite_quotes_escapes_and_expansions() {
        for (source, value, want) in [
            ("abc", "abc", vec!["abc"]),
            ("K=\"a\\\"b\"'c'", "a\"bc", vec!["a\\\"b\"'c"]),
            ("Pass=ass", "ass", vec!["ass"]),
            ("'mysql -ppw -e \"x y\"'", "-ppw", vec!["-ppw"]),
            ("$'a\\nb'", "a\nb", vec!["a\\nb"]),
        ] {
            assert_eq!(
                written(source, value),
                Some(want.into_iter().map(str::to_owned).collect()),
                "{source}"
            );
        }
        let value = format!("abc {UNKNOWN} x");
        let want = vec!["abc ".to_owned(), " x".to_owned()];
        assert_eq!(written("T=\"abc $(rm -rf src) x\"", &value), Some(want));
        assert_eq!(written("$P", "hunter2"), None);
    }
}
