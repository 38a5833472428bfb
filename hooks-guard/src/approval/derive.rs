//! Derives the files that determine the effect of a command. In: a request and the parts of its
//! command. Out: [`Derivation`] with the lookups of the files, whether code runs that the command
//! does not show, and why an approval may not be remembered.

use std::path::{Component, Path};

use super::files::{Lookup, ScopeReader};
use super::package::{IncludeBase, IncludeFormat, scripts};
use crate::classify::{
    Classifier, Crud, FileOperation, Manifest, OutputSource, Part, Parts, Tables, UNKNOWN,
    UnseenCode, Word,
};
use crate::request::PermissionRequest;
use crate::rules::{NO_DIRECTORY, PathBase, start_of, words_of};

/// Maximum nesting of scripts in manifests.
const MAX_DEPTH: usize = 8;
/// Maximum number of lookups of one scope.
const MAX_LOOKUPS: usize = 400;

/// Manifests with scripts.
const SCRIPT_MANIFESTS: [&str; 3] = ["package.json", "composer.json", "deno.json"];

/// Placeholder in `package_scripts` for scripts of packages that the words do not name.
const OTHER_PACKAGE: &str = "elsewhere";

/// Options with which package managers run scripts of other packages.
const PACKAGE_OPTIONS: &[&str] = &[
    "-w",
    "--workspace",
    "--workspaces",
    "--ws",
    "-ws",
    "-r",
    "--recursive",
    "-F",
    "--filter",
    "--filter-prod",
];

/// A scope under construction.
#[derive(Debug)]
pub(super) struct Derivation<'a> {
    pub(super) lookups: Vec<Lookup>,
    pub(super) reader: ScopeReader,
    pub(super) runs_code: bool,
    pub(super) refused: Option<String>,
    cwd: Option<&'a Path>,
    home: &'a Path,
    /// Followed scripts of manifests, by manifest and name.
    followed: Vec<(String, String)>,
    depth: usize,
}

/// Where the parts of one command text run.
struct CommandContext {
    start: PathBase,
    /// Program directories before those of `PATH`.
    path: Vec<String>,
    /// Files that the text itself writes, with the part that does so if the part's input is meant.
    written: Vec<(Option<usize>, String)>,
}

impl<'a> Derivation<'a> {
    pub(super) fn new(request: &'a PermissionRequest, home: &'a Path) -> Self {
        Self {
            lookups: Vec::new(),
            reader: ScopeReader::default(),
            runs_code: false,
            refused: None,
            cwd: request.cwd.as_deref(),
            home,
            followed: Vec::new(),
            depth: 0,
        }
    }

    fn refuse(&mut self, why: impl Into<String>) {
        self.refused.get_or_insert_with(|| why.into());
    }

    fn add(&mut self, lookup: Lookup) {
        if self.lookups.len() >= MAX_LOOKUPS {
            self.refuse(format!(
                "the command depends on {MAX_LOOKUPS} files or more"
            ));
        } else if !self.lookups.contains(&lookup) {
            self.lookups.push(lookup);
        }
    }

    /// Adds all files that determine the effect of a request.
    pub(super) fn request(&mut self, request: &PermissionRequest, parts: &Parts) {
        if let Some(access) = &request.file {
            let start = PathBase::new(self.cwd, self.home);
            for path in &access.paths {
                self.links(&start, &path.to_string_lossy(), true);
            }
            return;
        }
        if request.is_command() {
            self.text(parts, self.cwd, Vec::new());
        }
    }

