//! Runs random command lines of programs that change files, and of shell builtins: an allowed line
//! must change nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hooks_classify::{Classifier, Decision, OptionEntry, options_of};

use super::{count, seed};
use crate::support::process::installed;
use crate::support::random::Random;
use crate::support::required::{find, has};

/// Programs that change files, start others or both, and the words before their options.
const PROGRAMS: &[&str] = &[
    "cp",
    "mv",
    "rm",
    "rmdir",
    "unlink",
    "link",
    "ln",
    "touch",
    "mkdir",
    "mkfifo",
    "mknod",
    "mktemp",
    "install",
    "truncate",
    "shred",
    "split",
    "csplit",
    "tee",
    "sort",
    "uniq",
    "shuf",
    "dd",
    "chmod",
    "env",
    "nice",
    "nohup",
    "timeout",
    "stdbuf",
    "xargs",
    "find",
    "sed",
    "tar",
    "gzip",
    "diff",
    "date -d",
    "ptx",
    "fold",
    "busybox cp",
    "busybox rm",
    "busybox touch",
    "busybox tar",
    "busybox sed",
    "busybox env",
    "git add",
    "git branch",
    "git tag",
    "git rm",
    "git mv",
    "git clean",
    "git stash",
    "git config",
    "git commit",
    "git reset",
    "git checkout",
    "git switch",
    "git restore",
    "git apply",
    "git init",
    "git merge",
    "git rebase",
    "git revert",
    "git notes",
    "git worktree",
    "git remote",
    "git symbolic-ref",
    "git update-ref",
    "git reflog",
    "git gc",
    "git diff",
    "git log",
    "git show",
    "git grep",
    "git bisect",
    "git submodule",
    "git archive",
    "git bundle",
    "git sparse-checkout",
    "git hash-object",
    "git write-tree",
    "git format-patch",
    "git am",
    "git ls-files",
    "git blame",
    "git shortlog",
    "git describe",
    "git rev-parse",
    "git for-each-ref",
    "git cat-file",
];

/// More programs, which many machines lack.
const MORE_PROGRAMS: &[&str] = &[
    "zip",
    "unzip",
    "bzip2",
    "xz",
    "zstd",
    "lz4",
    "lzma",
    "ar",
    "patch",
    "flock",
    "taskset 1",
    "ionice",
    "time",
    "objcopy",
    "strip",
    "elfedit",
    "ranlib",
    "zipcloak",
    "zipsplit",
    "zipnote",
    "ssh-keygen",
    "openssl",
    "ed",
    "jar",
    "javac",
    "keytool",
    "make",
    "localedef",
    "fallocate",
    "run-parts",
    "chroot .",
    "unshare",
    "setsid",
    "prlimit",
    "perl",
    "python3",
    "jq",
    "rename.ul",
    "iconv",
    "uconv",
    "base64",
    "column",
    "mkfs",
    "mkfs.ext4",
    "mkswap",
    "tune2fs",
    "e2label",
    "e2fsck",
    "wipefs",
    "debugfs",
    "chattr",
    "script",
    "choom",
    "setarch",
    "chrt",
    "node",
    "vim",
    "gdb",
    "watch",
    "strace",
    "awk",
    "mawk",
    "xxd",
    "hexdump",
    "od",
    "comm",
    "paste",
    "pr",
    "col",
    "sdiff",
    "diff3",
    "cmp",
    "zdiff",
    "xzdiff",
    "look",
    "man",
    "less",
    "tput",
    "tset",
    "infocmp",
    "ctags",
    "cpp",
    "xdg-mime",
    "nm",
    "objdump",
    "readelf",
    "ldd",
    "tclsh",
    "file",
    "gzexe",
    "znew",
    "zforce",
    "uncompress",
    "scriptreplay",
];

/// Shell builtins that set variables, whose names and numbers may contain commands.
const BUILTINS: &[&str] = &[
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "integer",
    "float",
    "unset",
    "read",
    "mapfile",
    "printf",
    "print",
    "test",
    "[",
    "let",
    "set",
    "shift",
    "getopts",
    "command",
    "builtin",
    "exec",
    "alias",
    "hash",
    "type",
    "trap",
    "cd",
    "pwd",
    "wait",
    "umask",
    "ulimit",
    "eval",
    "enable",
    "compgen",
    "bind",
    "fc",
    "history",
    "functions",
    "autoload",
    "zmodload",
    "zle",
    "setopt",
    "emulate",
    "echo",
    "return",
    "kill",
    "times",
    "unalias",
    "whence",
    "popd",
    "pushd",
    "dirs",
    "jobs",
    "let",
    "nameref",
    "zstyle",
    "bindkey",
    "repeat 1",
    "sched",
    "noglob",
];

