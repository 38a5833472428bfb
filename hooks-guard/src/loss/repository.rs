//! Data of a repository that a part discards: changes, untracked files, stashes and branches. In: the
//! data by the tables, the part and its directory. Out: clauses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use gix_glob::wildmatch::Mode;
use gix_hash::ObjectId;
use gix_object::bstr::{BStr, BString, ByteSlice, ByteVec};
use gix_object::{CommitRefIter, Kind, TreeRefIter};

use super::Survey;
use super::bounds::take;
use super::changes::Difference;
use super::commits::{Quantity, first_parent, only_in};
use super::deletion::Files;
use super::directory::PartDirectory;
use super::objects::Objects;
use super::place::{Place, Repository};
use super::references::{References, id_of};
use super::settings::read_bytes;
use super::text::{NamedFiles, counted, name_of, size};
use super::tree::{Entered, FileWalk, UNTRACKED, WorkTree};
use crate::classify::{DiscardedData, Part, PartCall, Tables, Word};

/// Options that select another repository, or settings for one call.
const OTHER_PLACES: [&str; 4] = ["--git-dir", "--work-tree", "-c", "--config-env"];
/// Option with a directory in which the program runs.
const DIRECTORY: &str = "-C";
/// Maximum size of the list of stashes, in bytes.
const MAX_STASH_BYTES: u64 = 1 << 20;

/// Tracked files that a word selects.
enum Selector {
    /// A file or folder, by its path below the root.
    Path(BString),
    Pattern(BString),
}

impl Selector {
    fn matches(&self, path: &BStr) -> bool {
        match self {
            Self::Path(own) if own.is_empty() => true,
            Self::Path(own) => {
                let rest = path.strip_prefix(own.as_bytes());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            }
            Self::Pattern(pattern) => gix_glob::wildmatch(pattern.as_ref(), path, Mode::empty()),
        }
    }
}

/// The repository in which a part runs.
struct Target {
    repository: Repository,
    directory: PathBuf,
}

impl Survey {
    /// Returns the clauses about data that a part discards.
    pub(super) fn discarded(
        &mut self,
        data: DiscardedData,
        part: &Part,
        directory: &PartDirectory,
    ) -> Vec<String> {
        let [call] = part.calls.as_slice() else {
            return Vec::new();
        };
        let Some(target) = self.target(call, directory) else {
            return Vec::new();
        };
        let clause = match data {
            DiscardedData::Changes => return self.changes(call, &target),
            DiscardedData::ChangesOfOperands => self.changes_of_operands(call, part, &target),
            DiscardedData::Untracked => self.untracked(call, part, &target, directory),
            DiscardedData::Stash => self.stash(call, &target),
            DiscardedData::AllStashes => all_stashes(&target),
            DiscardedData::Branches => return self.branches(call, &target),
            // Parts of `Untracked`.
            _ => None,
        };
        clause.into_iter().collect()
    }

    /// Returns the repository of a call.
    fn target(&self, call: &PartCall, directory: &PartDirectory) -> Option<Target> {
        let mut directory = directory.clone();
        for (name, value) in &call.options {
            let Some(value) = value else { continue };
            if name == DIRECTORY {
                directory = directory.enter(value)?;
            } else if OTHER_PLACES.contains(&name.as_str()) {
                return None;
            }
        }
        match Place::of(&directory.path, &self.user) {
            Place::Inside(repository) => Some(Target {
                repository: *repository,
                directory: directory.path,
            }),
            Place::Outside | Place::Unreadable => None,
        }
    }

    /// Returns the clauses about all uncommitted changes, and about commits that no reference has
    /// after the branch moves to the operand.
    fn changes(&mut self, call: &PartCall, target: &Target) -> Vec<String> {
        let Some(tree) = WorkTree::read(&target.repository, &mut self.bounds) else {
            return Vec::new();
        };
        let mut changed = NamedFiles::default();
        let mut at_least = tree.staged.at_least;
        let mut names = tree.staged.paths.clone();
        for entry in tree.index.entries() {
            let path = tree.index.path(entry);
            if names.contains(path) {
                continue;
            }
            match tree.index.difference(entry, &tree.root, &mut self.bounds) {
                Difference::Changed => {
                    names.insert(path.to_owned());
                }
                Difference::Unknown => at_least = true,
                Difference::None => {}
            }
        }
        for name in &names {
            changed.add(name.as_ref());
        }
        let mut clause = changes_clause(&changed, at_least);
        let mut files = Files::default();
        let mut walk = FileWalk::new(Some(&tree), UNTRACKED, &mut self.bounds);
        walk.only_untracked = true;
        files.add(&mut walk, &tree.root, &tree.root);
        if files.untracked.number > 0 {
            let count = files.count(files.untracked.number);
            let count = counted(count, "untracked file", "untracked files");
            clause += &format!(" and keep {count}");
        }
        let mut clauses = vec![clause];
        clauses.extend(self.left_commits(call, target));
        clauses
    }

