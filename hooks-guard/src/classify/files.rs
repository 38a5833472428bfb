//! Judges what a tool that is not a shell would do to files, or reach in the network.

use super::judge::{Finding, Sure};
use super::shell::Span;
use super::tables::Tables;
use super::{Classification, Crud, Judgement};
use crate::request::{FileAccess, NetworkAccess};

impl Judgement {
    /// Judges access to files, of which `line` says in words what it is.
    ///
    /// The class is what the tool does to them; a read of a file that holds secrets has to be
    /// confirmed, and so has one of a file without a name.
    #[must_use]
    pub fn of_file(access: &FileAccess, line: &str) -> Self {
        let tables = Tables::embedded();
        let tool = &access.tool;
        let mut findings = Vec::new();
        let mut found = |ask, sure, reason| {
            findings.push(Finding {
                span: Span {
                    start: 0,
                    end: line.len(),
                },
                effect: access.effect,
                ask,
                reason,
                sure,
            });
        };
        if access.paths.is_empty() {
            found(
                true,
                Sure::Guess,
                format!("`{tool}` does not say which file"),
            );
        }
        for path in &access.paths {
            let shown = path.display();
            let reads = access.effect == Crud::Read && !crate::protocol::lists(tool);
            let below = reads && crate::protocol::searches(tool);
            let secret = |path: &str| {
                let folder = || tables.secret_within(path) || tables.reads_secrets_below(path);
                tables.secret(path) || reads && tables.may_be_private(path) || below && folder()
            };
            if path.to_str().is_none_or(secret) {
                found(
                    true,
                    Sure::Known,
                    format!("`{tool}` gets at secrets in `{shown}`"),
                );
            } else {
                let verb = match access.effect {
                    Crud::Read => "reads",
                    Crud::Create => "creates",
                    Crud::Update => "changes",
                    Crud::Delete => "deletes",
                };
                let ask = access.effect != Crud::Read;
                found(ask, Sure::Known, format!("`{tool}` {verb} `{shown}`"));
            }
        }
        Self::new(Classification::of_tool(line, &findings), None)
    }

    /// Judges access to the network apart from the command that needs it, of which `line` says in
    /// words what it is. It always has to be confirmed: the guard does not see what is sent.
    #[must_use]
    pub fn of_network(access: &NetworkAccess, line: &str) -> Self {
        let finding = Finding {
            span: Span {
                start: 0,
                end: line.len(),
            },
            effect: Crud::Create,
            ask: true,
            reason: format!("a command wants to reach `{}`", access.host),
            sure: Sure::Known,
        };
        Self::new(Classification::of_tool(line, &[finding]), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::Decision;

    fn judge(effect: Crud, paths: &[&str]) -> Classification {
        let access = FileAccess {
            tool: "Tool".to_owned(),
            effect,
            paths: paths.iter().map(Into::into).collect(),
            input_hash: None,
        };
        Judgement::of_file(&access, "Tool files").classification
    }

    #[test]
    fn p_06_reads_of_files_are_allowed_and_changes_are_not() {
        let read = judge(Crud::Read, &["src/main.rs"]);
        assert_eq!(
            (read.crud, read.decision),
            (Crud::Read, Decision::AutoAllowed)
        );
        for effect in [Crud::Create, Crud::Update, Crud::Delete] {
            let verdict = judge(effect, &["src/main.rs"]);
            assert_eq!(verdict.crud, effect);
            assert_eq!(verdict.decision, Decision::RequiresConfirmation);
        }
    }

    #[test]
    fn searches_of_folders_that_may_hold_secrets_ask_and_lists_of_names_do_not() {
        let asks = |tool: &str, path: &str| {
            let access = FileAccess {
                tool: tool.to_owned(),
                effect: Crud::Read,
                paths: vec![path.into()],
                input_hash: None,
            };
            let verdict = Judgement::of_file(&access, "Tool files").classification;
            verdict.decision == Decision::RequiresConfirmation
        };
        for path in ["~/.config", "~", "/", "/etc", "~/.ssh", ".env*"] {
            for tool in [
                "Grep",
                "grep_search",
                "search_file_content",
                "read_many_files",
            ] {
                assert!(asks(tool, path), "{tool} {path}");
            }
            if path != ".env*" {
                for tool in ["Glob", "LS", "list_directory"] {
                    assert!(!asks(tool, path), "{tool} {path}");
                }
            }
        }
        for path in [
            "src",
            "~/projects/app",
            "/usr/include",
            "~/.cargo/registry/src",
        ] {
            assert!(!asks("Grep", path), "{path}");
        }
        assert!(asks("Read", "~/.config/*/settings.json"));
        assert!(!asks("Read", "~/.config/app/settings.json"));
    }

    #[test]
    fn reads_of_secrets_and_of_files_without_a_name_ask() {
        for paths in [
            &["/srv/project/.env"][..],
            &["README.md", "/srv/dev/.ssh/id_ed25519"],
            &[],
        ] {
            let verdict = judge(Crud::Read, paths);
            assert_eq!(verdict.crud, Crud::Read);
            assert_eq!(
                verdict.decision,
                Decision::RequiresConfirmation,
                "{paths:?}"
            );
        }
    }
}
