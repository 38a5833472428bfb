//! Protects files that may be secrets depending on where a request runs and where links lead, which
//! the classifier's tables cannot know. In: a part of a command. Out: the file, if the part reads
//! one.

use super::super::context::RequestContext;
use super::protection::Protection;
use crate::classify::{Crud, Part, Tables, UNKNOWN};
use crate::protocol::{lists, searches};
use crate::request::FileAccess;

/// Returns a file that a part of a command reads and that may be a secret.
pub(super) fn protection(
    context: &RequestContext<'_>,
    part: &Part,
) -> Option<(Protection, String)> {
    let read = part.file_reads.iter().find(|read| {
        let path = read.path.text.as_str();
        // The tables already ask about paths that they know.
        !may_be_secret(path, read.recursive) && may_reach_secrets(context, path, read.recursive)
    });
    read.map(|read| (Protection::Secrets, read.path.text.clone()))
}

/// Returns a file that a tool reads and that may be a secret.
pub(super) fn file_protection(
    context: &RequestContext<'_>,
    access: &FileAccess,
) -> Option<(Protection, String)> {
    let below = searches(&access.tool);
    if access.effect != Crud::Read || lists(&access.tool) {
        return None;
    }
    let mut paths = access.paths.iter().map(|path| path.to_string_lossy());
    let path = match access.paths.is_empty() && below {
        true => may_reach_secrets(context, ".", true).then(|| ".".into()),
        false => paths.find(|path| may_reach_secrets(context, path, below)),
    };
    path.map(|path| (Protection::Secrets, path.into_owned()))
}

/// Returns `true` if a path leads to files that may be secrets, from any directory in which the
/// request may run.
fn may_reach_secrets(context: &RequestContext<'_>, path: &str, below: bool) -> bool {
    let start = &context.start;
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
        .any(|name| may_be_secret(&with_tilde(context, &name), below))
}

/// Returns a path with `~` for the user's home directory.
fn with_tilde(context: &RequestContext<'_>, path: &str) -> String {
    let homes = context.homes.iter().filter(|home| home.len() > 1);
    let rest = homes.filter_map(|home| path.strip_prefix(home.as_str()));
    let mut rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match rest.next() {
        Some(rest) => format!("~{rest}"),
        None => path.to_owned(),
    }
}

/// Returns `true` if a path, or with `below` a path below it, may be a secret by the tables.
pub(in crate::rules) fn may_be_secret(path: &str, below: bool) -> bool {
    let tables = Tables::embedded();
    tables.may_read_secrets(path)
        || tables.may_be_private_file(path)
        || below && tables.may_read_secrets_below(path)
}