    /// Adds all files that determine the effect of a shell text.
    fn text(&mut self, parts: &Parts, cwd: Option<&Path>, path: Vec<String>) {
        if !parts.complete {
            self.runs_code = true;
            self.refuse("a part of the command is not understood");
            // The rest could be very large.
            return;
        }
        if let Some(why) = unknown_code_reason(parts.unseen_code) {
            self.refuse(why);
        }
        let goes_up = |cwd: &Path| cwd.components().any(|part| part == Component::ParentDir);
        if cwd.is_some_and(goes_up) {
            self.refuse("the directory contains `..`");
        }
        let mut place = CommandContext {
            start: start_of(parts, cwd, self.home),
            path,
            written: Vec::new(),
        };
        for (at, part) in parts.all.iter().enumerate() {
            match assigned_path(part, &place.start) {
                Some(folders) => place.path.extend(folders),
                None => self.refuse("the program's path is unknown until the command runs"),
            }
            // A file that is changed in place may be named as an input.
            let in_place = part.effect >= Crud::Update && !part.is_opaque;
            let operation = part.program();
            let operation = operation.and_then(|name| Tables::embedded().file_operation(name));
            let keeps_contents = matches!(
                operation,
                Some(FileOperation::Metadata | FileOperation::EmptyFolder)
            );
            let touched = part.path_effects.iter().filter(|_| !keeps_contents);
            let written = touched
                .chain(&part.redirections)
                .filter(|touch| (in_place || touch.effect != Crud::Read) && touch.path.known);
            if operation == Some(FileOperation::Link) {
                let words = part.words.iter().skip(1).filter(|word| word.known);
                let paths = words.flat_map(|word| place.start.paths(&word.text));
                place.written.extend(paths.map(|path| (None, path)));
            }
            for touch in written {
                let by = (touch.effect == Crud::Read).then_some(at);
                let paths = place.start.paths(&touch.path.text);
                place
                    .written
                    .extend(paths.into_iter().map(|path| (by, path)));
            }
        }
        let folders = place.start.folders.clone();
        for folder in folders.iter().skip(1).filter(|folder| is_known(folder)) {
            self.add(Lookup::Link(folder.clone()));
        }
        let mut replaced = None;
        for (at, part) in parts.all.iter().enumerate() {
            if let Some(program) = replaced
                && (part.is_opaque || !part.code_files.is_empty())
            {
                self.refuse(format!("`{program}` may change later commands"));
            }
            if part.replaces_files && part.effect > Crud::Read {
                replaced = part.program();
            }
            // Reads need no approval.
            let asks = part.effect > Crud::Read || part.ask || part.is_opaque;
            if self.lookups.len() >= MAX_LOOKUPS {
                self.refuse(format!(
                    "the command depends on {MAX_LOOKUPS} files or more"
                ));
                return;
            }
            if asks || unknown_code_reason(part.unseen_code).is_some() {
                self.part(at, part, parts, &place);
            }
        }
    }

    fn part(&mut self, at: usize, part: &Part, parts: &Parts, place: &CommandContext) {
        let before = self.lookups.len();
        self.runs_code |= part.is_opaque;
        if let Some(why) = unknown_code_reason(part.unseen_code) {
            self.refuse(why);
        }
        if let Some(program) = part.words.first().and_then(Word::value)
            && !program.contains('/')
            && !program.is_empty()
        {
            self.add(Lookup::Program(program.to_owned(), place.path.clone()));
            // Some programs run a file by its name, such as `uv run`.
            for path in place.start.paths(program) {
                if is_known(&path) && Path::new(&path).is_file() {
                    self.add(Lookup::File(path));
                }
            }
        }
        for touch in part.path_effects.iter().chain(&part.redirections) {
            if touch.path.known {
                self.links(&place.start, &touch.path.text, touch.effect > Crud::Read);
            }
        }
        for file in &part.code_files {
            self.code_file(file, place);
        }
        for file in &part.settings_files {
            self.settings_file(file, place);
        }
        self.manifests(part, place);
        self.input(part, parts, place);
        for script in &part.package_scripts {
            self.script(script, place);
        }
        let mut options = part.calls.iter().flat_map(|call| &call.options);
        if !part.package_scripts.is_empty()
            && options.any(|(name, _)| PACKAGE_OPTIONS.contains(&&**name))
        {
            self.refuse("the command runs scripts of other packages");
        }
        if part.is_opaque && part.code_files.is_empty() {
            self.named_files(part, place);
        }
        self.includes(before, place);
        let written = |lookup: &Lookup| {
            let by_others = place.written.iter().filter(|(by, _)| *by != Some(at));
            let found = |(by, path): &&(Option<usize>, String)| {
                lookup.finds(path) || by.is_none() && lookup.is_below(path)
            };
            let mut found = by_others.filter(found);
            found.next().map(|(_, path)| path)
        };
        if let Some(path) = self.lookups[before..].iter().find_map(written) {
            let path = path.clone();
            let is_cwd = self.cwd.is_some_and(|cwd| cwd == Path::new(&path));
            let path = if is_cwd { "." } else { &path };
            self.refuse(format!("the command itself writes `{path}`"));
        }
    }

