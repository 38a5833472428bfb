//! Protects files that may be secrets depending on where a request runs and where links lead, which
//! the classifier's tables cannot know. In: a part of a command. Out: the file, if the part reads
//! one.

use super::super::scene::Scene;
use super::matter::Matter;
use crate::classify::{Crud, Part, Tables, UNKNOWN};
use crate::protocol::{lists, searches};
use crate::request::FileAccess;

/// Returns a file that a part of a command reads and that may be a secret.
pub(super) fn judge(scene: &Scene<'_>, part: &Part) -> Option<(Matter, String)> {
    let read = part.file_reads.iter().find(|read| {
        let path = read.path.text.as_str();
        // The tables already ask about paths that they know.
        !is_secret(path, read.recursive) && reaches(scene, path, read.recursive)
    });
    read.map(|read| (Matter::Secrets, read.path.text.clone()))
}

/// Returns a file that a tool reads and that may be a secret.
pub(super) fn in_file(scene: &Scene<'_>, access: &FileAccess) -> Option<(Matter, String)> {
    let below = searches(&access.tool);
    if access.effect != Crud::Read || lists(&access.tool) {
        return None;
    }
    let mut paths = access.paths.iter().map(|path| path.to_string_lossy());
    let path = match access.paths.is_empty() && below {
        true => reaches(scene, ".", true).then(|| ".".into()),
        false => paths.find(|path| reaches(scene, path, below)),
    };
    path.map(|path| (Matter::Secrets, path.into_owned()))
}

/// Returns `true` if a path leads to files that may be secrets, from any directory in which the
/// request may run.
fn reaches(scene: &Scene<'_>, path: &str, below: bool) -> bool {
    let start = &scene.start;
    let located = start.locate(path).names;
    let known = located.into_iter().filter(|name| !name.contains(UNKNOWN));
    // For a path with unknown components, `locate` keeps only the end.
    let open = start.folders.iter().filter(|folder| {
        let relative = !path.starts_with(['/', '~']);
        relative && path.contains(UNKNOWN) && !folder.contains(UNKNOWN)
    });
    let open = open.map(|folder| format!("{folder}/{path}"));
    known
        .chain(open)
        .any(|name| is_secret(&at_home(scene, &name), below))
}

/// Returns a path with `~` for the user's home directory.
fn at_home(scene: &Scene<'_>, path: &str) -> String {
    let homes = scene.homes.iter().filter(|home| home.len() > 1);
    let rest = homes.filter_map(|home| path.strip_prefix(home.as_str()));
    let mut rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match rest.next() {
        Some(rest) => format!("~{rest}"),
        None => path.to_owned(),
    }
}

fn is_secret(path: &str, below: bool) -> bool {
    let tables = Tables::embedded();
    tables.may_read_secrets(path)
        || tables.may_be_private_file(path)
        || below && tables.may_read_secrets_below(path)
}
