//! The scope of an approval: the agent, the real directory, and the files that determine the effect
//! of the command, with their contents. In: a request and the [parts](crate::classify::Parts) of
//! its command. Out: an [`ApprovalScope`] with a hash.
//!
//! [`ApprovalScope::of`] finds the files and reads them within limits. An approval applies to a
//! request only if both scopes have the same hash. `again` reads these files later.

mod caution;
mod derive;
mod files;
mod package;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::derive::Derivation;
use self::files::{BoundFile, Lookup, ScopeReader};
use crate::classify::Parts;
use crate::mask::Masked;
use crate::places::Places;
use crate::random::random;
use crate::request::PermissionRequest;

/// Prefix of the hashed text, which no other hash uses.
const DOMAIN: &[u8] = b"hooks-guard approval scope 1\0";

/// Maximum size of a stored scope, in bytes.
const MAX_SCOPE_BYTES: usize = 128 << 10;

/// Reason why an approval cannot be remembered if its scope is too large to store. Part of stored
/// scopes, so its text must not change.
const TOO_MANY: &str = "it depends on too many files";

/// Maximum number of files named in a sentence.
const MAX_NAMED_FILES: usize = 6;

/// The state that an approval is bound to in addition to its command.
///
/// Created by the service for each question; opaque outside of the crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalScope {
    agent: Option<String>,
    /// Directory of the request, as the request names it.
    cwd: Option<String>,
    /// That directory with links resolved, if it exists on this machine.
    folder: Option<String>,
    /// Lookups of the files.
    lookups: Vec<Lookup>,
    /// Results of the lookups.
    files: Vec<BoundFile>,
    /// `true` if the command runs code that it does not show.
    runs_code: bool,
    /// Reason why no approval of the command may be remembered, if there is one.
    refused: Option<String>,
    /// Code that the operator cannot check before approving, if there is any. Not part of the hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caution: Option<String>,
    /// SHA-256 of the agent, the directory and the files, in hexadecimal.
    hash: String,
}

impl ApprovalScope {
    /// Creates the current scope of a request with these parts. Reads files, so do not call it on a
    /// thread that runs futures.
    #[must_use]
    pub fn of(request: &PermissionRequest, parts: &Parts) -> Self {
        let places = Places::of_environment();
        let home = places.map_or_else(|| PathBuf::from("/nonexistent"), |places| places.home);
        let mut derivation = Derivation::new(request, &home);
        derivation.request(request, parts);
        let Derivation {
            lookups,
            reader,
            runs_code,
            refused,
            ..
        } = derivation;
        let mut scope = Self {
            agent: request.agent.clone(),
            cwd: request
                .cwd
                .as_ref()
                .map(|cwd| cwd.to_string_lossy().into_owned()),
            folder: None,
            lookups,
            files: Vec::new(),
            runs_code,
            refused: None,
            caution: None,
            hash: String::new(),
        };
        if let Some(why) = refused {
            scope.refuse(&why);
        }
        scope.resolve_lookups(reader);
        let is_uncovered = scope.runs_code && scope.refused.is_some();
        // Other requests run no code.
        if request.is_command() {
            scope.caution = caution::caution(parts, is_uncovered).map(str::to_owned);
        }
        if scope.folder.is_none()
            && let Some(cwd) = &scope.cwd
            && (scope.runs_code || !scope.files.is_empty())
        {
            let why = format!("the directory `{cwd}` is not on the service's machine");
            scope.refuse(&why);
        }
        let size = |scope: &Self| serde_json::json!(scope).to_string().len();
        if size(&scope) > MAX_SCOPE_BYTES {
            // The hash still covers the files, so the command can be approved once.
            scope.refused = Some(TOO_MANY.to_owned());
            scope.files.clear();
        }
        match size(&scope) > MAX_SCOPE_BYTES {
            true => Self::unknown(request, TOO_MANY),
            false => scope,
        }
    }

    /// Creates a unique scope after not all files could be read; no other scope equals it, so no
    /// approval applies to it.
    pub(crate) fn unknown(request: &PermissionRequest, why: &str) -> Self {
        Self {
            agent: request.agent.clone(),
            cwd: None,
            folder: None,
            lookups: Vec::new(),
            files: Vec::new(),
            runs_code: true,
            refused: Some(why.to_owned()),
            caution: Some("the code that it runs is unknown".to_owned()),
            hash: random::<16>(),
        }
    }

    /// Creates the current scope with these lookups. Reads files.
    pub(crate) fn refresh(&self) -> Self {
        let mut scope = self.clone();
        scope.resolve_lookups(ScopeReader::default());
        scope
    }

    fn resolve_lookups(&mut self, mut reader: ScopeReader) {
        let real = |cwd: &String| std::fs::canonicalize(cwd).ok();
        self.folder = (self.cwd.as_ref())
            .and_then(real)
            .map(|folder| folder.to_string_lossy().into_owned());
        self.files = reader.resolve(&self.lookups);
        if let Some(why) = reader.refusal_reason() {
            self.refuse(why);
        }
        self.hash = self.digest();
    }