    /// Returns the clause about the commits that no reference has after the branch moves.
    fn left_commits(&mut self, call: &PartCall, target: &Target) -> Option<String> {
        let [revision] = call.operands.as_slice() else {
            return None;
        };
        let references = References::read(&target.repository)?;
        let objects = target.objects();
        let text = revision.value()?;
        let new = references.revision(text, |id| first_parent(&objects, id))?;
        let head = references.head.commit?;
        let others = references.by_name.iter();
        let moved = references.head.branch.as_deref();
        let others = others.filter(|(name, _)| Some(name.as_str()) != moved);
        let mut others: Vec<ObjectId> = others.map(|(_, id)| *id).collect();
        others.push(new);
        let count = only_in(&objects, &[head], &others, &mut self.bounds.commits)?;
        (count.number > 0).then(|| {
            let commits = counted(count, "commit", "commits");
            format!("would leave {commits} on no branch or tag")
        })
    }

    /// Returns the clause about the changes of the files that the operands name.
    fn changes_of_operands(
        &mut self,
        call: &PartCall,
        part: &Part,
        target: &Target,
    ) -> Option<String> {
        let tree = WorkTree::read(&target.repository, &mut self.bounds)?;
        let end = part.words.iter().position(|word| word.text == "--");
        let words: Vec<&Word> = match end {
            Some(end) => part.words[end + 1..].iter().collect(),
            None => call.operands.iter().collect(),
        };
        let mut has_revision = end.is_some() && call.operands.len() > words.len();
        let mut selectors: Vec<Selector> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let selector = target.selector(word)?;
            let mut entries = tree.index.entries().iter();
            let is_tracked = entries.any(|entry| selector.matches(tree.index.path(entry)));
            match is_tracked {
                true => selectors.push(selector),
                // The first operand may be a revision.
                false if end.is_none() && at == 0 && words.len() > 1 => has_revision = true,
                false => return None,
            }
        }
        if selectors.is_empty() {
            return None;
        }
        let mut changed = NamedFiles::default();
        let mut at_least = has_revision && tree.staged.at_least;
        for entry in tree.index.entries() {
            let path = tree.index.path(entry);
            if !selectors.iter().any(|selector| selector.matches(path)) {
                continue;
            }
            // A revision also replaces the content in the index.
            if has_revision && tree.staged.paths.contains(path) {
                changed.add(path);
                continue;
            }
            match tree.index.difference(entry, &tree.root, &mut self.bounds) {
                Difference::Changed => changed.add(path),
                Difference::Unknown => at_least = true,
                Difference::None => {}
            }
        }
        Some(changes_clause(&changed, at_least))
    }

    /// Returns the clause about untracked files.
    fn untracked(
        &mut self,
        call: &PartCall,
        part: &Part,
        target: &Target,
        directory: &PartDirectory,
    ) -> Option<String> {
        // A value excludes files.
        let excludes =
            |(name, value): &(String, Option<Word>)| value.is_some() && name != DIRECTORY;
        if call.options.iter().any(excludes) {
            return None;
        }
        let data = Tables::embedded().discards(part);
        let ignored = data.contains(&DiscardedData::Ignored);
        let only_ignored = data.contains(&DiscardedData::OnlyIgnored);
        let folders = data.contains(&DiscardedData::UntrackedFolders) || !call.operands.is_empty();
        let tree = WorkTree::read(&target.repository, &mut self.bounds)?;
        let mut directory = directory.clone();
        directory.path.clone_from(&target.directory);
        let mut paths = Vec::new();
        for operand in &call.operands {
            let is_pattern =
                operand.text.contains(['*', '?', '[']) || operand.text.starts_with(':');
            let path = directory.resolve(operand).filter(|_| !is_pattern)?;
            paths.push(path.starts_with(&tree.root).then_some(path)?);
        }
        if paths.is_empty() {
            paths.push(target.directory.clone());
        }
        let entered = Entered {
            untracked: folders,
            mixed: only_ignored,
            ignored: folders && (ignored || only_ignored),
            repositories: false,
        };
        let mut files = Files::default();
        for path in &paths {
            let mut walk = FileWalk::new(Some(&tree), entered, &mut self.bounds);
            walk.only_untracked = true;
            files.add(&mut walk, path, &target.directory);
        }
        let (untracked, ignored) = match (only_ignored, ignored) {
            (true, _) => (None, Some(&files.ignored)),
            (false, true) => (Some(&files.untracked), Some(&files.ignored)),
            (false, false) => (Some(&files.untracked), None),
        };
        let kinds: Vec<(&NamedFiles, &str)> = untracked
            .map(|files| (files, "untracked"))
            .into_iter()
            .chain(ignored.map(|files| (files, "ignored")))
            .collect();
        if kinds.iter().all(|(files, _)| files.number == 0) && !files.is_cut {
            let kinds: Vec<&str> = kinds.iter().map(|(_, kind)| *kind).collect();
            return Some(format!("would delete no {} files", kinds.join(" or ")));
        }
        let bytes = untracked.map_or(0, |_| files.untracked_bytes)
            + ignored.map_or(0, |_| files.ignored_bytes);
        let kinds = kinds.iter().map(|(named, kind)| {
            let count = files.count(named.number);
            let count = counted(count, &format!("{kind} file"), &format!("{kind} files"));
            format!("{count}{}", named.names())
        });
        let kinds: Vec<String> = kinds.collect();
        Some(format!(
            "would delete {}, {}",
            kinds.join(" and "),
            size(bytes)
        ))
    }

    /// Returns the clauses about deleted branches.
    fn branches(&mut self, call: &PartCall, target: &Target) -> Vec<String> {
        let Some(references) = References::read(&target.repository) else {
            return Vec::new();
        };
        let objects = target.objects();
        let mut deleted: Vec<(String, ObjectId)> = Vec::new();
        for operand in &call.operands {
            let Some(name) = operand.value() else {
                return Vec::new();
            };
            let local = format!("refs/heads/{name}");
            let remote = format!("refs/remotes/{name}");
            for full in [local, remote] {
                if let Some(id) = references.by_name.get(&full) {
                    deleted.push((full, *id));
                    break;
                }
            }
        }
        let is_kept = |name: &String| !deleted.iter().any(|(deleted, _)| deleted == name);
        let others = references.by_name.iter();
        let others = others.filter(|(name, _)| is_kept(name)).map(|(_, id)| *id);
        let detached = references
            .head
            .commit
            .filter(|_| references.head.branch.is_none());
        let others: Vec<ObjectId> = others.chain(detached).collect();
        let mut clauses = Vec::new();
        for (name, id) in &deleted {
            let count = only_in(&objects, &[*id], &others, &mut self.bounds.commits);
            let Some(count) = count else { continue };
            let short = name.splitn(3, '/').nth(2).unwrap_or(name);
            let short = name_of(short.as_bytes().as_bstr());
            let commits = match count.number {
                0 if !count.at_least => {
                    "whose commits are all on other branches or tags".to_owned()
                }
                0 => "which has too many commits to compare".to_owned(),
                _ => {
                    let commits = counted(count, "commit", "commits");
                    format!("with {commits} on no other branch or tag")
                }
            };
            clauses.push(format!("would delete the branch {short}, {commits}"));
        }
        clauses
    }

    /// Returns the clause about one stash.
    fn stash(&mut self, call: &PartCall, target: &Target) -> Option<String> {
        let stashes = target.stashes();
        let number = match call.operands.as_slice() {
            [] => 0,
            [one] => {
                let text = one.value()?;
                let inner = text
                    .strip_prefix("stash@{")
                    .and_then(|rest| rest.strip_suffix('}'));
                inner.unwrap_or(text).parse().ok()?
            }
            _ => return None,
        };
        let id = *stashes.iter().rev().nth(number)?;
        let count = stashes.len();
        let which = match count {
            1 => "the only stash".to_owned(),
            _ => format!("one of {count} stashes"),
        };
        let Some((files, at_least)) = self.stashed_files(&target.objects(), id) else {
            return Some(format!("would drop {which}"));
        };
        let changed = Quantity {
            number: files.number,
            at_least,
        };
        let changed = counted(changed, "file", "files");
        let names = files.names();
        Some(format!(
            "would drop {which}, with changes of {changed}{names}"
        ))
    }

    /// Returns the files that a stash changes or adds, and `true` if there may be more.
    fn stashed_files(&mut self, objects: &Objects, stash: ObjectId) -> Option<(NamedFiles, bool)> {
        let kind = stash.kind();
        let bytes = objects.find_kind(&stash, Kind::Commit)?;
        let parents: Vec<ObjectId> = CommitRefIter::from_bytes(&bytes, kind)
            .parent_ids()
            .collect();
        let base = objects.tree_of(*parents.first()?)?;
        let mut comparison = TreeComparison {
            objects,
            left: &mut self.bounds.tree_entries,
            files: NamedFiles::default(),
            is_cut: false,
        };
        comparison.compare(
            Some(base),
            Some(objects.tree_of(stash)?),
            BString::default(),
            0,
        );
        // The third parent has the untracked files.
        if let Some(untracked) = parents.get(2) {
            comparison.compare(None, objects.tree_of(*untracked), BString::default(), 0);
        }
        Some((comparison.files, comparison.is_cut))
    }
}

