//! The request as rules see it. In: a request with its classification. Out: its parts, directories,
//! paths and variables, resolved for matching.

use std::cell::OnceCell;
use std::path::Path;

use super::paths::{Directory, PathBase, ResolvedPath, WordPattern};
use super::project::Project;
use crate::classify::{CommandAnalysis, OutputSource, Part, Parts, Tables, UNKNOWN, Word};
use crate::request::PermissionRequest;

/// A request with its analysis.
#[derive(Debug)]
pub(super) struct RequestContext<'a> {
    pub(super) request: &'a PermissionRequest,
    pub(super) found: &'a CommandAnalysis,
    pub(super) start: PathBase,
    /// Names of the user's home directory.
    pub(super) homes: Vec<String>,
    /// Base of relative patterns in the user's rules.
    pub(super) base: Directory,
    /// Assignments and `export`s that belong to no part.
    pub(super) set: Vec<String>,
    project: OnceCell<Project>,
}

impl<'a> RequestContext<'a> {
    pub(super) fn new(
        request: &'a PermissionRequest,
        found: &'a CommandAnalysis,
        project: Option<&Directory>,
        home: &Path,
    ) -> Self {
        let base = match (project, &request.cwd) {
            (Some(project), _) => project.clone(),
            (None, Some(cwd)) => Directory::new(cwd),
            (None, None) => Directory::unknown(),
        };
        let mut start = PathBase::new(request.cwd.as_deref(), home);
        let mut set = Vec::new();
        if request.is_command() {
            for part in &found.parts.all {
                apply_directory_change(part, &mut start);
                collect_assignments(part, &mut set);
            }
        }
        Self {
            request,
            found,
            start,
            homes: Directory::new(home).names,
            base,
            set,
            project: OnceCell::new(),
        }
    }

    /// Returns the project of the request.
    pub(super) fn project(&self) -> &Project {
        self.project
            .get_or_init(|| Project::of(self.request.cwd.as_deref(), Path::new(&self.start.home)))
    }

    /// Returns `true` if a path is inside the project, with links followed, and not in git's own
    /// directory.
    pub(super) fn is_project_file(&self, path: &ResolvedPath) -> bool {
        self.project().holds(path) && !Project::is_of_git(path)
    }

    pub(super) fn parts(&self) -> &'a Parts {
        &self.found.parts
    }

    /// Returns `true` if the agent could type commands into a program of the command.
    pub(super) fn is_typed_into(&self) -> bool {
        self.request.can_type_into(&self.found.classification)
    }

    /// Returns the parts that run a part, innermost first.
    pub(super) fn around(&self, part: &'a Part) -> impl Iterator<Item = &'a Part> {
        let all = &self.parts().all;
        let mut next = part.parent;
        std::iter::from_fn(move || {
            let part = all.get(next?)?;
            next = part.parent;
            Some(part)
        })
    }

    pub(super) fn locate(&self, word: &Word) -> ResolvedPath {
        match word.known || word.text.contains(UNKNOWN) {
            true => self.start.locate(&word.text),
            // A pattern, or a word that may expand to several.
            false => self
                .start
                .locate(&format!("{UNKNOWN}{}", after_glob(&word.text))),
        }
    }

    /// Returns the paths that a part may touch: those of its table, and all that its words name.
    pub(super) fn touched_paths(&self, part: &Part) -> Vec<ResolvedPath> {
        let named = part.redirections.iter().chain(&part.path_effects);
        let mut out: Vec<ResolvedPath> = named.map(|touch| self.locate(&touch.path)).collect();
        if Tables::embedded().output_source(name_of(part)) == Some(OutputSource::Words) {
            return out;
        }
        let understood = part.is_understood();
        for word in part.words.iter().skip(1) {
            // The table has named the files of an understood command; skip its other unknown words.
            if understood && !word.known {
                continue;
            }
            for text in candidates(&word.text) {
                out.push(self.locate(&word.with_text(text)));
            }
            if let Some(text) = path_in_revision(&word.text) {
                out.push(self.locate(&word.with_text(text)));
                // It starts at the root of the repository, whatever the directory of the command.
                let at_root = self.base.names.iter().map(|base| format!("{base}/{text}"));
                out.extend(at_root.map(|path| self.locate(&word.with_text(&path))));
            }
        }
        out
    }

    /// Returns `true` if an argument fits a pattern. A pattern with `/` is one of paths: it is
    /// compared with the path without `.`, `..` and links, relative to `base`.
    pub(super) fn argument_fits(
        &self,
        base: &Directory,
        pattern: &WordPattern,
        word: &str,
    ) -> bool {
        let glob = pattern.text();
        if !glob.contains('/') || word.contains("://") {
            return pattern.is_match(word);
        }
        // `--cov=src/*` has a path after the name of the option.
        let (option, path) = match word.split_once('=') {
            Some((option, path)) if word.starts_with('-') => (format!("{option}="), path),
            _ => (String::new(), word),
        };
        let end = if path.ends_with('/') { "/" } else { "" };
        let of_glob = glob.strip_prefix(option.as_str()).unwrap_or(glob);
        let relative = |name: &str| match of_glob.chars().next() {
            Some('/') => Some(name.to_owned()),
            Some('~') => {
                let mut homes = self.homes.iter();
                homes.find_map(|home| Some(format!("~{}", name.strip_prefix(home.as_str())?)))
            }
            // A word that only a path can be: `./x` for `go run`.
            _ if of_glob.starts_with("./") => {
                let is_path = path.starts_with(['.', '/', '~']);
                let rest = base.strip_prefix(name).filter(|_| is_path)?;
                Some(format!("./{rest}"))
            }
            _ => base.strip_prefix(name).map(str::to_owned),
        };
        let located = self.start.locate(path);
        let fits = |name: &String| {
            relative(name).is_some_and(|path| pattern.is_match(&format!("{option}{path}{end}")))
        };
        located.known() && located.names.iter().all(fits)
    }
}

