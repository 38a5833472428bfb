//! Puts right what an agent meant well.

use std::ops::Range;

use super::programs;

/// Where the project lay when the sessions were recorded.
pub(crate) const RECORDED_ROOT: &str = "/workspace/tally";

/// `path` relative to the project, if it names the project's recorded place.
pub(crate) fn relocate_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix(RECORDED_ROOT)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!(".{rest}"))
}

/// `text` with every word that names the project's recorded place made relative.
pub(crate) fn relocate_command(text: &str) -> Option<String> {
    let script = programs::read(text).ok()?;
    let names = script.commands.iter().map(|command| &command.name);
    let places = names.chain(script.words()).filter_map(|word| {
        let source = text.get(word.place.clone())?;
        let quote = usize::from(source.starts_with(['"', '\'']));
        let rest = source[quote..].strip_prefix(RECORDED_ROOT)?;
        let ends = rest.is_empty() || rest.starts_with(['/', '"', '\'']);
        let start = word.place.start + quote;
        ends.then(|| (start..start + RECORDED_ROOT.len(), "."))
    });
    replace(text, places.collect())
}

/// `text` with each `tail` that would wait for more told to stop at the end.
pub(crate) fn end_tail(text: &str) -> Option<String> {
    let script = programs::read(text).ok()?;
    let tails = script
        .commands
        .iter()
        .filter(|command| command.program() == Some("tail"));
    let waits = [
        "-f",
        "-F",
        "--follow",
        "--follow=name",
        "--follow=descriptor",
        "--retry",
    ];
    let options = tails
        .flat_map(|command| &command.arguments)
        .filter_map(|word| {
            let Range { start, end } = word.place.clone();
            // With the blank that it stands behind.
            waits
                .contains(&text.get(start..end)?)
                .then_some((start.saturating_sub(1)..end, ""))
        });
    replace(text, options.collect())
}

/// `text` with each of the places replaced, if there are any.
fn replace(text: &str, mut places: Vec<(Range<usize>, &str)>) -> Option<String> {
    places.sort_by_key(|(place, _)| place.start);
    places.dedup_by_key(|(place, _)| place.start);
    let mut changed = text.to_owned();
    for (place, new) in places.iter().rev() {
        changed.replace_range(place.clone(), new);
    }
    (!places.is_empty()).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::{end_tail, relocate_command, relocate_path};

    #[test]
    fn the_recorded_place_becomes_relative() {
        assert_eq!(
            relocate_path("/workspace/tally/src/a").as_deref(),
            Some("./src/a")
        );
        assert_eq!(relocate_path("/workspace/tallyho"), None);
        assert_eq!(
            relocate_command(
                "cd /workspace/tally && cat \"/workspace/tally/a b\" > /workspace/tally/c"
            )
            .as_deref(),
            Some("cd . && cat \"./a b\" > ./c")
        );
        assert_eq!(relocate_command("cat /workspace/tallyho"), None);
        assert_eq!(relocate_command("echo '"), None);
    }

    #[test]
    fn tail_ends() {
        assert_eq!(
            end_tail("tail -f log | head").as_deref(),
            Some("tail log | head")
        );
        assert_eq!(end_tail("tail -n 5 log"), None);
    }
}