fn changes_clause(changed: &NamedFiles, at_least: bool) -> String {
    let count = Quantity {
        number: changed.number,
        at_least,
    };
    match changed.number {
        0 if !at_least => "would discard no uncommitted changes".to_owned(),
        _ => {
            let count = counted(count, "changed file", "changed files");
            format!("would discard {count}{}", changed.names())
        }
    }
}

fn all_stashes(target: &Target) -> Option<String> {
    match target.stashes().len() {
        0 => None,
        1 => Some("would drop the only stash".to_owned()),
        count => Some(format!("would drop all {count} stashes")),
    }
}

impl Target {
    fn objects(&self) -> Objects {
        Objects::open(&self.repository.shared, self.repository.hash_kind())
    }

    /// Returns the commits of the stashes, oldest first.
    fn stashes(&self) -> Vec<ObjectId> {
        let log = self.repository.shared.join("logs/refs/stash");
        let log = read_bytes(&log, MAX_STASH_BYTES).unwrap_or_default();
        let ids = log
            .lines()
            .filter_map(|line| id_of(line.split_str(" ").nth(1)?));
        ids.collect()
    }

    /// Returns the tracked files that a word selects.
    fn selector(&self, word: &Word) -> Option<Selector> {
        let text = word.value().filter(|_| !word.is_glob)?;
        let root = self.repository.root.as_ref()?;
        let (text, base) = match text.strip_prefix(':') {
            None => (text, self.directory.clone()),
            Some(rest) => (rest.strip_prefix('/')?, root.clone()),
        };
        let path = lexical(&base.join(text))?;
        let below = path.strip_prefix(root).ok()?;
        let below = Vec::from_path_buf(below.to_owned())
            .ok()
            .map(BString::from)?;
        Some(match text.contains(['*', '?', '[', '\\']) {
            true => Selector::Pattern(below),
            false => Selector::Path(below),
        })
    }
}

