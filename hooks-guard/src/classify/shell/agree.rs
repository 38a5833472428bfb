//! Two readings of one text, and whether they mean the same.

use super::nesting::{CAP, SHALLOW, depth};
use super::{Script, brush, tree};

/// What the two parsers made of a text.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Both read the same.
    Agreed(Script),
    /// Each read something else.
    Disputed(Script, Script),
    /// Only one could read it.
    Single(Script),
    /// Neither could, or the text nests too deeply to try.
    Unreadable(&'static str),
}

/// Reads `text` with both parsers.
pub(crate) fn parse(text: &str) -> Reading {
    let depth = depth(text);
    if depth > CAP {
        return Reading::Unreadable("it is nested too deeply to be parsed");
    }
    if depth <= SHALLOW {
        return compare(text, depth);
    }
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || compare(text, depth))
            .ok()
            .and_then(|thread| thread.join().ok())
            .unwrap_or(Reading::Unreadable("it could not be parsed"))
    })
}

/// Deeper than this, a text that one parser cannot read is not given to the
/// other, which backtracks and may take time that doubles with every level.
const BACKTRACKS: usize = 6;

fn compare(text: &str, depth: usize) -> Reading {
    let other = tree::parse(text);
    if other.is_none() && depth > BACKTRACKS {
        return Reading::Unreadable("it is no complete shell command");
    }
    match (brush::parse(text), other) {
        (Some(one), Some(other)) if one == other => Reading::Agreed(one),
        (Some(one), Some(other)) => Reading::Disputed(one, other),
        (Some(one), None) | (None, Some(one)) => Reading::Single(one),
        (None, None) => Reading::Unreadable("it is no complete shell command"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parsers_mean_the_same() {
        for text in [
            "a && b > c",
            "a && b 2>&1 | d",
            "a && b < c | d && e",
            "pid=$(ss -l 'sport = :3000' | grep -oP 'pid=\\K\\d+' | head -1); [ -n \"$pid\" ] && tr '\\0' ' ' < \"/proc/$pid/cmdline\"",
            "psql \"$U\" <<'SQL'\n\\timing on\nSELECT a\nLIMIT 5;\nSQL",
            "a <<X && b\nt\nX",
            "cat <<X | grep y > z\nt $(ls)\nX",
        ] {
            match parse(text) {
                Reading::Agreed(_) => {}
                other => panic!("{text:?}: {other:#?}"),
            }
        }
    }
}
