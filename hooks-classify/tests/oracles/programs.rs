//! The name of a program in, its commands and options from its help out.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::compare::DescribedCommand;
use super::help::{self, HelpValue};

/// Programs of coreutils, whose help has one format.
const COREUTILS: &str = "arch b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp \
     csplit cut date dd df dir dircolors dirname du env expand expr factor fmt fold groups head hostid id install join \
     link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr \
     printenv ptx pwd readlink realpath rm rmdir runcon sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf \
     sleep sort split stat stdbuf stty sum sync tac tail tee timeout touch tr truncate tsort tty uname unexpand uniq \
     unlink uptime users vdir wc who whoami yes";

/// The programs of a machine, and the folder in which they run.
pub(crate) struct Machine {
    /// An empty repository: commands of git without a list of options run, and may write files.
    folder: TempDir,
    /// The `PATH` of the programs; default: that of this process.
    path: Option<OsString>,
}

impl Machine {
    pub(crate) fn new(path: Option<OsString>) -> Self {
        let machine = Self {
            folder: tempfile::tempdir().expect("a folder"),
            path,
        };
        machine.printed(&["git", "init", "--quiet"]);
        machine
    }

    /// Runs a program. Returns its standard output or, if that is empty, its standard error; `None`
    /// if the program cannot be run.
    pub(crate) fn printed(&self, words: &[&str]) -> Option<String> {
        let mut command = Command::new(words[0]);
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        let output = command
            .args(&words[1..])
            .current_dir(&self.folder)
            .env("COLUMNS", "1000")
            .env("KUBECONFIG", "/nonexistent")
            .env("DOCKER_HOST", "unix:///nonexistent")
            .env("LC_ALL", "C.UTF-8")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("PAGER", "cat")
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.trim().is_empty() {
            text = String::from_utf8_lossy(&output.stderr).into_owned();
        }
        Some(text)
    }

    pub(crate) fn version(&self, words: &[&str]) -> Option<String> {
        let text = self.printed(words)?;
        let digit = |word: &&str| {
            let word = word.trim_start_matches(['v', '"']);
            word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
        };
        let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
        let found = words.find(digit)?;
        Some(found.trim_matches(['v', '"']).to_owned())
    }

    /// Returns the commands of a program.
    pub(crate) fn described(&self, program: &str) -> Vec<DescribedCommand> {
        let mut found = Vec::new();
        match program {
            "git" => {
                let list = self
                    .printed(&["git", "--list-cmds=main"])
                    .unwrap_or_default();
                for name in list.split_whitespace().filter(|name| !name.contains("--")) {
                    self.git(&["git", name], &mut found);
                }
            }
            "cargo" => found = self.cargo(),
            "coreutils" => {
                for name in COREUTILS.split_whitespace() {
                    let help = self.printed(&[name, "--help"]).unwrap_or_default();
                    found.push(DescribedCommand {
                        path: vec![name.to_owned()],
                        options: help::options(&help),
                    });
                }
            }
            program => self.cobra(&[program], &mut found),
        }
        found
    }

    /// Adds the commands of a program made with cobra, through its completion.
    fn cobra(&self, path: &[&str], found: &mut Vec<DescribedCommand>) {
        let mut words = vec![path[0], "__complete"];
        words.extend(&path[1..]);
        words.push("");
        let text = self.printed(&words).unwrap_or_default();
        let names = text.lines().take_while(|line| !line.starts_with(':'));
        let names = names.filter_map(|line| line.split_once('\t').map(|(name, _)| name));
        let is_name =
            |name: &&str| !name.starts_with('-') && !["help", "completion"].contains(name);
        for name in names.filter(is_name) {
            let inner = [path, &[name]].concat();
            let words = [inner.as_slice(), &["--help"]].concat();
            let help = self.printed(&words).unwrap_or_default();
            if !help.lines().any(|line| {
                line.trim()
                    .trim_start_matches("Usage:")
                    .trim()
                    .starts_with(&inner.join(" "))
            }) {
                continue;
            }
            found.push(DescribedCommand {
                path: inner.iter().map(|&word| word.to_owned()).collect(),
                options: help::options(&help),
            });
            if inner.len() < 5 {
                self.cobra(&inner, found);
            }
        }
    }

    /// Returns the commands of cargo.
    fn cargo(&self) -> Vec<DescribedCommand> {
        let list = self.printed(&["cargo", "--list"]).unwrap_or_default();
        let lines = list
            .lines()
            .skip(1)
            .filter_map(|line| line.split_whitespace().next());
        lines
            .filter_map(|name| {
                let help = self.printed(&["cargo", name, "--help"])?;
                // Aliases and third-party programs have separate help pages.
                let own = help.contains(&format!("Usage: cargo {name}"))
                    || help.contains(&format!("cargo {name} ["));
                own.then(|| DescribedCommand {
                    path: vec!["cargo".to_owned(), name.to_owned()],
                    options: help::options(&help),
                })
            })
            .collect()
    }

    /// Adds a command of git, and the commands below it, if it describes its options.
    fn git(&self, path: &[&str], found: &mut Vec<DescribedCommand>) {
        const LIST: &str = "--git-completion-helper-all";
        let Some(text) = self.printed(&[path, &[LIST]].concat()) else {
            return;
        };
        // `git rev-parse` prints unknown options.
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|&word| word != LIST)
            .collect();
        let fits = |word: &&str| {
            word.chars()
                .all(|c| c.is_alphanumeric() || "-=_".contains(c))
        };
        if text.trim().is_empty() || !words.iter().all(fits) {
            return;
        }
        let listed = words
            .iter()
            .filter(|word| word.len() > 2 && word.starts_with("--"));
        // The list does not distinguish a flag from an option with an optional value.
        let mut options: Vec<(String, HelpValue)> = listed
            .map(|word| match word.strip_suffix('=') {
                Some(name) => (name.to_owned(), HelpValue::Required),
                None => ((*word).to_owned(), HelpValue::Unknown),
            })
            .collect();
        // The short help has the letters.
        let help = self.printed(&[path, &["-h"]].concat()).unwrap_or_default();
        for (name, takes) in help::options(&help.replace("[no-]", "")) {
            match options.iter_mut().find(|(known, _)| *known == name) {
                // The value of `--contains` may be missing at the end of the line.
                Some((_, HelpValue::Unknown)) if takes == HelpValue::Required => {}
                Some((_, known)) if *known == HelpValue::Unknown => *known = takes,
                Some(_) => {}
                // `--max-parents=<n>` does not show if the value may be the next word.
                None if name.starts_with("--") && takes == HelpValue::Required => {
                    options.push((name, HelpValue::Joined));
                }
                None => options.push((name, takes)),
            }
        }
        found.push(DescribedCommand {
            path: path.iter().map(|&word| word.to_owned()).collect(),
            options,
        });
        if path.len() < 3 {
            for name in words.iter().filter(|word| !word.starts_with('-')) {
                self.git(&[path, &[name]].concat(), found);
            }
        }
    }
}