/// Returns an absolute path without `.` and `..`.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                found.pop().then_some(())?;
            }
            part => found.push(part),
        }
    }
    Some(found)
}

/// Comparison of two trees.
struct TreeComparison<'a> {
    objects: &'a Objects,
    left: &'a mut usize,
    files: NamedFiles,
    is_cut: bool,
}

impl TreeComparison<'_> {
    fn compare(
        &mut self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        prefix: BString,
        depth: usize,
    ) {
        if old == new {
            return;
        }
        let (Some(old), Some(new)) = (self.entries(old), self.entries(new)) else {
            self.is_cut = true;
            return;
        };
        let names: BTreeSet<&BString> = old.keys().chain(new.keys()).collect();
        for name in names {
            if depth > 256 || !take(self.left) {
                self.is_cut = true;
                return;
            }
            let (old, new) = (old.get(name), new.get(name));
            if old == new {
                continue;
            }
            let path = BString::from([prefix.as_bytes(), name.as_bytes()].concat());
            let tree = |entry: Option<&(u16, ObjectId)>| {
                let entry = entry.filter(|(mode, _)| mode & 0o170_000 == 0o040_000);
                entry.map(|(_, id)| *id)
            };
            let has_file =
                |entry: Option<&(u16, ObjectId)>| entry.is_some() && tree(entry).is_none();
            if has_file(old) || has_file(new) {
                self.files.add(path.as_ref());
            }
            if tree(old).is_some() || tree(new).is_some() {
                let mut prefix = path;
                prefix.push(b'/');
                self.compare(tree(old), tree(new), prefix, depth + 1);
            }
        }
    }

    /// Returns the entries of a tree, none for a missing one. `None` if the tree cannot be read.
    fn entries(&self, id: Option<ObjectId>) -> Option<BTreeMap<BString, (u16, ObjectId)>> {
        let Some(id) = id else {
            return Some(BTreeMap::new());
        };
        let bytes = self.objects.find_kind(&id, Kind::Tree)?;
        let entries = TreeRefIter::from_bytes(&bytes, id.kind());
        let entries = entries.map(|entry| {
            let entry = entry.ok()?;
            Some((
                entry.filename.to_owned(),
                (entry.mode.value(), entry.oid.to_owned()),
            ))
        });
        entries.collect()
    }
}
