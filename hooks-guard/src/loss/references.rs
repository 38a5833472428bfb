//! References of a repository. In: a repository. Out: its branches, tags and `HEAD`, with their ids.

use std::collections::BTreeMap;
use std::path::Path;

use gix_hash::ObjectId;

use super::place::Repository;
use super::settings::{read_bytes, read_text};

/// Maximum number of references.
const MAX_REFERENCES: usize = 2_000;
/// Maximum size of the file of packed references, in bytes.
const MAX_PACKED_BYTES: u64 = 4 << 20;
/// Maximum number of references that lead to each other.
const MAX_SYMBOLIC: usize = 5;

/// `HEAD` of a work tree.
#[derive(Clone, Debug, Default)]
pub(super) struct HeadReference {
    /// Full name of the branch.
    pub(super) branch: Option<String>,
    /// The commit; `None` for a branch without commits.
    pub(super) commit: Option<ObjectId>,
}

/// References of a repository by their full names.
#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) by_name: BTreeMap<String, ObjectId>,
    pub(super) head: HeadReference,
}

/// ReferenceValue of a reference.
enum ReferenceValue {
    Id(ObjectId),
    Name(String),
}

impl References {
    /// Reads all references. `None` if there are too many, or if they are not files.
    pub(super) fn read(repository: &Repository) -> Option<Self> {
        if !repository.settings.has_reference_files {
            return None;
        }
        let mut values = BTreeMap::new();
        let packed = repository.shared.join("packed-refs");
        if packed.symlink_metadata().is_ok() {
            let packed = read_bytes(&packed, MAX_PACKED_BYTES)?;
            for line in String::from_utf8_lossy(&packed).lines() {
                if let Some((id, name)) = line.split_once(' ')
                    && let Some(id) = id_of(id.as_bytes())
                {
                    values.insert(name.to_owned(), ReferenceValue::Id(id));
                }
            }
        }
        let mut entries = MAX_REFERENCES;
        add_files(
            &repository.shared.join("refs"),
            "refs",
            &mut values,
            &mut entries,
        )?;
        if values.len() > MAX_REFERENCES {
            return None;
        }
        let mut references = Self::default();
        for (name, value) in &values {
            if let Some(id) = resolve(value, &values) {
                references.by_name.insert(name.clone(), id);
            }
        }
        let head = repository.own.join("HEAD");
        let value = match std::fs::read_link(&head) {
            Ok(target) => Some(ReferenceValue::Name(target.to_str()?.to_owned())),
            Err(_) => read_text(&head).and_then(|text| value_of(&text)),
        }?;
        references.head = HeadReference {
            commit: resolve(&value, &values),
            branch: match value {
                ReferenceValue::Id(_) => None,
                ReferenceValue::Name(name) => Some(name),
            },
        };
        Some(references)
    }

    /// Returns the commit of a revision: `HEAD`, a name or a whole id, with `~N` and `^` at its end;
    /// each of these selects the first parent, by `parent`.
    pub(super) fn revision(
        &self,
        text: &str,
        parent: impl Fn(ObjectId) -> Option<ObjectId>,
    ) -> Option<ObjectId> {
        let at = text.find(['~', '^']).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(at);
        let named = |name: String| self.by_name.get(&name).copied();
        let mut commit = match name {
            "HEAD" | "@" => self.head.commit,
            _ => id_of(name.as_bytes())
                .or_else(|| named(name.to_owned()))
                .or_else(|| named(format!("refs/{name}")))
                .or_else(|| named(format!("refs/tags/{name}")))
                .or_else(|| named(format!("refs/heads/{name}")))
                .or_else(|| named(format!("refs/remotes/{name}"))),
        }?;
        while let Some(sign) = rest.chars().next() {
            rest = &rest[1..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (count, after) = rest.split_at(digits);
            rest = after;
            let count = match count {
                "" => 1,
                count => count.parse::<usize>().ok()?,
            };
            match sign {
                '~' if count <= 1_000 => {
                    for _ in 0..count {
                        commit = parent(commit)?;
                    }
                }
                '^' if count == 1 => commit = parent(commit)?,
                _ => return None,
            }
        }
        Some(commit)
    }
}

/// Returns the id that a hexadecimal text is.
pub(super) fn id_of(text: &[u8]) -> Option<ObjectId> {
    ObjectId::from_hex(text).ok()
}

fn value_of(text: &[u8]) -> Option<ReferenceValue> {
    let text = str::from_utf8(text).ok()?.trim_end();
    match text.strip_prefix("ref:") {
        Some(name) => Some(ReferenceValue::Name(name.trim().to_owned())),
        None => id_of(text.as_bytes()).map(ReferenceValue::Id),
    }
}

fn resolve(value: &ReferenceValue, values: &BTreeMap<String, ReferenceValue>) -> Option<ObjectId> {
    let mut value = value;
    for _ in 0..MAX_SYMBOLIC {
        match value {
            ReferenceValue::Id(id) => return Some(*id),
            ReferenceValue::Name(name) => value = values.get(name)?,
        }
    }
    None
}

/// Adds the references below a folder. `None` if there are too many files.
fn add_files(
    folder: &Path,
    prefix: &str,
    values: &mut BTreeMap<String, ReferenceValue>,
    entries: &mut usize,
) -> Option<()> {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !super::bounds::take(entries) {
            return None;
        }
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let name = format!("{prefix}/{name}");
        let kind = entry.file_type().ok()?;
        // Deeper names are no references of git.
        if kind.is_dir() && name.matches('/').count() < 64 {
            add_files(&entry.path(), &name, values, entries)?;
        } else if kind.is_file()
            && let Some(value) = read_text(&entry.path()).and_then(|text| value_of(&text))
        {
            values.insert(name, value);
        }
    }
    Some(())
}