    /// Adds a file whose code runs.
    fn code_file(&mut self, file: &Word, place: &CommandContext) {
        self.runs_code = true;
        if is_stdin(&file.text) {
            return;
        }
        let Some(paths) = self.paths(file, place) else {
            return;
        };
        let (there, missing): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| Path::new(path).exists());
        if there.is_empty() {
            // A service in a container does not see the agent's files, unless it has read the
            // manifest that names them.
            if self.depth == 0 {
                self.refuse(format!("`{}` does not exist", file.text));
            }
            // If the file appears, the scope changes.
            missing
                .into_iter()
                .for_each(|path| self.add(Lookup::File(path)));
            return;
        }
        there
            .into_iter()
            .for_each(|path| self.add(Lookup::File(path)));
        for path in missing {
            self.add(optional_lookup(&path));
        }
    }

    /// Adds a settings file, if it exists.
    fn settings_file(&mut self, file: &Word, place: &CommandContext) {
        if is_stdin(&file.text) {
            return;
        }
        for path in self.paths(file, place).unwrap_or_default() {
            if Path::new(&path).exists() {
                self.add(Lookup::File(path));
            }
        }
    }

    /// Returns the paths that a word may mean; refuses a word that is unknown until the command
    /// runs.
    fn paths(&mut self, file: &Word, place: &CommandContext) -> Option<Vec<String>> {
        let text = &file.text;
        if !file.known {
            self.refuse("the file to run is unknown until the command runs");
            return None;
        }
        if text.contains("://") {
            self.refuse(format!("`{text}` is downloaded when the command runs"));
            return None;
        }
        let paths = place.start.paths(text);
        if paths.iter().any(|path| path.contains(NO_DIRECTORY)) {
            self.refuse("the request has no directory");
            return None;
        }
        if !paths.iter().all(|path| is_known(path)) {
            self.refuse(format!(
                "the path of `{text}` is unknown until the command runs"
            ));
            return None;
        }
        Some(paths)
    }

    /// Adds the files that a program looks up by fixed names.
    fn manifests(&mut self, part: &Part, place: &CommandContext) {
        let mut needed: Vec<&str> = Vec::new();
        let mut found = false;
        for Manifest {
            pattern,
            folder,
            required: is_needed,
            ..
        } in &part.manifests
        {
            let (base, pattern) = match pattern.strip_prefix("~/") {
                Some(pattern) => ("~", pattern),
                None => (".", pattern.as_str()),
            };
            let here = Word::literal(base);
            let Some(folders) = self.paths(folder.as_ref().unwrap_or(&here), place) else {
                return;
            };
            for folder in folders {
                let lookup = Lookup::Named(folder, pattern.to_owned());
                found |= *is_needed && !self.reader.resolve_one(&lookup).is_empty();
                self.add(lookup);
            }
            if *is_needed {
                needed.push(pattern);
            }
        }
        if !needed.is_empty() && !found && part.code_files.is_empty() {
            let names: Vec<_> = needed
                .iter()
                .map(|name| format!("`{}`", name.trim_start_matches('^')))
                .collect();
            self.refuse(match names.as_slice() {
                [one] => format!("{one} does not exist"),
                many => format!("none of {} exists", many.join(", ")),
            });
        }
    }

    /// Adds files that are read from standard input as instructions; refuses input that is executed
    /// and unknown until the command runs.
    fn input(&mut self, part: &Part, parts: &Parts, place: &CommandContext) {
        let named = part.code_files.iter().chain(&part.settings_files);
        let names_stdin = named.clone().any(|file| is_stdin(&file.text));
        let is_shown = part.code_files.is_empty() && part.manifests.is_empty();
        let runs = names_stdin || part.is_opaque && part.runs_input && is_shown;
        let output = part.program().and_then(output_source);
        if matches!(output, Some(OutputSource::Files | OutputSource::Words)) {
            return;
        }
        let mut read: Vec<&Word> = Vec::new();
        let around = std::iter::successors(Some(part), |part| parts.all.get(part.parent?));
        for part in around {
            let redirected = part.redirections.iter();
            let redirected = redirected.filter(|to| to.effect == Crud::Read);
            read.extend(redirected.map(|touch| &touch.path));
        }
        if part.runs_input && !part.is_opaque {
            // A list of arguments, such as that of `xargs -a`.
            let touches = part
                .path_effects
                .iter()
                .filter(|touch| touch.effect == Crud::Read);
            let files = touches.map(|touch| &touch.path);
            read.extend(files.filter(|file| !is_stdin(&file.text)));
        }
        let is_piped = read.is_empty() && part.input == Some(None);
        if is_piped && (runs || part.runs_input) {
            let sources = self.sources(part, parts);
            if runs && sources.is_none() {
                self.refuse("the executed input is unknown until the command runs");
            }
            read.extend(sources.unwrap_or_default());
        }
        for file in read {
            if runs {
                let paths = place.start.paths(&file.text);
                if file.known && paths.iter().any(|path| Path::new(path).is_dir()) {
                    self.refuse("the executed input is unknown until the command runs");
                }
                self.code_file(file, place);
            } else if file.known {
                let paths = place.start.paths(&file.text).into_iter();
                for path in paths.filter(|path| is_known(path) && Path::new(path).is_file()) {
                    self.add(Lookup::File(path));
                }
            }
        }
    }

    /// Returns the files whose content a part reads from a pipe; `None` if the pipe may have other
    /// content.
    fn sources<'p>(&self, part: &Part, parts: &'p Parts) -> Option<Vec<&'p Word>> {
        let above: Vec<&Part> =
            std::iter::successors(Some(part), |part| parts.all.get(part.parent?)).collect();
        let is_above = |other: &&Part| above.iter().any(|part| std::ptr::eq(*part, *other));
        let before = parts
            .runs()
            .filter(|other| other.start < part.start && !is_above(other));
        let mut files = Vec::new();
        for other in before {
            let output = output_source(other.program()?)?;
            if output == OutputSource::Nothing {
                continue;
            }
            let is_known = other.words.iter().all(|word| word.known) && !other.has_substitutions;
            if !is_known {
                return None;
            }
            let touched = other.path_effects.iter().chain(&other.redirections);
            let read = touched.filter(|touch| touch.effect == Crud::Read);
            files.extend(read.map(|touch| &touch.path));
        }
        (!files.is_empty()).then_some(files)
    }

    /// Adds the files that hidden code receives by name.
    fn named_files(&mut self, part: &Part, place: &CommandContext) {
        let assigned = part.assignments.iter().filter(|one| one.name != "PATH");
        let assigned = assigned.map(|one| &one.value);
        let words = part.words.iter().skip(1);
        let words = words.filter(|word| !word.text.starts_with("PATH="));
        for word in words.chain(assigned) {
            if word.text.contains(UNKNOWN)
                && part.manifests.is_empty()
                && !word.text.starts_with('-')
            {
                self.refuse("the file to run is unknown until the command runs");
                return;
            }
            if ["https://", "http://"]
                .iter()
                .any(|scheme| word.text.starts_with(scheme))
            {
                self.refuse(format!(
                    "`{}` is downloaded when the command runs",
                    word.text
                ));
            }
            if word.is_glob {
                self.pattern(word, place);
                continue;
            }
            for text in words_of(&word.text) {
                let paths = place.start.paths(text).into_iter();
                let is_there = |path: &str| match part.manifests.is_empty() {
                    true => Path::new(path).exists() && path != "/",
                    false => Path::new(path).is_file(),
                };
                for path in paths.filter(|path| is_known(path) && is_there(path)) {
                    if !place.written.contains(&(None, path.clone())) {
                        self.add(Lookup::File(path));
                    }
                }
            }
        }
    }

    fn pattern(&mut self, word: &Word, place: &CommandContext) {
        let (folder, name) = word.text.rsplit_once('/').unwrap_or((".", &word.text));
        if folder.contains(['*', '?', '[', '{']) || name.contains(['?', '[', '{', UNKNOWN]) {
            self.refuse("the files to run are unknown until the command runs");
            return;
        }
        let folder = Word::literal(folder);
        for folder in self.paths(&folder, place).unwrap_or_default() {
            self.add(Lookup::Named(folder, name.to_owned()));
        }
    }

    /// Adds what a script of a manifest runs.
    fn script(&mut self, name: &Word, place: &CommandContext) {
        self.runs_code = true;
        if name.text == OTHER_PACKAGE {
            self.refuse("the command runs scripts of other packages");
            return;
        }
        if !name.known {
            self.refuse("the script to run is unknown until the command runs");
            return;
        }
        let folders = place.start.folders.iter().filter(|folder| is_known(folder));
        for folder in folders.cloned().collect::<Vec<_>>() {
            for manifest in SCRIPT_MANIFESTS {
                let above = Path::new(&folder).ancestors();
                let nearest = above
                    .map(|folder| folder.join(manifest))
                    .find(|file| file.is_file());
                if let Some(file) = nearest {
                    self.scripts_of(&file, &name.text);
                }
            }
        }
    }

    fn scripts_of(&mut self, file: &Path, name: &str) {
        let key = (file.to_string_lossy().into_owned(), name.to_owned());
        if self.followed.contains(&key) {
            return;
        }
        self.add(Lookup::File(key.0.clone()));
        self.followed.push(key);
        let Some(manifest) = self.reader.text(file) else {
            self.refuse(format!("cannot read `{}`", file.display()));
            return;
        };
        let folder = file.parent().unwrap_or(file);
        let programs = folder
            .ancestors()
            .map(|folder| folder.join("node_modules/.bin"));
        let programs = programs.chain([folder.join("vendor/bin")]);
        let programs: Vec<String> = programs
            .filter(|folder| folder.is_dir())
            .map(|folder| folder.to_string_lossy().into_owned())
            .collect();
        for text in scripts(&manifest, name) {
            let found = Classifier::new().analyze(&text);
            match found {
                Ok(found) if self.depth < MAX_DEPTH => {
                    self.depth += 1;
                    self.text(&found.parts, Some(folder), programs.clone());
                    self.depth -= 1;
                }
                _ => self.refuse(format!("the script `{name}` is not understood")),
            }
        }
    }

    /// Adds the files that the found files include, directly or through other files.
    fn includes(&mut self, from: usize, place: &CommandContext) {
        let mut at = from;
        while let Some(lookup) = self.lookups.get(at).cloned() {
            at += 1;
            // Each lookup is resolved again for the scope, so only those that can find such a file.
            let may_include = match &lookup {
                // A file, or the files of a folder.
                Lookup::File(_) => true,
                Lookup::Named(_, name) => {
                    let name = name.rsplit('/').next().unwrap_or(name);
                    let name = name.trim_start_matches('^');
                    name.contains('*') || IncludeFormat::of(name).is_some()
                }
                Lookup::Link(_) | Lookup::Program(..) => false,
            };
            if !may_include {
                continue;
            }
            for file in self.reader.resolve_one(&lookup) {
                let path = Path::new(&file.path);
                let name = path.file_name().and_then(|name| name.to_str());
                let format = name
                    .filter(|_| file.is_content())
                    .and_then(IncludeFormat::of);
                let text = format.and_then(|format| Some((format, self.reader.text(path)?)));
                let Some((format, text)) = text else {
                    continue;
                };
                for one in format.includes(&text) {
                    let paths = match one.base {
                        IncludeBase::WorkingDirectory => place.start.paths(&one.path),
                        IncludeBase::OwnFolder => {
                            let own = PathBase::new(path.parent(), self.home);
                            own.paths(&one.path)
                        }
                    };
                    for path in paths.iter().filter(|path| is_known(path)) {
                        let paths = self.reader.in_folders(path);
                        paths
                            .iter()
                            .for_each(|path| self.add(optional_lookup(path)));
                    }
                }
            }
        }
    }

    /// Adds the targets of links on a path, so that a changed link changes the scope; if the path is
    /// written, also those of links that are placed later.
    fn links(&mut self, start: &PathBase, text: &str, is_written: bool) {
        for path in start.paths(text).into_iter().filter(|path| is_known(path)) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_link = |path: &str| {
                let real = std::fs::canonicalize(path);
                real.is_ok_and(|real| real != Path::new(path))
            };
            if is_written || is_link(&path) || is_link(folder) {
                self.add(Lookup::Link(path));
            }
        }
    }
}

