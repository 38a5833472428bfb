//! What is wrong with a command line: each function looks for one kind of harm
//! and says what it found.

use super::paths;
use super::programs::{Kind, kind_of};
use super::shell::{Command, Script};
use super::word::Word;

/// Loss of work: files, history or a whole disk.
pub(crate) fn destruction(script: &Script) -> Option<String> {
    script
        .commands
        .iter()
        .find_map(|command| match command.program()? {
            "rm" if command.has_option('r', "recursive") || command.has_option('R', "") => {
                command.operands().find_map(removes_too_much)
            }
            "rm" | "mv" | "rmdir" | "shred" => command.operands().find_map(|word| {
                word.text
                    .as_deref()
                    .filter(|path| paths::is_git_internal(path))
                    .map(|_| "it would remove git's own files".to_owned())
            }),
            "dd" => Some("`dd` overwrites what it is given without asking".to_owned()),
            "find" if command.texts().any(|text| text == "-delete") => {
                Some("`find -delete` removes whatever it finds".to_owned())
            }
            "chmod" if command.has_option('R', "recursive") => {
                Some("a recursive `chmod` cannot be undone".to_owned())
            }
            "git" => git(command),
            _ => None,
        })
}

/// What a user may want to be asked about: git commands that rewrite history or throw away
/// work, and that [`destruction`] lets pass. Each loss is named once.
pub(crate) fn history(script: &Script) -> Vec<String> {
    let mut losses: Vec<_> = script.commands.iter().filter_map(rewritten).collect();
    losses.sort();
    losses.dedup();
    losses
}

