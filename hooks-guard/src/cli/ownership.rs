//! Checks whether a hook may trust its files, by their places, owners and modes. In: a
//! configuration and the directory of a request. Out: the reason against it, if there is one. A
//! program that can write the configuration, the rules, a script, the key or the trail decides
//! which commands run without a question.

use std::env;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hooks_guard::places::Places;
use hooks_guard::repository::is_work_tree;
use nix::unistd::{Gid, Group, User, geteuid};

use super::setup::LoadedConfig;

/// Returns the reason why a file of this configuration must not be trusted for a request in `cwd`,
/// if there is one. The agent starts this process in its own directory, which may be in a project,
/// too.
pub(crate) fn problem(loaded: &LoadedConfig, cwd: Option<&Path>) -> Option<String> {
    let own = env::current_dir().ok();
    problem_for(loaded, cwd.into_iter().chain(own.as_deref()))
}

/// Returns the reason why a file of this configuration must not be trusted for a request from these
/// directories, if there is one.
pub(crate) fn problem_for<'a>(
    loaded: &LoadedConfig,
    directories: impl IntoIterator<Item = &'a Path>,
) -> Option<String> {
    // From the system's user database only: a project can set `HOME` to a folder of the project.
    let user = Places::of_user();
    let own = user
        .iter()
        .flat_map(|places| [&places.config, &places.data])
        .collect::<Vec<_>>();
    let home = user.as_ref().map(|places| places.home.as_path());
    let projects = Projects::around(directories, home);
    let scripts = &loaded.config.scripts;
    loaded.files().iter().chain(scripts).find_map(|file| {
        let is_in_own_folder = own.iter().any(|folder| file.starts_with(folder));
        let project = || projects.containing(file).filter(|_| !is_root_only(file));
        match (!is_in_own_folder).then(project).flatten() {
            Some(project) => Some(format!(
                "`{}` is inside the project `{}`, so the project could change what may run; move \
                 the file out of the project, and run `hooks-guard install` again",
                file.display(),
                project.display()
            )),
            None => writable_by_others(file),
        }
    })
}

/// Directories of the projects that a request may belong to.
struct Projects(Vec<PathBuf>);

impl Projects {
    /// Collects these directories and the repositories around them. A directory that contains the
    /// user's home is not a project: some users keep their settings in such a repository.
    fn around<'a>(directories: impl IntoIterator<Item = &'a Path>, home: Option<&Path>) -> Self {
        let homes: Vec<PathBuf> = home
            .into_iter()
            .flat_map(|home| [home.to_owned(), real(home)])
            .collect();
        let mut folders = Vec::new();
        for start in directories {
            for start in [real(start), start.to_owned()] {
                let repositories = start.ancestors().skip(1);
                let repositories = repositories.filter(|folder| is_work_tree(folder));
                folders.extend(repositories.map(Path::to_owned));
                folders.push(start);
            }
        }
        folders.retain(|folder| !homes.iter().any(|home| home.starts_with(folder)));
        Self(folders)
    }

    /// Returns the project that contains a file, by its path or behind links.
    fn containing(&self, file: &Path) -> Option<&Path> {
        let real = real(file);
        let has = |folder: &&PathBuf| file.starts_with(folder) || real.starts_with(folder);
        self.0.iter().find(has).map(PathBuf::as_path)
    }
}