    /// Records why an approval may not be remembered; the first reason is kept.
    pub(crate) fn refuse(&mut self, why: &str) {
        let why = match &self.cwd {
            Some(cwd) => why.replace(&format!("`{}/", cwd.trim_end_matches('/')), "`"),
            None => why.to_owned(),
        };
        self.refused.get_or_insert(why);
    }

    /// Returns why no approval may be remembered; `None` if one may.
    pub(crate) fn refusal_reason(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Returns what the operator cannot check before approving; `None` if there is nothing.
    pub(crate) fn caution(&self) -> Option<&str> {
        self.caution.as_deref()
    }

    /// Returns the hash of the agent, the directory and the files, in hexadecimal.
    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    fn digest(&self) -> String {
        let mut files: Vec<_> = self.files.iter().map(BoundFile::fields).collect();
        files.sort_unstable();
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        let text = serde_json::json!([self.agent, self.folder, files]).to_string();
        hash.update(text);
        hex::encode(hash.finalize())
    }

    /// Returns the files whose contents an approval covers.
    pub(crate) fn covers(&self) -> Vec<String> {
        let covered = self.files.iter().filter(|file| file.is_content());
        covered.map(|file| self.display_path(&file.path)).collect()
    }

    /// Returns a sentence for people: the conditions of `always`, or why it is not possible.
    pub(crate) fn describe(&self) -> String {
        if let Some(why) = &self.refused {
            return format!("`always` is not possible: {why}");
        }
        let mut sentence = match &self.agent {
            Some(agent) => format!("`always` applies to {agent}"),
            None => "`always` applies to requests without an agent".to_owned(),
        };
        if let Some(folder) = self.folder.as_ref().or(self.cwd.as_ref()) {
            sentence += &format!(" in {folder}");
        }
        let covers = self.covers();
        match covers.as_slice() {
            [] if self.runs_code => {
                sentence += "; changes of files that it runs or reads are not \
                             detected"
            }
            [] => {}
            [one] => sentence += &format!(" while `{one}` is unchanged"),
            many => sentence += &format!(" while {} are unchanged", listed(many)),
        }
        if self.runs_code && !covers.is_empty() {
            sentence += "; changes of programs and files that these use are not detected";
        }
        sentence
    }

    /// Describes the differences to a newer scope of the command; `None` if there are none.
    pub(crate) fn changed_in(&self, new: &Self) -> Option<String> {
        let named = |agent: &Option<String>| match agent {
            Some(agent) => format!("`{agent}`"),
            None => "no agent".to_owned(),
        };
        if self.agent != new.agent {
            return Some(format!("the approval was for {}", named(&self.agent)));
        }
        if self.folder != new.folder {
            let folder = new.cwd.as_deref().unwrap_or("the directory");
            return Some(format!("`{folder}` is now another directory"));
        }
        if [self, new]
            .iter()
            .any(|scope| scope.refusal_reason() == Some(TOO_MANY))
        {
            // Its files are not stored.
            let why = "a file that the command depends on has changed";
            return (self.hash != new.hash).then(|| why.to_owned());
        }
        let of = |scope: &Self, path: &str| scope.files.iter().find(|f| f.path == path).cloned();
        let mut differences = Vec::new();
        for old in &self.files {
            let path_text = new.display_path(&old.path);
            match of(new, &old.path) {
                Some(now) if now == *old => {}
                Some(now) if now.real != old.real => {
                    differences.push(format!("`{path_text}` now resolves to another path"));
                }
                Some(now) if !now.is_absent() => {
                    differences.push(format!("`{path_text}` has changed"));
                }
                _ => differences.push(format!("`{path_text}` was removed")),
            }
        }
        for now in &new.files {
            if of(self, &now.path).is_none() {
                differences.push(format!("`{}` is new", new.display_path(&now.path)));
            }
        }
        let more = differences.len().saturating_sub(MAX_NAMED_FILES);
        differences.truncate(MAX_NAMED_FILES);
        if more > 0 {
            differences.push(format!("{more} more files have changed"));
        }
        (!differences.is_empty()).then(|| differences.join(", "))
    }

    /// Returns the stored form: without names that contain secrets of the command, unless a file
    /// has such a name.
    pub(crate) fn stored(&self, masked: &Masked) -> String {
        let mut scope = self.clone();
        let clear = |text: &str| masked.other(text) == text;
        let is_secret = |file: &BoundFile| file.is_absent() && !clear(&file.path);
        if scope.files.iter().any(is_secret) {
            scope.refuse("the name of a file is masked as a secret");
            scope.files.retain(|file| !is_secret(file));
        }
        let files = &scope.files;
        scope.lookups.retain(|lookup| {
            let found = |file: &BoundFile| !file.is_absent() && lookup.finds(&file.path);
            lookup.texts().iter().all(|text| clear(text)) || files.iter().any(found)
        });
        scope.refused = scope.refused.map(|why| masked.other(&why));
        serde_json::json!(scope).to_string()
    }

    /// Returns a path, relative to the request's directory if it is inside.
    fn display_path(&self, path: &str) -> String {
        let within = self.cwd.as_ref().and_then(|cwd| {
            let rest = path.strip_prefix(cwd.trim_end_matches('/'))?;
            rest.strip_prefix('/').filter(|rest| !rest.is_empty())
        });
        within.unwrap_or(path).to_owned()
    }
}

fn listed(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|name| format!("`{name}`"));
    let shown: Vec<_> = shown.collect();
    match names.len().saturating_sub(MAX_NAMED_FILES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::ApprovalScope;
    use crate::classify::{Classifier, Crud};
    use crate::request::PermissionRequest;
    use crate::workspace::LocalWorkspace;

    /// Files that all determine the effect of the command.
    const FILES: [&str; 4] = ["Makefile", "rules.mk", "x.sh", "sub/Makefile"];
    const COMMAND: &str = "make && bash x.sh && make -C sub";

    fn scope(request: &PermissionRequest) -> ApprovalScope {
        let found = Classifier::new().analyze(&request.command);
        ApprovalScope::of(request, &found.expect("it is a command").parts)
    }

    /// Returns possible contents of a file; `None` if it is missing.
    fn content() -> impl Strategy<Value = Option<String>> {
        let text = "(include rules.mk\n)?[a-c]{0,2}";
        prop_oneof![4 => text.prop_map(Some), 1 => Just(None)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// `P-26`: the hash of a scope is equal exactly if the files that decide are equal.
        #[test]
        fn scope_hashes_are_equal_exactly_if_the_relevant_files_are(
            one in vec(content(), FILES.len()),
            two in vec(content(), FILES.len()),
            agents in ("[ab]", "[ab]"),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            fs::create_dir(folder.path().join("sub")).expect("a folder");
            let set = |files: &[Option<String>]| {
                for (name, content) in FILES.iter().zip(files) {
                    let path = folder.path().join(name);
                    match content {
                        Some(content) => fs::write(path, content).expect("a file"),
                        None => drop(fs::remove_file(path)),
                    }
                }
            };
            let request = |agent: &str| PermissionRequest {
                cwd: Some(folder.path().to_owned()),
                agent: Some(agent.to_owned()),
                ..PermissionRequest::new(COMMAND)
            };
            // `rules.mk` counts only if a makefile includes it.
            let includes = |files: &[Option<String>]| {
                let mut makefiles = [&files[0], &files[3]].into_iter().flatten();
                makefiles.any(|text| text.starts_with("include"))
            };
            let decides = |files: &[Option<String>]| {
                let mut files = files.to_vec();
                if !includes(&files) {
                    files[1] = None;
                }
                files
            };
            set(&one);
            let asked = scope(&request(&agents.0));
            let unchanged = scope(&request(&agents.0));
            prop_assert_eq!(asked.hash(), unchanged.hash());
            let again = asked.refresh();
            prop_assert_eq!(asked.hash(), again.hash());
            set(&two);
            let now = scope(&request(&agents.1));
            let same = decides(&one) == decides(&two) && agents.0 == agents.1;
            prop_assert_eq!(asked.hash() == now.hash(), same, "{:?}", asked.changed_in(&now));
            prop_assert_eq!(asked.changed_in(&now).is_none(), same);
            // Only the files, with the lookups of the question.
            let again = asked.refresh();
            prop_assert_eq!(asked.hash() == again.hash(), decides(&one) == decides(&two));
        }
    }

    #[test]
    fn an_approval_is_bound_to_the_files_that_were_looked_at() {
        for (command, file, texts) in [
            ("pnpm ls", ".pnpmfile.cjs", ["module.exports = {}", "run()"]),
            (
                "yarn why a",
                ".yarnrc",
                ["yarn-path \"./a.cjs\"\n", "yarn-path \"./b.cjs\"\n"],
            ),
            (
                "npm run show",
                "package.json",
                [
                    "{\"scripts\": {\"show\": \"touch a\"}}",
                    "{\"scripts\": {\"show\": \"touch b\"}}",
                ],
            ),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let [first, second] = texts.map(|text| {
                fs::write(folder.path().join(file), text).expect("a file");
                let workspace = LocalWorkspace::new(folder.path(), None).expect("a local folder");
                let classifier = Classifier::new().with_workspace(workspace);
                let found = classifier.analyze(command).expect("a command");
                assert!(found.classification.crud > Crud::Read, "{command}");
                let request = PermissionRequest {
                    cwd: Some(folder.path().to_owned()),
                    ..PermissionRequest::new(command)
                };
                ApprovalScope::of(&request, &found.parts)
            });
            let covers = first.covers();
            assert!(
                covers.iter().any(|name| name.ends_with(file)),
                "{command}: {covers:?}"
            );
            assert_ne!(first.hash(), second.hash(), "{command}");
        }
    }
}
