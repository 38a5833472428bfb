//! Files of the project that a program loads although no word names them: a call in, the effects of
//! the files that are there out.
//!
//! The tables say which files and settings matter, by the key `loads`. Without a workspace, nothing is
//! looked at.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::analysis::{Analysis, Context};
use crate::model::arg::UNKNOWN;
use crate::model::effect::Effect;
use crate::model::io::Output;
use crate::model::span::Span;
use crate::model::workspace_view::{WorkspaceView, ancestors, join, parent};
use crate::options::call::{Call, ParsedOption};
use crate::secrets::secrets_in_text;
use crate::settings::pattern::SettingPattern;
use crate::settings::{Settings, SettingsError, SettingsFormat};
use crate::tables::{FileSearch, LoadRule, ShimFolder, matches};
use crate::workspace::{Answer, Entry};

/// Name of the folder or file that makes a folder a repository.
const REPOSITORY: &str = ".git";

/// Setting of a repository that names the folder of its hooks.
const HOOKS_SETTING: &str = "core.hooksPath";

/// Placeholder for the name of the command in a pattern of settings.
const COMMAND: &str = "{command}";

/// Folders that programs skip when they search a project: dependencies and caches.
const SKIPPED: &[&str] = &[REPOSITORY, "node_modules", ".venv", "venv", "__pycache__"];

/// A repository of git.
struct Repository {
    /// Folder at its top.
    folder: String,
    /// Folder with its settings.
    settings: String,
}

impl Repository {
    /// Returns the repository that contains a folder, or a file that cannot be looked at.
    fn around(view: &WorkspaceView<'_>, folder: &str) -> Result<Option<Self>, String> {
        for folder in ancestors(folder) {
            if let Some(settings) = Self::settings_at(view, folder)? {
                let folder = folder.to_owned();
                return Ok(Some(Self { folder, settings }));
            }
        }
        Ok(None)
    }

    /// Returns the folder with the settings of the repository whose top is a folder, or a file that
    /// cannot be looked at.
    fn settings_at(view: &WorkspaceView<'_>, folder: &str) -> Result<Option<String>, String> {
        let text = |path: String| match view.text(&path) {
            Answer::Known(text) => Ok(Some(text)),
            Answer::Absent => Ok(None),
            Answer::Unknown => Err(path),
        };
        let in_folder = |folder: &str, path: &str| match path.starts_with('/') {
            true => join("/", path),
            false => join(folder, path),
        };
        let inner = join(folder, REPOSITORY);
        match view.resolved_entry(&inner) {
            Answer::Unknown => Err(inner),
            Answer::Known(Entry::Folder) => Ok(Some(inner)),
            // Worktrees and submodules: `gitdir: PATH`.
            Answer::Known(Entry::File) => {
                let text_of_file = text(inner)?.unwrap_or_default();
                let Some(place) = text_of_file.trim().strip_prefix("gitdir:") else {
                    return Ok(None);
                };
                let place = in_folder(folder, place.trim());
                // A worktree has the settings of its repository.
                let common = text(join(&place, "commondir"))?;
                Ok(Some(match common {
                    Some(common) => in_folder(&place, common.trim()),
                    None => place,
                }))
            }
            // A folder with the layout of a repository without a working tree.
            Answer::Known(_) | Answer::Absent => {
                for part in ["HEAD", "objects", "refs", "config"] {
                    let part = join(folder, part);
                    match view.entry(&part) {
                        Answer::Known(_) => {}
                        Answer::Absent => return Ok(None),
                        Answer::Unknown => return Err(part),
                    }
                }
                Ok(Some(folder.to_owned()))
            }
        }
    }
}

/// Settings of a file, or the error in its text.
type ReadSettings = Rc<Result<Settings, SettingsError>>;

/// Repository that contains a folder, or a file that cannot be looked at.
type FoundRepository = Result<Option<Rc<Repository>>, String>;

/// Settings and repositories that were read for a call, whose rules share them.
#[derive(Default)]
struct ReadFiles {
    settings: RefCell<HashMap<(String, SettingsFormat), ReadSettings>>,
    repositories: RefCell<HashMap<String, FoundRepository>>,
}

