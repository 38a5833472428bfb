//! Corrections of calls that would fail or never end here.

use std::ops::Range;

use hooks_guard::classify::{Classifier, Explanation, Part, Word};

/// Project folder on the machine where the sessions were recorded.
const RECORDED_ROOT: &str = "/workspace/tally";

/// Makes `path` relative to the project if it is inside the recorded folder.
pub(crate) fn relocate_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix(RECORDED_ROOT)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!(".{rest}"))
}

/// Makes every word of `command` inside the recorded folder relative.
pub(crate) fn relocate_command(command: &str) -> Option<String> {
    let explanation = Classifier::new().explain(command).ok()?;
    let parts = explanation.parts();
    let files = parts.redirections().map(|file| &file.path);
    let words = parts.runs().flat_map(|run| &run.words);
    let places = words.chain(files).filter_map(|word| {
        let source = command.get(word.start..word.end)?;
        let quote = usize::from(source.starts_with(['"', '\'']));
        let rest = source[quote..].strip_prefix(RECORDED_ROOT)?;
        let ends = rest.is_empty() || rest.starts_with(['/', '"', '\'']);
        let start = word.start + quote;
        ends.then(|| (start..start + RECORDED_ROOT.len(), "."))
    });
    replace(command, places.collect())
}

/// Makes each `tail` in `command` that would follow a file stop at its end. `explanation` is the
/// parsed command.
pub(crate) fn end_tail(command: &str, explanation: &Explanation) -> Option<String> {
    let waits = [
        "-f",
        "-F",
        "--follow",
        "--follow=name",
        "--follow=descriptor",
        "--retry",
    ];
    let tails = explanation.parts().runs().filter(|run| is(run, "tail"));
    let options = tails
        .flat_map(|run| &run.words)
        .filter_map(|Word { start, end, .. }| {
            // Includes the blank before it.
            waits
                .contains(&command.get(*start..*end)?)
                .then_some((start.saturating_sub(1)..*end, ""))
        });
    replace(command, options.collect())
}

/// Returns `true` if the part runs this program.
pub(crate) fn is(run: &Part, program: &str) -> bool {
    run.program() == Some(program)
}

/// Replaces the given ranges of `text`; `None` if there are none.
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
    use hooks_guard::classify::Classifier;

    use super::{relocate_command, relocate_path};

    fn end_tail(command: &str) -> Option<String> {
        let explanation = Classifier::new().explain(command);
        super::end_tail(command, &explanation.expect("a command"))
    }

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
        assert_eq!(
            end_tail("for f in a b; do tail -F $f; done").as_deref(),
            Some("for f in a b; do tail $f; done")
        );
        assert_eq!(end_tail("tail -n 5 log"), None);
        assert_eq!(end_tail("grep -f words log"), None);
    }
}