/// Returns the lookup of a file that may be missing.
fn optional_lookup(path: &str) -> Lookup {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = if folder.is_empty() { "/" } else { folder };
    Lookup::Named(folder.to_owned(), name.to_owned())
}

/// Returns why code is unknown until it runs; files that an interpreter reads are followed
/// separately.
fn unknown_code_reason(source: Option<UnseenCode>) -> Option<String> {
    let source = source.filter(|source| *source != UnseenCode::Input)?;
    Some(format!("it {}", source.reason()))
}

/// Returns `true` if no part of a path is unknown until the command runs.
fn is_known(path: &str) -> bool {
    !path.contains(UNKNOWN) && !path.contains(NO_DIRECTORY)
}

fn output_source(program: &str) -> Option<OutputSource> {
    Tables::embedded().output_source(program)
}

fn is_stdin(file: &str) -> bool {
    matches!(file, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Returns the directories that a part puts before those of `PATH`; `None` if they are unknown.
fn assigned_path(part: &Part, start: &PathBase) -> Option<Vec<String>> {
    let assigned = part.assignments.iter();
    let assigned = assigned.filter(|one| one.name.trim_end_matches('+') == "PATH");
    let words = part
        .words
        .iter()
        .filter_map(|word| word.text.strip_prefix("PATH="));
    let mut folders = Vec::new();
    for value in assigned.map(|one| one.value.text.as_str()).chain(words) {
        let (old, new): (Vec<&str>, Vec<&str>) = value
            .split(':')
            .partition(|folder| folder.chars().eq([UNKNOWN]));
        // The previous value is one word, such as `$PATH`.
        if old.len() > 1 || new.is_empty() {
            return None;
        }
        for folder in new {
            folders.extend(start.paths(folder));
        }
    }
    folders
        .iter()
        .all(|folder| is_known(folder))
        .then_some(folders)
}