impl ReadFiles {
    /// Returns the settings in the text of a file.
    fn settings(&self, file: &str, format: SettingsFormat, text: &str) -> ReadSettings {
        let mut known = self.settings.borrow_mut();
        let read = || Rc::new(Settings::read(format, text));
        Rc::clone(known.entry((file.to_owned(), format)).or_insert_with(read))
    }

    /// Returns the repository that contains a folder, or a file that cannot be looked at.
    fn repository(&self, view: &WorkspaceView<'_>, folder: &str) -> FoundRepository {
        let mut known = self.repositories.borrow_mut();
        if let Some(known) = known.get(folder) {
            return known.clone();
        }
        let found = Repository::around(view, folder).map(|found| found.map(Rc::new));
        known.insert(folder.to_owned(), found.clone());
        found
    }
}

/// Returns `true` if a call may load files of the project.
pub(crate) fn may_load_files(context: &Context<'_>, call: &Call) -> bool {
    !call.program.details.loads.is_empty() || shims(context, call).next().is_some()
}

/// Returns the folders of version managers that have a program of the name of a call.
fn shims<'a>(
    context: &'a Context<'_>,
    call: &'a Call,
) -> impl Iterator<Item = &'static ShimFolder> + 'a {
    let view = context.workspace;
    let name = call.path.split(' ').next().unwrap_or_default();
    let folders = view
        .home()
        .map_or(&[][..], |_| context.tables.shim_folders());
    folders.iter().filter(move |shims| {
        let folder = join(view.home().unwrap_or_default(), shims.folder);
        let is_there = |path: &str| matches!(view.entry(path), Answer::Known(_));
        is_there(&folder) && is_there(&join(&folder, name))
    })
}

/// Returns the effects of the files of the project that a call loads.
pub(crate) fn analyze_project_files(context: &Context<'_>, call: &Call, whole: Span) -> Analysis {
    let mut analysis = Analysis::new();
    let of_shims = shims(context, call).flat_map(|shims| shims.loads);
    let rules = call.program.details.loads.iter().chain(of_shims);
    let rules = rules.filter(|rule| rule.modules.is_empty());
    let rules: Vec<&LoadRule> = rules.filter(|rule| !is_off(context, call, rule)).collect();
    if rules.is_empty() {
        return analysis;
    }
    let Some(folders) = context.working_folders() else {
        let reason = format!(
            "`{}` loads files of its folder, which is only known when it runs",
            call.path
        );
        analysis.add_finding(Effect::Code, whole, reason);
        return analysis;
    };
    let read = ReadFiles::default();
    for folder in &folders {
        for rule in &rules {
            let search = RuleSearch {
                read: &read,
                view: context.workspace,
                call,
                rule,
                folder,
            };
            if let Some((effect, reason)) = search.run(context, &mut analysis) {
                analysis.add_finding(effect, whole, reason);
                return analysis;
            }
        }
    }
    analysis
}

/// Notes that a program imports a module of its library, or the named one, for which a file of the
/// project may be taken.
pub(crate) fn note_imports(
    analysis: &mut Analysis,
    context: &Context<'_>,
    call: &Call,
    module: Option<&str>,
    whole: Span,
) {
    let rules = call.program.details.loads.iter();
    let mut rules = rules.filter(|rule| !rule.modules.is_empty());
    let Some(rule) = rules.find(|rule| !is_off(context, call, rule)) else {
        return;
    };
    if !context.workspace.is_known() {
        return;
    }
    let name = &call.path;
    let Some(folders) = context.working_folders() else {
        let reason =
            format!("`{name}` imports modules from a folder that is only known when it runs");
        analysis.add_finding(Effect::Code, whole, reason);
        return;
    };
    for folder in &folders {
        let names = match context.workspace.names(folder) {
            Answer::Known(names) => names,
            Answer::Absent => continue,
            Answer::Unknown => {
                let reason =
                    format!("`{name}` imports modules from a folder that cannot be looked at");
                analysis.add_finding(Effect::Code, whole, reason);
                return;
            }
        };
        let module = names.iter().find_map(|file| {
            let stem = file.split('.').next().unwrap_or_default();
            if !rule.modules.contains(&stem) && module != Some(stem) {
                return None;
            }
            let mut files = rule.files.iter();
            files.find_map(|pattern| match pattern.strip_prefix("*/") {
                Some(inner) => {
                    let inner = format!("{file}/{inner}");
                    let is_there = context
                        .workspace
                        .entry(&join(folder, &inner))
                        .known()
                        .is_some();
                    is_there.then_some(inner)
                }
                None => matches(pattern, file).then(|| file.clone()),
            })
        });
        if let Some(file) = module {
            let place = join(folder, &file);
            analysis.record_optional_code_file(&place);
            let reason = format!(
                "`{name}` imports `{file}`, code of the project, for a module that is installed"
            );
            analysis.add_finding(Effect::Code, whole, reason);
            return;
        }
    }
}