/// Returns the path in a word of git: `HEAD:src/a`, `:/src/a`, `:(icase)src/a`.
fn path_in_revision(word: &str) -> Option<&str> {
    if word.contains("://") {
        return None;
    }
    let (revision, path) = word.split_once(':')?;
    let path = match revision.is_empty() {
        true if path.starts_with('(') => path.split_once(')')?.1,
        true => path.trim_start_matches(['/', '!', '^']),
        false => path,
    };
    (!path.is_empty() && !path.starts_with('/')).then_some(path)
}

/// Returns the paths that a word may name: the word itself, or the text after `=` or a one-letter
/// option.
pub(crate) fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    let joined = word
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with('-'))
        .and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
    let own = (!word.starts_with('-')).then_some(word);
    own.into_iter().chain(value).chain(joined)
}

fn after_glob(text: &str) -> &str {
    text.rfind(['*', '?', ']', '[', ' '])
        .map_or(text, |at| &text[at + 1..])
}

/// Returns the last component of a program's path.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the name of a part's program without its folder; empty if the part has no words.
pub(super) fn name_of(part: &Part) -> &str {
    part.words.first().map_or("", |word| base_name(&word.text))
}

/// Returns the directories in which the parts of a command may run.
pub(crate) fn start_of(parts: &Parts, cwd: Option<&Path>, home: &Path) -> PathBase {
    let mut start = PathBase::new(cwd, home);
    for part in &parts.all {
        apply_directory_change(part, &mut start);
    }
    start
}

fn apply_directory_change(part: &Part, start: &mut PathBase) {
    let mut go = |word: &Word| match word.known {
        true => start.change_directory(&word.text),
        false => start.change_directory(&UNKNOWN.to_string()),
    };
    if Tables::embedded().changes_directory(name_of(part)) {
        match part.words[1..].iter().find(|w| !w.text.starts_with('-')) {
            Some(word) => go(word),
            None if part.words.len() == 1 => start.change_directory("~"),
            None => start.change_directory(&UNKNOWN.to_string()),
        }
        return;
    }
    const OPTIONS: &[&str] = &[
        "-C",
        "--directory",
        "--chdir",
        "-chdir",
        "--cwd",
        "-D",
        "--git-dir",
        "--work-tree",
        "--prefix",
    ];
    let given = part.calls.iter().flat_map(|call| &call.options);
    for (_, value) in given.filter(|(name, _)| OPTIONS.contains(&name.as_str())) {
        value.iter().for_each(&mut go);
    }
    // No table describes these words.
    for (at, word) in part.words.iter().enumerate().skip(1) {
        if OPTIONS.contains(&word.text.as_str())
            && let Some(next) = part.words.get(at + 1)
        {
            go(next);
        } else if let Some((name, value)) = word.text.split_once('=')
            && OPTIONS.contains(&name)
        {
            go(&word.with_text(value));
        }
    }
}

/// Returns `true` if a part sets variables by its arguments, such as `export` and `env`.
pub(super) fn sets_variables(part: &Part) -> bool {
    let (tables, name) = (Tables::embedded(), name_of(part));
    // `set NAME=VALUE` of the Windows command shell.
    name == "set" || tables.sets_variables(name) || tables.sets_shell_variables(part)
}

fn collect_assignments(part: &Part, set: &mut Vec<String>) {
    if part.words.is_empty() {
        set.extend(part.assignments.iter().map(|one| variable(&one.name)));
    } else if Tables::embedded().sets_shell_variables(part) {
        let words = part.words[1..].iter().filter(|w| !w.text.starts_with('-'));
        set.extend(words.map(|word| variable(&word.text)));
    }
}

/// Returns the variable's name of an assignment.
pub(super) fn variable(text: &str) -> String {
    let name = text.split('=').next().unwrap_or(text);
    name.trim_end_matches('+')
        .split('[')
        .next()
        .unwrap_or(name)
        .to_owned()
}