/// Options that make many calls harmless.
const HARMLESS: &[&str] = &[
    "--help",
    "--version",
    "-h",
    "-V",
    "-n",
    "--dry-run",
    "--hel",
    "--vers",
    "-l",
    "--list",
    "-p",
    "-t",
    "--test",
    "--check",
    "-c",
];

const VALUES: &[&str] = &[
    "a",
    "b",
    "sub",
    "new",
    "",
    "x=1",
    "-",
    "1",
    "list",
    "a.tar",
    "./evil",
    "if=a",
    "of=new",
    "--",
    "--",
    "s/a/b/w new",
    "main",
    "HEAD",
    "e ./evil",
];

/// Words whose contents a shell may run.
const NAMES: &[&str] = &[
    "x",
    "a[$(./evil)]",
    "x=1",
    "x=a[$(./evil)]",
    "a[$(./evil)]=1",
    "$(./evil)",
    "-",
    "--",
    "+i",
    "1",
    "./evil",
    "`./evil`",
    "-v",
    "x=(1)",
    "x+=1",
    "y=x",
    "-eq",
    "%d",
    "EXIT",
    "]",
    "=",
    "--help",
    "(a[$(./evil)])",
    "x=([$(./evil)]=1)",
    "a[`./evil`]",
    "-i",
    "-n",
];

/// Creates a folder with files, a repository, and a program that leaves a mark.
fn prepare(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("sub")).expect("a folder");
    for (name, text) in [
        ("a", "a\nb\n"),
        ("b", "b\n"),
        ("sub/c", "c\n"),
        ("list", "a\nb\n"),
    ] {
        fs::write(folder.join(name), text).expect("a file");
    }
    let evil = folder.join("evil");
    fs::write(&evil, "#!/bin/sh\n: > \"$MARK\"\n").expect("a program");
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).expect("a mode");
    for words in [
        &["tar", "cf", "a.tar", "b", "sub"][..],
        &["git", "init", "-q", "-b", "main"],
        &["git", "add", "a", "b"],
        &["git", "commit", "-q", "-m", "one"],
    ] {
        let _ = start(words, folder).map(|mut child| child.wait());
    }
}