/// Returns the output of a call that prints a folder: the one in which it runs, or the root of its
/// repository.
pub(crate) fn printed_folder(context: &Context<'_>, call: &Call) -> Output {
    let is_alone = |word: &str| matches!(call.args.as_slice(), [arg] if arg.text == word);
    let is_folder = call.path == "pwd" && call.args.is_empty();
    let is_root = call.path == "git rev-parse" && is_alone("--show-toplevel");
    let view = context.workspace;
    if !(is_folder || is_root) || !view.is_known() {
        return None;
    }
    let folders = context.working_folders()?;
    let [folder] = folders.as_slice() else {
        return None;
    };
    if is_folder {
        return Some(format!("{folder}\n"));
    }
    // Variables and settings name another root.
    let names_root = |name: &str| name.starts_with("GIT_");
    let assigned = context.environment.exported_assignments.iter();
    let variables = view.variables().known()?;
    if assigned.map(|(name, _)| name.as_str()).any(names_root)
        || variables.iter().any(|variable| names_root(&variable.name))
    {
        return None;
    }
    let Repository {
        folder: root,
        settings,
    } = Repository::around(view, folder).ok()??;
    // A repository without a working tree has no root, and git stops at an invalid file.
    let mut below = ancestors(folder).take_while(|folder| *folder != root);
    let is_certain = settings == join(&root, REPOSITORY)
        && below.all(|folder| view.entry(&join(folder, REPOSITORY)) == Answer::Absent);
    let text = view.text(&join(&settings, "config")).known()?;
    let names_other = text.to_ascii_lowercase().contains("worktree");
    (is_certain && !names_other).then(|| format!("{root}\n"))
}

/// Returns `true` unless the files of the settings that a call reveals are known to have no secret.
pub(crate) fn may_reveal_settings(context: &Context<'_>, call: &Call) -> bool {
    let files = call.program.details.reveals_from;
    let view = context.workspace;
    if files.is_empty() || !view.is_known() {
        return true;
    }
    let (Some(folders), Some(home)) = (context.working_folders(), view.home()) else {
        return true;
    };
    let above = folders.iter().flat_map(|folder| ancestors(folder));
    let mut places = above.chain([home]);
    places.any(|folder| {
        files
            .iter()
            .any(|file| match view.text(&join(folder, file)) {
                Answer::Known(text) => !secrets_in_text(&text).is_empty(),
                Answer::Absent => false,
                Answer::Unknown => true,
            })
    })
}

/// Returns `true` if an option or a variable keeps the program from loading the files, or no option
/// makes it load them.
fn is_off(context: &Context<'_>, call: &Call, rule: &LoadRule) -> bool {
    let command = call.path.rsplit(' ').next().unwrap_or_default();
    if !rule.names.is_empty() && !rule.names.contains(&command) {
        return true;
    }
    // The result goes to the standard output.
    let mut operands = call
        .operands
        .iter()
        .map(|operand| operand.arg.text.as_str());
    if rule.writes && !call.operands.is_empty() && operands.all(|operand| operand == "-") {
        return true;
    }
    let has = |entry: &&str, if_unknown| {
        let mut options = call.options.iter();
        options.any(|option| is_option(option, entry, if_unknown))
    };
    rule.off.iter().any(|entry| has(entry, false))
        || !rule.on.is_empty() && !rule.on.iter().any(|entry| has(entry, true))
        || (rule.off_variables.iter()).any(|entry| match entry.split_once('=') {
            Some((name, value)) => context.has_variable(name, value),
            None => context.is_variable_set(entry),
        })
}