/// Resolves the links of a path, as far as it exists.
fn real(path: &Path) -> PathBuf {
    for folder in path.ancestors() {
        if let Ok(real) = fs::canonicalize(folder)
            && let Ok(rest) = path.strip_prefix(folder)
        {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// Returns `true` if only root can write a file and this process belongs to another user: a project
/// cannot put such a file there.
fn is_root_only(file: &Path) -> bool {
    let of_root = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.uid() == 0);
    !geteuid().is_root() && of_root(file) && file.parent().is_some_and(of_root)
}

/// Returns the reason why another user could replace or change a file, if there is one.
fn writable_by_others(file: &Path) -> Option<String> {
    let real = real(file);
    let lexical = file.ancestors();
    // A link to a directory is checked again at its target.
    for path in lexical.chain(real.ancestors().filter(|path| !file.starts_with(path))) {
        let Ok(entry) = fs::symlink_metadata(path) else {
            continue;
        };
        let shown = path.display();
        if !is_trusted_owner(&entry) {
            return Some(format!(
                "`{shown}` belongs to another user, who could change what may run; run `chown` on \
                 it, or choose another path and run `hooks-guard install` again"
            ));
        }
        if !entry.is_symlink() && is_open(&entry) {
            return Some(format!(
                "other users can write to `{shown}` (mode {:o}) and change what may run; run \
                 `chmod go-w '{shown}'`",
                entry.mode() & 0o7777
            ));
        }
    }
    None
}

fn is_trusted_owner(entry: &Metadata) -> bool {
    let user = entry.uid();
    user == 0 || user == geteuid().as_raw() || user == OVERFLOW_UID && is_in_namespace()
}

/// User id that a user namespace shows for owners that it does not map, root among them.
const OVERFLOW_UID: u32 = 65_534;

fn is_in_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let words: Vec<&str> = map.split_whitespace().collect();
    !map.is_empty() && words != ["0", "0", "4294967295"]
}

/// Returns `true` if other users can write to a file or replace the entries of a directory.
fn is_open(entry: &Metadata) -> bool {
    const STICKY: u32 = 0o1000;
    let mode = entry.mode();
    if entry.is_dir() && mode & STICKY != 0 {
        return false;
    }
    mode & 0o002 != 0 || mode & 0o020 != 0 && !is_own_group(entry.gid())
}

/// Returns `true` if this user is the only member of a group: many systems create one group per
/// user.
fn is_own_group(group: u32) -> bool {
    let gid = Gid::from_raw(group);
    let (Ok(Some(user)), Ok(Some(group))) = (User::from_uid(geteuid()), Group::from_gid(gid))
    else {
        return false;
    };
    let is_user = |name: &String| *name == user.name;
    user.gid == gid && group.name == user.name && group.mem.iter().all(is_user)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::Path;

    use nix::unistd::geteuid;

    use super::{Projects, writable_by_others};

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    fn repository(folder: &Path) {
        for name in ["objects", "refs"] {
            fs::create_dir_all(folder.join(".git").join(name)).expect("a folder");
        }
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    }

    #[test]
    fn the_project_is_the_enclosing_repository_except_home() {
        let folder = folder();
        let home = folder.path().join("home");
        let project = home.join("work/app");
        fs::create_dir_all(project.join("src/deep")).expect("folders");
        repository(&project);
        repository(&home);
        let inside = |cwd: &Path, file: &Path| {
            Projects::around(Some(cwd), Some(&home))
                .containing(file)
                .is_some()
        };
        let deep = project.join("src/deep");
        for file in ["x.toml", "src/x.toml", "no/such/x.toml", "../app/x.toml"] {
            assert!(inside(&deep, &project.join(file)), "{file}");
        }
        symlink(&project, home.join("link")).expect("a link");
        assert!(inside(&deep, &home.join("link/x.toml")));
        assert!(inside(&home.join("link/src"), &project.join("x.toml")));
        for cwd in [&deep, &home, folder.path(), Path::new("/")] {
            assert!(
                !inside(cwd, &home.join(".config/hooks-guard/config.toml")),
                "{cwd:?}"
            );
        }
        assert!(!inside(&deep, &home.join("work/x.toml")));
        // Without a repository only the directory is the project.
        fs::remove_file(project.join(".git/HEAD")).expect("it is ours");
        assert!(inside(&deep, &deep.join("x.toml")));
        assert!(!inside(&deep, &project.join("x.toml")));
    }

    #[test]
    fn files_writable_or_replaceable_by_other_users_are_refused() {
        let folder = folder();
        let own = folder.path().join("own");
        fs::create_dir(&own).expect("a folder");
        mode(&own, 0o755);
        let file = own.join("config.toml");
        assert_eq!(writable_by_others(&file), None);
        fs::write(&file, "").expect("a file");
        for (bits, refused) in [(0o600, false), (0o644, false), (0o646, true), (0o666, true)] {
            mode(&file, bits);
            assert_eq!(writable_by_others(&file).is_some(), refused, "{bits:o}");
        }
        mode(&file, 0o600);
        for (bits, refused) in [
            (0o757, true),
            (0o777, true),
            (0o1777, false),
            (0o700, false),
        ] {
            mode(&own, bits);
            assert_eq!(writable_by_others(&file).is_some(), refused, "{bits:o}");
            // Another user could create a missing file there.
            let absent = own.join("no/such/file");
            assert_eq!(writable_by_others(&absent).is_some(), refused, "{bits:o}");
        }
        // A link in the user's directory to a shared one.
        let shared = folder.path().join("shared");
        fs::create_dir(&shared).expect("a folder");
        fs::write(shared.join("real.toml"), "").expect("a file");
        symlink(shared.join("real.toml"), own.join("link.toml")).expect("a link");
        assert_eq!(writable_by_others(&own.join("link.toml")), None);
        mode(&shared, 0o777);
        assert!(writable_by_others(&own.join("link.toml")).is_some());
        if geteuid().is_root() {
            chown(&file, Some(4711), None).expect("root may");
            let why = writable_by_others(&file).expect("it belongs to another user");
            assert!(why.contains("another user"), "{why}");
        }
    }
}