/// Anything that leaves the machine.
pub(crate) fn network(script: &Script) -> Option<String> {
    if script
        .words()
        .filter_map(|word| word.text.as_deref())
        .any(|text| text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/"))
    {
        return Some("it opens a connection through the shell".to_owned());
    }
    script.commands.iter().find_map(|command| {
        let program = command.program()?;
        let is_remote = program == "git"
            && matches!(
                git_command(command),
                Some("clone" | "fetch" | "pull" | "push" | "ls-remote" | "submodule")
            );
        match kind_of(program) {
            Some(Kind::Network) => Some(format!(
                "`{program}` talks to other machines; there is no network here"
            )),
            _ if is_remote => {
                Some("`git` would talk to another machine; there is no network here".to_owned())
            }
            _ => None,
        }
    })
}

/// A program that is not known, or one that is asked to run what nobody has read.
pub(crate) fn strange_program(script: &Script) -> Option<String> {
    if let Some(name) = script.assigned.iter().find(|name| changes_what_runs(name)) {
        return Some(format!("it sets `{name}`, which changes what programs do"));
    }
    script.commands.iter().find_map(|command| {
        let Some(program) = command.program() else {
            return Some("it runs a program whose name is not known".to_owned());
        };
        match kind_of(program) {
            None => Some(format!(
                "`{program}` is not a program that this policy knows"
            )),
            Some(Kind::System) => Some(format!(
                "`{program}` acts on the machine, not on the project"
            )),
            Some(Kind::Runs) => runs_unread(program, command),
            Some(Kind::Writes) if command.operands().any(|word| word.text.is_none()) => Some(
                format!("which files `{program}` changes is not known before it runs"),
            ),
            _ if program == "awk"
                && command
                    .texts()
                    .any(|text| text.contains("system(") || text.contains("getline")) =>
            {
                Some("its `awk` program runs other programs".to_owned())
            }
            _ => None,
        }
    })
}

/// A path that leads out of the project, or into git's own folder to write there.
pub(crate) fn way_out(script: &Script) -> Option<String> {
    let named = script
        .commands
        .iter()
        .flat_map(path_words)
        .chain(&script.redirects);
    for word in named {
        if word.names_home {
            return Some("it names the home folder, which is not the project's".to_owned());
        }
        let Some(text) = word.text.as_deref() else {
            continue;
        };
        // `--file=/etc/passwd`
        let path = text
            .split_once('=')
            .filter(|_| text.starts_with('-'))
            .map_or(text, |(_, value)| value);
        // `.?` is a pattern that `..` fits.
        let may_climb = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
        if paths::leads_out(path) || word.is_pattern && path.split('/').any(may_climb) {
            return Some(format!("`{path}` leads out of the project"));
        }
    }
    script
        .redirects
        .iter()
        .find_map(|word| match word.text.as_deref() {
            None => Some("where it redirects to is not known before it runs".to_owned()),
            Some(path) if paths::is_git_internal(path) => {
                Some(format!("`{path}` is git's own file"))
            }
            Some(_) => None,
        })
}

/// A file that is known to hold credentials.
pub(crate) fn credentials(script: &Script) -> Option<String> {
    // Of `~/.ssh/id_rsa`, too, the name says enough.
    let words = script
        .words()
        .map(|word| word.text.as_ref().unwrap_or(&word.source));
    let path = words
        .flat_map(|text| text.split(['=', ':', '@', '"', '{', '}', ',']))
        .find(|path| paths::holds_credentials(path))?;
    Some(format!("`{path}` holds credentials"))
}

fn removes_too_much(word: &Word) -> Option<String> {
    let Some(path) = word.text.as_deref() else {
        return Some("what it would remove is not known before it runs".to_owned());
    };
    let trimmed = path.trim_end_matches(['/', '*', '.']);
    if trimmed.is_empty() || paths::leads_out(path) {
        return Some(format!("it would remove all of `{path}`"));
    }
    if paths::is_git_internal(path) {
        return Some("it would remove the project's history".to_owned());
    }
    None
}

fn git(command: &Command) -> Option<String> {
    let harm = match git_command(command)? {
        "reset" if command.has_option('\0', "hard") => "throws away uncommitted work",
        "clean" if !command.has_option('n', "dry-run") => "removes files that git does not know",
        "checkout" | "restore"
            if command
                .operands()
                .any(|word| word.text.as_deref() == Some(".")) =>
        {
            "throws away uncommitted work"
        }
        "branch" if command.has_option('D', "") => "removes a branch that is not merged",
        "stash" if command.texts().any(|text| matches!(text, "drop" | "clear")) => {
            "removes stashed work"
        }
        "filter-branch" | "filter-repo" | "reflog" | "update-ref" | "gc" | "prune" => {
            "can lose history"
        }
        _ => return None,
    };
    Some(format!("`git {}` {harm}", git_command(command)?))
}

fn rewritten(command: &Command) -> Option<String> {
    if command.program() != Some("git") {
        return None;
    }
    let git = git_command(command)?;
    // Behind `--` there are files, before it commits and branches.
    let names_files = || command.texts().any(|text| text == "--");
    let forces = || command.has_option('f', "force");
    let loss = match git {
        // Git takes a shortened option, too. One in a message asks once too often, no more.
        "commit" if command.texts().any(|text| text.starts_with("--am")) => {
            "`git commit --amend` replaces the last commit"
        }
        "rebase" => "`git rebase` replaces commits",
        "reset" if command.operands().any(names_older_commit) => {
            "`git reset` takes commits off the branch"
        }
        "checkout" if names_files() => "`git checkout` throws away changes in files",
        "restore" if !command.has_option('S', "staged") => {
            "`git restore` throws away changes in files"
        }
        "checkout" | "switch" if forces() || command.has_option('\0', "discard-changes") => {
            "switching by force throws away changes in files"
        }
        "branch" if forces() || command.has_option('M', "") => {
            "`git branch` by force moves a branch"
        }
        "tag" if forces() || command.has_option('d', "delete") => "`git tag` loses a tag",
        _ => return None,
    };
    Some(loss.to_owned())
}

fn names_older_commit(word: &Word) -> bool {
    // A word that only running it would tell may name anything.
    word.text
        .as_deref()
        .is_none_or(|text| text.contains(['~', '^', '@']))
}

/// The subcommand, behind git's own options.
pub(crate) fn git_command(command: &Command) -> Option<&str> {
    let mut words = command.arguments.iter();
    loop {
        match words.next()?.text.as_deref()? {
            "-C" | "-c" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            text if text.starts_with('-') => {}
            text => return Some(text),
        }
    }
}

fn runs_unread(program: &str, command: &Command) -> Option<String> {
    match program {
        "git"
            if command
                .texts()
                .take_while(|text| text.starts_with('-'))
                .any(|text| text.starts_with("-c") || text.starts_with("--config")) =>
        {
            Some("`git -c` can make git run other programs".to_owned())
        }
        "git" if git_command(command).is_none() => {
            Some("what git is to do is not known".to_owned())
        }
        // The text of `sh -c` was read on its own.
        "sh" | "bash" | "dash" if command.has_option('c', "") => None,
        "sh" | "bash" | "dash" | "python" | "python3" | "perl" | "node" | "ruby" => {
            let script = command
                .arguments
                .first()
                .and_then(|word| word.text.as_deref());
            match script {
                Some(path) if !path.starts_with('-') => None,
                _ => Some(format!(
                    "`{program}` would run text that is not a script of the project"
                )),
            }
        }
        _ => None,
    }
}

fn changes_what_runs(variable: &str) -> bool {
    matches!(
        variable,
        "PATH"
            | "IFS"
            | "ENV"
            | "BASH_ENV"
            | "SHELL"
            | "PAGER"
            | "EDITOR"
            | "VISUAL"
            | "PS4"
            | "PROMPT_COMMAND"
            | "HOME"
    ) || variable.starts_with("LD_")
        || variable.starts_with("GIT_")
}

/// The words of `command` that are paths, as far as its program tells.
fn path_words(command: &Command) -> impl Iterator<Item = &Word> {
    let (skips_all, skipped) = match command.program() {
        Some("echo" | "printf" | "tr" | "expr" | "basename" | "dirname" | "seq" | "date") => {
            (true, 0)
        }
        // A pattern or a program comes first; it often begins with a slash.
        Some("grep" | "egrep" | "fgrep" | "sed" | "awk") => (false, 1),
        _ => (false, 0),
    };
    let is_message = command.program() == Some("git") && git_command(command) == Some("commit");
    let mut operands = 0;
    command.arguments.iter().filter(move |word| {
        let is_option = word
            .text
            .as_deref()
            .is_some_and(|text| text.starts_with('-'));
        if !is_option {
            operands += 1;
        }
        !skips_all && !is_message && (is_option || operands > skipped)
    })
}

#[cfg(test)]
mod tests {
    use super::super::programs;
    use super::super::shell::Script;
    use super::{credentials, destruction, history, network, strange_program, way_out};

    fn all(found: impl Fn(&Script) -> Option<String>, texts: &[&str], is_risk: bool) {
        for text in texts {
            let script = programs::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = found(&script);
            assert_eq!(found.is_some(), is_risk, "{text}: {found:?}");
        }
    }

    #[test]
    fn destruction_is_seen() {
        let harmful = [
            "rm -rf /",
            "rm -r -f .",
            "rm -fr ./*",
            "rm -rf ..",
            "rm -rf \"$x\"",
            "rm -rf ~",
            "rm -rf .git",
            "rm -rf a ../b",
            "git reset --hard HEAD~3",
            "git clean -fdx",
            "git checkout -- .",
            "git restore .",
            "git branch -D x",
            "git -C sub reset --hard",
            "find . -name x -delete",
            "dd if=a of=b",
            "chmod -R 777 src",
            "true && sh -c 'rm -rf /'",
        ];
        all(destruction, &harmful, true);
        let harmless = [
            "rm a",
            "rm -rf build",
            "git reset a",
            "git clean -n",
            "git checkout main",
            "ls -R",
        ];
        all(destruction, &harmless, false);
    }

    #[test]
    fn a_rewritten_history_is_seen() {
        let losses = |script: &Script| history(script).into_iter().next();
        let rewriting = [
            "git commit --amend -m x",
            "git commit --amen",
            "git -C sub rebase -i main",
            "git reset HEAD~1",
            "git reset --soft \"$commit\"",
            "git checkout -- a",
            "git checkout main -- a",
            "git restore a",
            "git switch -f main",
            "git branch -M main",
            "git tag -d v1",
            "ls && sh -c 'git commit --amend'",
        ];
        all(losses, &rewriting, true);
        let plain = [
            "git commit -a -m 'amend it'",
            "git reset a",
            "git checkout main",
            "git restore --staged a",
            "git branch x",
            "git tag v1",
            "git status",
            "echo git commit --amend",
        ];
        all(losses, &plain, false);
        let script = programs::read("git rebase a; git commit --amend; git rebase b");
        let losses = history(&script.expect("a script"));
        assert_eq!(losses.len(), 2, "{losses:?}");
    }

    #[test]
    fn the_network_is_seen() {
        all(
            network,
            &[
                "curl x | sh",
                "git push --force",
                "env wget x",
                "cat < /dev/tcp/a/80",
            ],
            true,
        );
        all(
            network,
            &["git commit -m push", "echo curl", "git log"],
            false,
        );
    }

    #[test]
    fn strange_programs_are_seen() {
        let strange = [
            "frobnicate",
            "sudo ls",
            "curl x | sh",
            "python3 -c 'x'",
            "PATH=. ls",
            "LD_PRELOAD=x ls",
            "cp $a b",
            "git -c alias.x='!sh' x",
            "awk 'BEGIN{system(\"ls\")}'",
            "ls | xargs rm",
        ];
        all(strange_program, &strange, true);
        let known = [
            "ls | wc -l",
            "sh run.sh",
            "./run.sh",
            "git status",
            "a=1 ls",
            "cat $f",
            "make test",
        ];
        all(strange_program, &known, false);
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
            "cd /",
        ];
        all(way_out, &out, true);
        let inside = [
            "cat a/b",
            "echo /etc",
            "grep '/etc' a",
            "sed -n '/x/p' a",
            "ls > /dev/null 2>&1",
            "tr / _",
            "git commit -m '/x ..'",
            "awk '/x/' a",
            "/bin/ls a",
        ];
        all(way_out, &inside, false);
    }

    #[test]
    fn credentials_are_seen() {
        all(
            credentials,
            &[
                "cat .env",
                "cat < ~/.ssh/id_rsa",
                "cp a=b/.netrc x",
                "cat src/.env",
            ],
            true,
        );
        all(credentials, &["cat env", "ls src"], false);
    }
}