/// Returns `true` if an option fits an entry, `NAME` or `NAME=VALUE`. `if_unknown` is the result for a
/// value that is only known when the command runs, and for an option that only some versions read.
fn is_option(option: &ParsedOption, entry: &str, if_unknown: bool) -> bool {
    if option.version_dependent && !if_unknown {
        return false;
    }
    let value = option.value.as_ref();
    match entry.split_once('=') {
        _ if option.name == entry => true,
        Some((name, text)) => {
            option.name == name
                && match value {
                    Some(value) if value.is_known() => matches(text, &value.text),
                    Some(_) => if_unknown,
                    None => text.is_empty(),
                }
        }
        None => false,
    }
}

/// Search for the files of one rule from one folder.
struct RuleSearch<'a> {
    read: &'a ReadFiles,
    view: &'a WorkspaceView<'a>,
    call: &'a Call,
    rule: &'a LoadRule,
    folder: &'a str,
}

impl RuleSearch<'_> {
    /// Returns the effect of the first file that decides, with the reason.
    fn run(&self, context: &Context<'_>, analysis: &mut Analysis) -> Option<(Effect, String)> {
        let instead = self.call.options.iter().filter(|option| {
            let mut names = self.rule.instead.iter();
            names.any(|name| option.name == *name)
        });
        let mut instead = instead
            .filter_map(|option| option.value.as_ref())
            .peekable();
        if instead.peek().is_some() {
            return instead.find_map(|value| self.judge_named(context, value.path(), analysis));
        }
        let folders = match self.folders() {
            Ok(folders) => folders,
            Err(folder) => return Some(self.unseen(&folder)),
        };
        if self.rule.search == FileSearch::Named {
            let mut files = self.named_files();
            if let Some(decided) = files.find_map(|file| {
                analysis.record_optional_code_file(&file);
                self.judge(&file)
            }) {
                return Some(decided);
            }
        }
        for folder in folders {
            if !self.is_beside(&folder) || self.has_other(&folder) {
                continue;
            }
            for file in self.rule.files {
                let found = match self.matching(&folder, file) {
                    Answer::Known(found) => found,
                    Answer::Absent => continue,
                    Answer::Unknown => return Some(self.unseen(&join(&folder, file))),
                };
                for path in found {
                    analysis.record_optional_code_file(&path);
                    if let Some(decided) = self.judge(&path) {
                        return Some(decided);
                    }
                }
            }
        }
        None
    }

    /// Returns the effect of a file, or of the files in a folder, that an option names.
    fn judge_named(
        &self,
        context: &Context<'_>,
        path: &str,
        analysis: &mut Analysis,
    ) -> Option<(Effect, String)> {
        let Some(path) = context.folder_at(path) else {
            return Some(self.unseen(path));
        };
        let ending = |path: &str| path.rsplit_once('.').map(|(_, ending)| ending.to_owned());
        let files = match self.view.resolved_entry(&path) {
            Answer::Known(Entry::Folder) => {
                let folders: Vec<String> = match self.rule.search {
                    FileSearch::Upwards => self.upwards(&path).collect(),
                    _ => vec![path],
                };
                let files = |folder: &String| {
                    let folder = folder.clone();
                    let files = self.rule.files.iter();
                    files.map(move |file| join(&folder, file))
                };
                folders.iter().flat_map(files).collect()
            }
            Answer::Known(Entry::File) => {
                let mut files = self.rule.files.iter();
                let is_code = files.any(|file| ending(file) == ending(&path));
                match is_code || self.rule.format.is_some() {
                    true => vec![path],
                    false => return None,
                }
            }
            Answer::Known(_) | Answer::Absent => return None,
            Answer::Unknown => return Some(self.unseen(&path)),
        };
        let mut files = files.iter();
        files.find_map(|file| {
            matches!(self.view.entry(file), Answer::Known(_)).then_some(())?;
            analysis.record_optional_code_file(file);
            self.judge(file)
        })
    }

    /// Returns `true` if a folder has one of the files that have to be there, or none has to.
    fn is_beside(&self, folder: &str) -> bool {
        let is_there = |file: &&str| {
            let found = self.matching(folder, file);
            !matches!(found, Answer::Absent) && found.known().is_none_or(|found| !found.is_empty())
        };
        self.rule.beside.is_empty() || self.rule.beside.iter().any(is_there)
    }

    /// Returns `true` if a folder has one of the files that must not be there.
    fn has_other(&self, folder: &str) -> bool {
        let mut others = self.rule.unless.iter();
        others.any(|file| matches!(self.view.entry(&join(folder, file)), Answer::Known(_)))
    }

    /// Returns the folders that are searched, or a folder that cannot be looked at.
    fn folders(&self) -> Result<Vec<String>, String> {
        Ok(match self.rule.search {
            FileSearch::Folder => vec![self.folder.to_owned()],
            FileSearch::Upwards => self.upwards(self.folder).collect(),
            FileSearch::Operands => return self.folders_of_operands(),
            FileSearch::Named => return self.named_folders(),
            FileSearch::Repository => {
                let found = self.repository()?;
                let settings = found.map(|found| found.settings.clone());
                settings.into_iter().collect()
            }
            FileSearch::Submodules => match self.repository()? {
                Some(found) => return self.submodules(&found.settings),
                None => Vec::new(),
            },
            FileSearch::Hooks => match self.repository()? {
                Some(found) => vec![self.hooks(&found)?],
                None => Vec::new(),
            },
        })
    }

    fn repository(&self) -> FoundRepository {
        self.read.repository(self.view, self.folder)
    }

    /// Returns a folder and the folders above it.
    fn upwards<'f>(&'f self, folder: &'f str) -> impl Iterator<Item = String> + 'f {
        // The files in the home folder are the user's own settings.
        let home = self.view.home();
        let above = ancestors(folder).take_while(move |folder| Some(*folder) != home);
        above.map(str::to_owned)
    }

    /// Returns the files and folders that the operands name, or the folder of the call without any.
    fn named_paths(&self) -> Vec<String> {
        let operands = self.call.operands.iter();
        let operands = operands.filter(|operand| operand.arg.text != "-");
        let mut paths: Vec<String> = operands
            .map(|operand| {
                // The program expands patterns in quotes itself; unknown words may be any files below.
                let path = operand.arg.path();
                let pattern = path.find(['*', '?', '[', '{', UNKNOWN]);
                let whole = pattern.map_or(path, |at| {
                    path[..at].rfind('/').map_or("", |end| &path[..end])
                });
                match whole.starts_with(['/', '~']) {
                    true => self.view.absolute(whole).unwrap_or_default(),
                    false => join(self.folder, whole),
                }
            })
            .collect();
        if paths.is_empty() {
            paths.push(self.folder.to_owned());
        }
        paths
    }

    /// Returns the files that the operands name.
    fn named_files(&self) -> impl Iterator<Item = String> {
        let mut paths = self.named_paths();
        paths.retain(|path| self.view.resolved_entry(path) == Answer::Known(Entry::File));
        paths.into_iter()
    }

    /// Returns the folders that the operands name, with those below them.
    fn named_folders(&self) -> Result<Vec<String>, String> {
        let mut folders = Vec::new();
        for path in self.named_paths() {
            match self.view.resolved_entry(&path) {
                Answer::Known(Entry::Folder) => folders.extend(self.below(&path)?),
                Answer::Unknown => return Err(path),
                Answer::Known(_) | Answer::Absent => {}
            }
        }
        Ok(folders)
    }

    /// Returns the folders of the files that the operands name with those above them, and the
    /// folders below if an operand is a folder.
    fn folders_of_operands(&self) -> Result<Vec<String>, String> {
        let starts = self.named_paths();
        let mut folders: Vec<String> = self.upwards(self.folder).collect();
        for start in starts {
            let start = match self.view.resolved_entry(&start) {
                Answer::Known(Entry::Folder) => {
                    for folder in self.below(&start)? {
                        if !folders.contains(&folder) {
                            folders.push(folder);
                        }
                    }
                    start
                }
                _ => parent(&start).unwrap_or("/").to_owned(),
            };
            for folder in self.upwards(&start) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        Ok(folders)
    }

    /// Returns the folders below a folder that may have one of the files.
    fn below(&self, folder: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let mut next = vec![folder.to_owned()];
        while let Some(folder) = next.pop() {
            let names = match self.view.names(&folder) {
                Answer::Known(names) => names,
                Answer::Absent => continue,
                Answer::Unknown => return Err(folder),
            };
            let has_file = names.iter().any(|name| {
                let mut files = self.rule.files.iter();
                files.any(|file| matches(file.split('/').next().unwrap_or_default(), name))
            });
            let inner = names
                .iter()
                .filter(|name| !SKIPPED.contains(&name.as_str()));
            next.extend(inner.map(|name| join(&folder, name)));
            if has_file {
                found.push(folder);
            }
        }
        Ok(found)
    }

    /// Returns the folders with the settings of the submodules of a repository.
    fn submodules(&self, settings: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let mut next = vec![join(settings, "modules")];
        while let Some(folder) = next.pop() {
            let names = match self.view.names(&folder) {
                Answer::Known(names) => names,
                Answer::Absent => continue,
                Answer::Unknown => return Err(folder),
            };
            if names.iter().any(|name| name == "config") {
                next.push(join(&folder, "modules"));
                found.push(folder);
            } else {
                next.extend(names.iter().map(|name| join(&folder, name)));
            }
        }
        Ok(found)
    }

    /// Returns the folder with the hooks of a repository, or a file that cannot be looked at.
    fn hooks(&self, repository: &Repository) -> Result<String, String> {
        let config = join(&repository.settings, "config");
        let setting = match self.view.text(&config) {
            Answer::Known(text) => {
                let settings = self
                    .read
                    .settings(&config, SettingsFormat::GitConfig, &text);
                let settings = settings.as_ref().as_ref().map_err(|_| config.clone())?;
                let pattern = SettingPattern::parse(HOOKS_SETTING).map_err(|_| config.clone())?;
                pattern.all_matches(settings).last()
            }
            Answer::Absent => None,
            Answer::Unknown => return Err(config),
        };
        let folder = setting.map(|found| found.value.text);
        Ok(match folder {
            Some(folder) if folder.starts_with(['/', '~']) => {
                self.view.absolute(&folder).ok_or(config)?
            }
            Some(folder) => join(&repository.folder, &folder),
            None => join(&repository.settings, "hooks"),
        })
    }

    /// Returns the files at a path whose name may be a pattern.
    fn matching(&self, folder: &str, file: &str) -> Answer<Vec<String>> {
        let path = join(folder, file);
        if !file.contains('*') {
            return self.view.entry(&path).map(|_| vec![path]);
        }
        let (inner, pattern) = path.rsplit_once('/').unwrap_or_default();
        let names = self.view.names(if inner.is_empty() { "/" } else { inner });
        names.map(|names| {
            let names = names.iter().filter(|name| matches(pattern, name));
            names.map(|name| join(inner, name)).collect()
        })
    }

    /// Returns the effect of a file that is there.
    fn judge(&self, path: &str) -> Option<(Effect, String)> {
        let name = &self.call.path;
        match self.view.entry(path) {
            Answer::Known(Entry::Link { target: None }) => return None,
            Answer::Known(Entry::Link {
                target: Some(target),
            }) if self.rule.inside_only && !self.is_inside(&target) => return None,
            _ => {}
        }
        if self.rule.settings.is_empty() {
            let shown = self.shown(path);
            let reason = match (self.rule.writes, self.rule.inside_only) {
                (true, _) => format!("`{name}` changes files because of `{shown}`"),
                _ if self.rule.creates => format!("`{name}` makes files beside `{shown}`"),
                (false, true) => format!("`{name}` runs `{shown}`, a program of the project"),
                (false, false) => format!("`{name}` loads `{shown}`, code of the project"),
            };
            return Some((self.effect(), reason));
        }
        let mut files = vec![path.to_owned()];
        let mut at = 0;
        while let Some(file) = files.get(at).cloned() {
            at += 1;
            let format = self.rule.format?;
            let text = match self.view.text(&file) {
                Answer::Known(text) => text,
                Answer::Absent => continue,
                Answer::Unknown => return Some(self.unseen(&file)),
            };
            let settings = self.read.settings(&file, format, &text);
            let settings = match settings.as_ref() {
                Ok(settings) => settings,
                Err(error) => {
                    let (shown, line) = (self.shown(&file), error.line());
                    let reason = format!(
                        "`{name}` reads settings in `{shown}:{line}`, which cannot be parsed"
                    );
                    return Some((self.effect(), reason));
                }
            };
            let command = name.rsplit(' ').next().unwrap_or_default();
            let parse = |text: &&str| SettingPattern::parse(&text.replace(COMMAND, command)).ok();
            let found = |text: &&str| parse(text)?.matches(settings);
            let is_met = self.rule.requires.iter().all(|text| found(text).is_some());
            if let Some(found) = self.rule.settings.iter().find_map(found).filter(|_| is_met) {
                let (setting, shown, line) = (&found.path, self.shown(&file), found.value.line);
                let reason = match self.effect() {
                    Effect::Code => {
                        format!("`{name}` runs what `{setting}` in `{shown}:{line}` names")
                    }
                    _ => {
                        format!("`{name}` writes files because of `{setting}` in `{shown}:{line}`")
                    }
                };
                return Some((self.effect(), reason));
            }
            for pattern in self.rule.follows {
                let Ok(pattern) = SettingPattern::parse(pattern) else {
                    continue;
                };
                for named in pattern.all_matches(settings).map(|found| found.value) {
                    let further = match self.followed(&file, &named.text) {
                        Ok(further) => further,
                        Err(folder) => return Some(self.unseen(&folder)),
                    };
                    for further in further {
                        if !files.contains(&further) {
                            files.push(further);
                        }
                    }
                }
            }
        }
        None
    }

    /// Returns the files that a setting of a file names: a file, or a folder or a pattern of folders
    /// with a file of the same name. Otherwise, returns a folder that cannot be looked at.
    fn followed(&self, file: &str, named: &str) -> Result<Vec<String>, String> {
        let (folder, name) = file.rsplit_once('/').unwrap_or_default();
        let path = match named.starts_with(['/', '~']) {
            true => (self.view.absolute(named)).unwrap_or_else(|| named.to_owned()),
            false => join(folder, named),
        };
        let mut paths = vec![String::from("/")];
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if !part.contains('*') {
                paths.iter_mut().for_each(|path| *path = join(path, part));
                continue;
            }
            let mut inner = Vec::new();
            for folder in paths {
                match self.view.names(&folder) {
                    Answer::Known(names) => {
                        let names = names.iter().filter(|name| matches(part, name));
                        inner.extend(names.map(|name| join(&folder, name)));
                    }
                    Answer::Absent => {}
                    Answer::Unknown => return Err(folder),
                }
            }
            paths = inner;
        }
        let is_folder = |path: &str| {
            let entry = self.view.resolved_entry(path);
            entry == Answer::Known(Entry::Folder)
        };
        let files = paths.into_iter().map(|path| match is_folder(&path) {
            true => join(&path, name),
            false => path,
        });
        Ok(files.collect())
    }

    fn effect(&self) -> Effect {
        match (self.rule.writes, self.rule.creates) {
            (true, _) => Effect::Update,
            (false, true) => Effect::Create,
            (false, false) => Effect::Code,
        }
    }

    /// Returns the effect of a file that the limits or the workspace keep from being looked at.
    fn unseen(&self, path: &str) -> (Effect, String) {
        let (name, shown) = (&self.call.path, self.shown(path));
        let reason = format!("`{name}` may load `{shown}`, which cannot be looked at");
        (self.effect(), reason)
    }

    /// Returns a path as it is shown: from the folder in which the command starts.
    fn shown(&self, path: &str) -> String {
        let start = self.view.absolute("").unwrap_or_default();
        let below = path.strip_prefix(&start);
        let below = below.and_then(|rest| rest.strip_prefix('/'));
        below.unwrap_or(path).to_owned()
    }

    /// Returns `true` if a path is in the project: in the repository, or below the folder.
    fn is_inside(&self, path: &str) -> bool {
        let is_repository =
            |folder: &&str| matches!(self.view.entry(&join(folder, REPOSITORY)), Answer::Known(_));
        let root = ancestors(self.folder)
            .find(is_repository)
            .unwrap_or(self.folder);
        let below = path.strip_prefix(root);
        below.is_some_and(|rest| rest.starts_with('/'))
    }
}