fn start(words: &[&str], folder: &Path) -> std::io::Result<Child> {
    installed(words[0])
        .args(&words[1..])
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("MARK", folder.join("ran"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "n")
        .env("GIT_AUTHOR_EMAIL", "e")
        .env("GIT_COMMITTER_NAME", "n")
        .env("GIT_COMMITTER_EMAIL", "e")
        .env("GIT_EDITOR", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Returns the files below a folder with their contents, without the files of a repository that
/// reading refreshes.
fn snapshot(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(folder)
                .expect("below")
                .to_string_lossy()
                .into_owned();
            if name == ".git/index" {
                continue;
            }
            let kind = entry.file_type().expect("a type");
            let contents = match kind.is_file() {
                true => fs::read(&path).unwrap_or_default(),
                false => format!("{kind:?}").into_bytes(),
            };
            let mode = entry.metadata().map_or(0, |data| data.permissions().mode());
            files.insert(format!("{name} {mode:o}"), contents);
            if kind.is_dir() {
                open.push(path);
            }
        }
    }
    files
}

/// Waits for a process, and kills it after a timeout.
fn finish(mut child: Child) {
    let started = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if started.elapsed() > Duration::from_secs(2) {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn allowed(classifier: &Classifier, text: &str) -> bool {
    classifier
        .classify(text)
        .is_ok_and(|classification| classification.decision != Decision::RequiresConfirmation)
}

/// Returns `true` if the program of a command path is installed.
pub(crate) fn is_installed(path: &str) -> bool {
    let name = path.split(' ').next().unwrap_or(path);
    find(name).is_some()
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns the options of a program or of its command.
fn options(path: &str) -> Vec<OptionEntry> {
    let words: Vec<&str> = path.split(' ').collect();
    let named = match words[0] {
        "git" => path,
        "busybox" => words[1],
        name => name,
    };
    options_of(named)
        .map(|(_, options)| options)
        .unwrap_or_default()
}

fn word(options: &[OptionEntry], values: &[&str], random: &mut Random) -> String {
    match random.below(5) {
        0 | 1 => random.of(values).to_owned(),
        2 if !options.is_empty() => {
            let exempt: Vec<_> = options
                .iter()
                .filter(|option| option.makes_harmless)
                .collect();
            match exempt.is_empty() {
                true => random.of(HARMLESS).to_owned(),
                false => exempt[random.below(exempt.len())].name.clone(),
            }
        }
        3 | 4 if !options.is_empty() => {
            let mut word = options[random.below(options.len())].name.clone();
            if word.contains('*') {
                return random.of(HARMLESS).to_owned();
            }
            if word.starts_with("--") && word.len() > 4 && random.below(4) == 0 {
                word.truncate(3 + random.below(word.len() - 3));
            } else if word.len() == 2 && random.below(2) == 0 {
                let other = &options[random.below(options.len())].name;
                word.push_str(other.get(1..2).unwrap_or(""));
            }
            match random.below(4) {
                0 if word.starts_with("--") => word + "=" + random.of(values),
                0 => word + random.of(values),
                _ => word,
            }
        }
        _ => random.of(HARMLESS).to_owned(),
    }
}

/// Fails if too few lines were allowed for a meaningful result, or if allowed lines changed
/// something.
fn check_lines(ran: u64, lines: u64, wrong: &[String], harm: &str) {
    eprintln!("{ran} of {lines} lines are allowed");
    assert!(ran > lines / 20, "only {ran} of {lines} lines are allowed");
    let (count, list) = (wrong.len(), wrong.join("\n"));
    assert!(wrong.is_empty(), "{count} {harm}:\n{list}");
}

#[test]
fn allowed_lines_of_programs_change_nothing() {
    let classifier = Classifier::new();
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("work");
    prepare(&folder);
    let mut before = snapshot(&folder);
    let mut random = Random(seed());
    let (mut ran, mut wrong) = (0, Vec::new());
    let programs: Vec<&str> = PROGRAMS
        .iter()
        .copied()
        .filter(|path| has(path.split(' ').next().unwrap_or(path)))
        .chain(
            MORE_PROGRAMS
                .iter()
                .copied()
                .filter(|path| is_installed(path)),
        )
        .collect();
    let options: Vec<_> = programs.iter().map(|path| options(path)).collect();
    let lines = count(800);
    for _ in 0..lines {
        let at = random.below(programs.len());
        let mut words: Vec<String> = programs[at].split(' ').map(str::to_owned).collect();
        // Programs with a special first word.
        if programs[at] == "tar" && random.below(2) == 0 {
            let letters = ["t", "f", "v", "C", "I", "x", "T", "X", "O"];
            let count = 1 + random.below(4);
            words.push((0..count).map(|_| random.of(&letters)).collect());
        }
        for _ in 0..=random.below(4) {
            words.push(word(&options[at], VALUES, &mut random));
        }
        let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let text = text.join(" ");
        if !allowed(&classifier, &text) {
            continue;
        }
        ran += 1;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Ok(child) = start(&words, &folder) {
            finish(child);
        }
        let after = snapshot(&folder);
        if after != before {
            let changed = after
                .iter()
                .filter(|entry| before.get(entry.0) != Some(entry.1));
            let mut changed: Vec<_> = changed.map(|(name, _)| name.clone()).collect();
            changed.extend(
                before
                    .keys()
                    .filter(|name| !after.contains_key(*name))
                    .cloned(),
            );
            wrong.push(format!("{text}: {changed:?}"));
            prepare(&folder);
            before = snapshot(&folder);
        }
    }
    check_lines(ran, lines, &wrong, "change something");
}

#[test]
fn allowed_lines_of_builtins_run_nothing() {
    let shells: Vec<&[&str]> = [
        &["bash", "-c"][..],
        &["dash", "-c"],
        &["zsh", "-fc"],
        &["mksh", "-c"],
        &["busybox", "sh", "-c"],
    ]
    .into_iter()
    .filter(|words| has(words[0]))
    .collect();
    let classifier = Classifier::new();
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("work");
    prepare(&folder);
    let mark = folder.join("ran");
    let mut before = snapshot(&folder);
    let mut random = Random(seed());
    let options: Vec<_> = BUILTINS.iter().map(|path| options(path)).collect();
    let (mut ran, mut wrong) = (0, Vec::new());
    let lines = count(400);
    for _ in 0..lines {
        let at = random.below(BUILTINS.len());
        let mut text = BUILTINS[at].to_owned();
        for _ in 0..=random.below(4) {
            let word = word(&options[at], NAMES, &mut random);
            text = format!("{text} {}", quoted(&word));
        }
        if !allowed(&classifier, &text) {
            continue;
        }
        ran += 1;
        for shell in &shells {
            let function = format!("f() {{\n{text}\n}}\nf 1 2");
            let words: Vec<&str> = shell.iter().copied().chain([function.as_str()]).collect();
            finish(start(&words, &folder).expect("a shell"));
            if mark.exists() || snapshot(&folder) != before {
                wrong.push(format!("{}: {text}", shell[0]));
                prepare(&folder);
                before = snapshot(&folder);
            }
        }
    }
    check_lines(ran, lines, &wrong, "run something");
}
