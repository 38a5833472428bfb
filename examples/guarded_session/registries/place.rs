//! Rules about commands that do not fit this environment, in addition to their class.
//!
//! They give users an early refusal with a clear reason, and are not a security boundary. A script
//! that a call has written bypasses them; [`crate::confine`] restricts it.

use hooks_guard::classify::{Crud, Explanation, Part, Word};

use crate::paths;

/// Programs that need a network or another user.
const USELESS: &str =
    "apt apt-get brew curl dig dnf docker doas ftp gem host nc ncat netcat npm npx
    nslookup ping pip pip3 pnpm podman rsync scp sftp socat ssh su sudo telnet wget yarn";

/// Subcommands of git that connect to another machine.
const REMOTE: &str = "clone fetch ls-remote pull push submodule";

/// Refuses a command that leaves the scratch copy of the project, or damages git's data in it.
pub(super) fn leaves_project(command: &str, explanation: &Explanation) -> Option<String> {
    let parts = explanation.parts();
    if !parts.complete {
        return Some("the command is too complex to analyze".to_owned());
    }
    for run in parts.runs() {
        let program = run.program().unwrap_or("it");
        for word in run.words.iter().skip(1) {
            if let Some(why) = leads_out(command, word, run.effect_with_children) {
                return Some(why);
            }
            match word.value() {
                None if run.effect_with_children == Crud::Delete => {
                    return Some(format!(
                        "the targets of `{program}` are unknown before it runs"
                    ));
                }
                Some(path)
                    if run.effect_with_children == Crud::Delete && paths::is_git_internal(path) =>
                {
                    return Some(format!("`{program}` would delete internal files of git"));
                }
                _ => {}
            }
        }
    }
    let mut files = parts.redirections().map(|file| &file.path);
    files.find_map(|word| {
        let why = leads_out(command, word, Crud::Update);
        why.or_else(|| match word.value() {
            None => Some("the target of the redirection is unknown before it runs".to_owned()),
            Some(path) if paths::is_git_internal(path) => {
                Some(format!("`{path}` is an internal file of git"))
            }
            Some(_) => None,
        })
    })
}

/// Refuses a command that needs a network or another user.
pub(super) fn is_useless_here(_: &str, explanation: &Explanation) -> Option<String> {
    explanation.parts().runs().find_map(|run| {
        let program = run.program()?;
        let has = |names: &str, name: &str| names.split_whitespace().any(|it| it == name);
        let remote = |run: &Part| {
            let mut commands = run.arguments().filter(|text| !text.starts_with('-'));
            commands.next().is_some_and(|command| has(REMOTE, command))
        };
        let is_useless = has(USELESS, program) || program == "git" && remote(run);
        is_useless.then(|| {
            format!("`{program}` needs the network or another user, which this sandbox blocks")
        })
    })
}

/// Returns the reason if a word is a path out of the project.
fn leads_out(command: &str, word: &Word, effect: Crud) -> Option<String> {
    let Some(text) = word.value() else {
        let source = command.get(word.start..word.end).unwrap_or_default();
        let names_home = source.contains("$HOME") || source.contains("${HOME");
        return names_home.then(home);
    };
    // For example `--file=/etc/passwd`.
    let path = match text.split_once('=') {
        Some((_, value)) if text.starts_with('-') => value,
        _ => text,
    };
    if path == "~" || path.starts_with("~/") {
        return Some(home());
    }
    // The pattern `.?` matches `..`.
    let may_climb = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
    let climbs = word.is_glob && path.split('/').any(may_climb);
    let is_place = !path.starts_with('/')
        || paths::is_on_this_machine(path)
        // A lone slash may be a separator if nothing is changed.
        || effect != Crud::Read && path.trim_matches(['/', '*', '.']).is_empty();
    (climbs || is_place && paths::leads_out(path))
        .then(|| format!("`{path}` leads out of the project"))
}

fn home() -> String {
    "the home folder is outside of the project".to_owned()
}

#[cfg(test)]
mod tests {
    use hooks_guard::classify::{Classifier, Explanation};

    use super::{is_useless_here, leaves_project};

    fn all(rule: fn(&str, &Explanation) -> Option<String>, commands: &[&str], breaks: bool) {
        for command in commands {
            let explanation = Classifier::new().explain(command).expect("a command");
            let why = rule(command, &explanation);
            assert_eq!(why.is_some(), breaks, "{command}: {why:?}");
        }
    }

    #[test]
    fn a_way_out_is_seen() {
        let out = [
            "cat /etc/passwd",
            "ls ..",
            "cat ~/x",
            "cat .?/x",
            "cat a/.*/x",
            "cat \"$HOME\"/x",
            "echo a > ../b",
            "grep x /etc/hosts",
            "diff --from-file=/etc/passwd a",
            "echo a > \"$f\"",
            "echo a >> .git/config",
            "cd /etc",
            "env A=b cat /etc/passwd",
            "sh -c 'cat ../x'",
            "ls | xargs cat ../x",
            "echo $(cat ../x)",
            "ln -s /etc etc",
        ];
        all(leaves_project, &out, true);
        let inside = [
            "cat a/b",
            "echo /etcetera",
            "grep '/NR' a",
            "sed -n '/x/p' a",
            "ls > /dev/null 2>&1",
            "tr / _",
            "git commit -m '/x ..'",
            "awk '/x/' a",
            "/bin/ls a",
            "cat $f",
            "rm -rf build",
        ];
        all(leaves_project, &inside, false);
    }

    #[test]
    fn a_deletion_that_could_reach_anything_is_seen() {
        let harmful = [
            "rm -rf /",
            "rm -rf /*",
            "rm -rf ..",
            "rm -rf \"$x\"",
            "rm -rf ~",
            "rm -rf .git",
            "rm -rf a ../b",
            "true && sh -c 'rm -rf /'",
            "find \"$x\" -delete",
        ];
        all(leaves_project, &harmful, true);
    }

    #[test]
    fn the_network_and_other_users_are_seen() {
        let useless = [
            "curl x | sh",
            "git push --force",
            "git -q fetch",
            "env wget x",
            "sudo ls",
            "/usr/bin/curl x",
        ];
        all(is_useless_here, &useless, true);
        let local = ["git commit -m push", "echo curl", "git log", "man curl"];
        all(is_useless_here, &local, false);
    }
}
