//! Finds and caches the rules that apply to a request. In: the user's rules file, and the directory
//! of a request. Out: the rules of the user and of every project around the directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use super::error::RulesError;
use super::protect::Protected;
use super::set::Rules;
use super::trust::{Trust, TrustError};
use crate::places::Places;

/// Maximum number of cached rule sets; agents work in few directories.
const MAX_CACHED_RULES: usize = 64;

/// Rules of one user, by the directory of a request. Files are reloaded when they change.
///
/// The rules of all projects around a directory apply, from the outermost to the innermost, so a
/// new project cannot disable the rules of an outer one.
#[derive(Debug)]
pub struct RuleBook {
    user: PathBuf,
    trust: PathBuf,
    places: Protected,
    cache: Mutex<HashMap<Vec<FileVersion>, Rules>>,
}

/// State of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileVersion {
    path: PathBuf,
    /// `None` if the file did not exist.
    state: Option<(Option<SystemTime>, u64, Identity)>,
}

#[cfg(unix)]
type Identity = (u64, i64, i64);
#[cfg(not(unix))]
type Identity = ();

/// Error returned when rules cannot be used. No request is allowed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// A rules file cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The list of trusted files cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl RuleBook {
    /// Creates a book for these directories, with built-in protection of the places in `protected`.
    #[must_use]
    pub fn new(places: &Places, protected: Protected) -> Self {
        Self {
            user: places.rules_file(),
            trust: places.trust_file(),
            places: protected,
            cache: Mutex::default(),
        }
    }

    /// Returns the rules that apply in a directory.
    ///
    /// # Errors
    /// If a file cannot be read or has mistakes.
    pub fn rules_in(&self, directory: Option<&Path>) -> Result<Rules, BookError> {
        let mut files = vec![self.trust.clone(), self.user.clone()];
        let projects = projects(directory);
        files.extend(projects.iter().cloned());
        let seen: Vec<FileVersion> = files.into_iter().map(FileVersion::of).collect();
        if let Some(rules) = self.lock().get(&seen) {
            return Ok(rules.clone());
        }
        let trust = Trust::load(&self.trust)?;
        let mut rules = Rules::load(Some(&self.user), None, &trust, &self.places)?;
        for file in &projects {
            rules = rules.and(&Rules::load(None, Some(file), &trust, &self.places)?);
        }
        let mut read = self.lock();
        if read.len() >= MAX_CACHED_RULES {
            read.clear();
        }
        read.insert(seen, rules.clone());
        Ok(rules)
    }

    /// Returns the rules of the readable files that apply in a directory, for use after
    /// [`Self::rules_in`] failed. Only their denials count: an unreadable file might deny what
    /// these allow.
    #[must_use]
    pub fn readable_in(&self, directory: Option<&Path>) -> Rules {
        let trust = Trust::load(&self.trust).unwrap_or_default();
        let load = |user, project| Rules::load(user, project, &trust, &self.places).ok();
        let projects = projects(directory);
        let user = load(Some(self.user.as_path()), None);
        let around = projects.iter().filter_map(|file| load(None, Some(file)));
        let all = user.into_iter().chain(around);
        all.fold(Rules::built_in(&self.places), |all, rules| all.and(&rules))
    }

    /// Returns the places with built-in protection.
    pub(super) fn protected(&self) -> &Protected {
        &self.places
    }

    /// Returns the path of the user's rules file.
    #[cfg(feature = "http")]
    pub(crate) fn user_file(&self) -> &Path {
        &self.user
    }

    /// Returns the user's home directory.
    pub(crate) fn home(&self) -> &Path {
        &self.places.home
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<FileVersion>, Rules>> {
        self.cache
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Returns the rules files of the projects around a directory, outermost first, including those
/// around the target of a link.
fn projects(directory: Option<&Path>) -> Vec<PathBuf> {
    let directory = directory.filter(|directory| directory.is_absolute());
    let real = directory.and_then(|directory| fs::canonicalize(directory).ok());
    // Usually no link is on the way.
    let real = real.filter(|real| Some(real.as_path()) != directory);
    let around = |directory: Option<&Path>| {
        let mut files: Vec<PathBuf> = directory
            .into_iter()
            .flat_map(Path::ancestors)
            .map(Places::project_rules)
            .filter(|file| file.symlink_metadata().is_ok())
            .collect();
        files.reverse();
        files
    };
    let mut files = around(directory);
    for file in around(real.as_deref()) {
        let same = |other: &PathBuf| fs::canonicalize(other).ok() == fs::canonicalize(&file).ok();
        if !files.iter().any(same) {
            files.push(file);
        }
    }
    files
}

impl FileVersion {
    fn of(path: PathBuf) -> Self {
        let state = fs::metadata(&path).ok().map(|file| {
            #[cfg(unix)]
            let identity = {
                use std::os::unix::fs::MetadataExt;
                (file.ino(), file.ctime(), file.ctime_nsec())
            };
            #[cfg(not(unix))]
            let identity = ();
            (file.modified().ok(), file.len(), identity)
        });
        Self { path, state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Classifier;
    use crate::request::PermissionRequest;
    use crate::rules::verdict::RuleEffect;

    const DENY: &str = "[[rule]]\neffect = 'deny'\nprogram = 'make'\nreason = 'no'\n";

    fn effect(book: &RuleBook, directory: &Path) -> Option<RuleEffect> {
        let request = PermissionRequest {
            cwd: Some(directory.to_owned()),
            ..PermissionRequest::new("make all")
        };
        let found = Classifier::new()
            .analyze(&request.command)
            .expect("a command");
        let rules = book.rules_in(Some(directory)).expect("rules");
        rules.decide(&request, &found).map(|verdict| verdict.effect)
    }

    #[test]
    fn rules_of_every_enclosing_project_apply() {
        let home = tempfile::tempdir().expect("a directory");
        let book = RuleBook::new(&Places::below(home.path()), Protected::new(home.path()));
        let outer = home.path().join("outer");
        let inner = outer.join("a/inner");
        fs::create_dir_all(&inner).expect("a directory");
        assert_eq!(effect(&book, &inner), None);
        fs::write(Places::project_rules(&outer), DENY).expect("a file");
        assert_eq!(
            effect(&book, &inner),
            Some(RuleEffect::Deny),
            "a new rules file applies immediately"
        );
        fs::write(Places::project_rules(&inner), "").expect("a file");
        assert_eq!(
            effect(&book, &inner),
            Some(RuleEffect::Deny),
            "not put out of force"
        );
        assert_eq!(effect(&book, home.path()), None);
        fs::remove_file(Places::project_rules(&outer)).expect("gone");
        assert_eq!(effect(&book, &inner), None);
    }

    /// `P-06`: the rules around the target of a link apply.
    #[cfg(unix)]
    #[test]
    fn rules_of_the_projects_around_the_target_of_a_link_apply() {
        let home = tempfile::tempdir().expect("a directory");
        let book = RuleBook::new(&Places::below(home.path()), Protected::new(home.path()));
        let inner = home.path().join("project/inner");
        fs::create_dir_all(&inner).expect("a directory");
        fs::write(Places::project_rules(&home.path().join("project")), DENY).expect("a file");
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&inner, &link).expect("a link");
        assert_eq!(effect(&book, &link), Some(RuleEffect::Deny));
    }

    /// `P-06`: a broken file does not disable the others.
    #[test]
    fn readable_rules_deny_although_another_file_is_invalid() {
        let home = tempfile::tempdir().expect("a directory");
        let places = Places::below(home.path());
        let book = RuleBook::new(&places, Protected::new(home.path()));
        let project = home.path().join("project");
        fs::create_dir_all(&places.config).expect("a directory");
        fs::create_dir_all(&project).expect("a directory");
        fs::write(places.rules_file(), DENY).expect("a file");
        fs::write(Places::project_rules(&project), "no rules").expect("a file");
        assert!(book.rules_in(Some(&project)).is_err());
        let found = Classifier::new().analyze("make all").expect("a command");
        let request = PermissionRequest {
            cwd: Some(project.clone()),
            ..PermissionRequest::new("make all")
        };
        let verdict = book.readable_in(Some(&project)).decide(&request, &found);
        assert_eq!(
            verdict.map(|verdict| verdict.effect),
            Some(RuleEffect::Deny)
        );
    }

    #[test]
    fn rules_with_mistakes_are_an_error() {
        let home = tempfile::tempdir().expect("a directory");
        let places = Places::below(home.path());
        let book = RuleBook::new(&places, Protected::new(home.path()));
        fs::create_dir_all(&places.config).expect("a directory");
        fs::write(places.rules_file(), "[[rule]]\neffect = 'perhaps'\n").expect("a file");
        assert!(book.rules_in(None).is_err());
    }
}
