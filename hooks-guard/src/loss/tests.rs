//! Tests with repositories that git makes. Each number is compared with what git prints, or with what
//! a command does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;

use super::bounds::Bounds;
use super::place::UserFolders;
use super::{Loss, OTHER_REPOSITORY};
use crate::classify::Classifier;
use crate::request::PermissionRequest;

/// A folder with a home, and repositories beside it.
struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("home")).expect("a folder");
        Self(folder)
    }

    /// Makes a repository with one commit, which has `a.txt` and `src/b.rs`.
    fn with_commit() -> (Self, PathBuf) {
        Self::with_format("sha1")
    }

    fn with_format(format: &str) -> (Self, PathBuf) {
        let lab = Self::new();
        let root = lab.path("work");
        fs::create_dir(&root).expect("a folder");
        lab.git(
            &root,
            &["init", "-q", "-b", "main", "--object-format", format],
        );
        write(&root, "a.txt", "one\n");
        write(&root, "src/b.rs", "two\n");
        lab.git(&root, &["add", "."]);
        lab.commit(&root, "first");
        (lab, root)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("it exists").join(name)
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env(format!("{OTHER_REPOSITORY}CONFIG_NOSYSTEM"), "1")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(["-c", "protocol.file.allow=always", "-c", "gc.auto=0"])
            .args(arguments)
            .output()
            .expect("git runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn commit(&self, folder: &Path, message: &str) {
        self.git(folder, &["commit", "-q", "--allow-empty", "-m", message]);
    }

    fn loss_within(&self, folder: &Path, command: &str, bounds: Bounds) -> Option<String> {
        let request = PermissionRequest {
            cwd: Some(folder.to_owned()),
            ..PermissionRequest::new(command)
        };
        let home = self.path("home");
        let user = UserFolders {
            config: home.join(".config"),
            home,
        };
        let found = Classifier::new().analyze(command).expect("a command");
        let loss = Loss::within(&request, &found.parts, user, bounds);
        loss.map(|loss| loss.to_string())
    }

    fn loss(&self, folder: &Path, command: &str) -> Option<String> {
        self.loss_within(folder, command, Bounds::default())
    }

    #[track_caller]
    fn check(&self, folder: &Path, command: &str, expected: &str) {
        let found = self.loss(folder, command);
        assert_eq!(found.as_deref().unwrap_or("none"), expected, "{command}");
    }
}

fn write(root: &Path, name: &str, text: &str) {
    let file = root.join(name);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, text).expect("a file");
}

#[test]
fn a_hard_reset_discards_changes_and_keeps_untracked_files() {
    for format in ["sha1", "sha256"] {
        let (lab, root) = Lab::with_format(format);
        let reset = "git reset --hard";
        lab.check(&root, reset, "would discard no uncommitted changes");
        write(&root, "a.txt", "changed\n");
        write(&root, "new.txt", "x");
        lab.check(
            &root,
            reset,
            "would discard 1 changed file (a.txt) and keep 1 untracked file",
        );
        // Equal in size: only the content tells.
        write(&root, "src/b.rs", "2wo\n");
        write(&root, "staged.txt", "x");
        lab.git(&root, &["add", "staged.txt"]);
        let three = "would discard 3 changed files (a.txt, src/b.rs, staged.txt) \
                     and keep 1 untracked file";
        lab.check(&root, reset, three);
        lab.check(&root.join("src"), reset, three);
        lab.check(&lab.path(""), "git -C work reset --hard", three);
        lab.check(&lab.path(""), "cd work && git reset --hard", three);
        lab.check(&root, "git checkout -f", three);
        lab.check(&root, "sudo git reset --hard", three);
        lab.check(&root, "bash -c 'git reset --hard'", three);
        // A changed file with its old content.
        write(&root, "a.txt", "one\n");
        fs::remove_file(root.join("src/b.rs")).expect("it exists");
        lab.git(&root, &["rm", "-q", "--cached", "a.txt"]);
        let three = "would discard 3 changed files (a.txt, src/b.rs, staged.txt) \
                     and keep 2 untracked files";
        lab.check(&root, reset, three);
    }
}

#[test]
fn directories_that_are_unknown_have_no_clause() {
    let (lab, root) = Lab::with_commit();
    write(&root, "a.txt", "changed\n");
    for command in [
        "ls && cd src; git reset --hard",
        "cd \"$X\" && git reset --hard",
        "cd src | git reset --hard",
        "(cd ..) && git reset --hard",
        "GIT_DIR=x git reset --hard",
        "git --git-dir=x reset --hard",
        "git --work-tree=.. reset --hard",
        "ssh host git reset --hard",
        "docker exec box rm -rf src",
        "rm -rf \"$X\"",
        "rm -rf \"$X\"/*",
        "rm -rf missing",
        "git status",
        "git reset --hard --unknown",
        "git checkout \"$X\"",
        "git clean -f -e x",
    ] {
        lab.check(&root, command, "none");
    }
    lab.check(&lab.path("home"), "git reset --hard", "none");
    lab.check(&root.join("missing"), "git reset --hard", "none");
}

#[test]
fn a_checkout_of_paths_discards_their_changes() {
    let (lab, root) = Lab::with_commit();
    write(&root, "a.txt", "changed\n");
    write(&root, "src/b.rs", "changed\n");
    let both = "would discard 2 changed files (a.txt, src/b.rs)";
    let one = "would discard 1 changed file (src/b.rs)";
    for (command, expected) in [
        ("git checkout .", both),
        ("git checkout -- .", both),
        ("git restore .", both),
        ("git restore :/", both),
        ("git checkout -- src", one),
        ("git checkout HEAD -- src/b.rs", one),
        ("git checkout HEAD src/b.rs", one),
        ("git restore '*.rs'", one),
        ("git restore src/../src", one),
        ("git restore missing", "none"),
        ("git restore --staged .", "none"),
        ("git checkout main", "none"),
    ] {
        lab.check(&root, command, expected);
    }
    lab.check(&root.join("src"), "git checkout .", one);
    lab.git(&root, &["add", "src"]);
    lab.check(
        &root,
        "git checkout src/",
        "would discard no uncommitted changes",
    );
    lab.check(&root, "git checkout HEAD src/", one);
}

#[test]
fn a_deletion_says_what_git_knows_of_the_files() {
    let (lab, root) = Lab::with_commit();
    write(&root, ".gitignore", "build/\n*.log\n!keep.log\n");
    write(&root, "build/a.o", "1234");
    write(&root, "build/deep/b.o", "1234");
    write(&root, "src/x.log", "1");
    write(&root, "src/keep.log", "1");
    let ignored = "would delete 2 files, 8 bytes, all ignored by git";
    lab.check(&root, "rm -rf build", ignored);
    lab.check(&root, "rm -rf build/", ignored);
    lab.check(&root, "rm -rf build/deep build", ignored);
    let deep = "would delete 1 file, 4 bytes, all ignored by git";
    lab.check(&root, "rm -rf build/deep", deep);
    lab.check(&root.join("src"), "rm -rf ../build/deep", deep);
    let expected = "would delete 3 files, 6 bytes: 1 is untracked (src/keep.log), 1 is ignored";
    lab.check(&root, "rm -rf src", expected);
    write(&root, "src/b.rs", "changed\n");
    let expected = "would delete 3 files, 10 bytes: 1 tracked file has uncommitted changes \
                    (src/b.rs), 1 is untracked (src/keep.log), 1 is ignored";
    lab.check(&root, "rm -rf src", expected);
    lab.check(
        &root,
        "rm a.txt",
        "would delete 1 file, 4 bytes, all unchanged in git",
    );
    let expected = "would delete 1 file, 4 bytes: 1 tracked file has uncommitted changes (a.txt)";
    lab.git(&root, &["add", "."]);
    write(&root, "a.txt", "2ne\n");
    lab.git(&root, &["add", "."]);
    lab.check(&root, "rm a.txt", expected);
    write(&lab.path("home"), "x/y", "1");
    lab.check(
        &root,
        "rm -r ~/x",
        "would delete 1 file, 1 byte, in no git repository",
    );
}

#[test]
fn a_deletion_names_repositories_inside() {
    let (lab, root) = Lab::with_commit();
    let inner = root.join("inner");
    fs::create_dir(&inner).expect("a folder");
    lab.git(&inner, &["init", "-q"]);
    write(&inner, "x", "1");
    let expected = "would delete 1 file, 1 byte: 1 is a git repository";
    lab.check(
        &root,
        "rm -rf inner",
        "would delete 1 file, 1 byte: 1 is untracked (inner/x), 1 is a git repository",
    );
    fs::create_dir(root.join("outer")).expect("a folder");
    fs::rename(&inner, root.join("outer/inner")).expect("it moves");
    lab.check(&root, "rm -rf outer", expected);
    let all = "would delete 3 files, 9 bytes, all unchanged in git: 1 is a git repository";
    fs::remove_dir_all(root.join("outer")).expect("it exists");
    fs::write(root.join("a.txt"), "one\n").expect("a file");
    write(&root, "c", "1");
    lab.git(&root, &["add", "."]);
    lab.commit(&root, "second");
    lab.check(&lab.path(""), "rm -rf work", all);
}

#[test]
fn links_and_other_files_are_not_followed() {
    let (lab, root) = Lab::with_commit();
    write(&lab.path("home"), "big", &"x".repeat(5_000));
    std::os::unix::fs::symlink(lab.path("home"), root.join("link")).expect("a link");
    let fifo = root.join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .expect("it runs")
            .success()
    );
    let size = lab.path("home").as_os_str().len();
    let link = format!("would delete 1 file, {size} bytes: 1 is untracked (link)");
    lab.check(&root, "rm -rf link", &link);
    lab.check(
        &root,
        "rm fifo",
        "would delete 1 file, 0 bytes: 1 is untracked (fifo)",
    );
    lab.check(&root, "echo x > fifo", "none");
    // A tracked file that has become a FIFO, and files of the repository that are FIFOs.
    fs::remove_file(root.join("a.txt")).expect("it exists");
    fs::rename(&fifo, root.join("a.txt")).expect("it moves");
    let expected = "would discard 1 changed file (a.txt) and keep 1 untracked file";
    lab.check(&root, "git reset --hard", expected);
    for name in [
        "index",
        "HEAD",
        "config",
        "packed-refs",
        "refs/heads/x",
        "info/exclude",
    ] {
        let file = root.join(".git").join(name);
        let _ = fs::remove_file(&file);
        let made = Command::new("mkfifo").arg(&file).status().expect("it runs");
        assert!(made.success(), "{name}");
        for command in [
            "git reset --hard",
            "git branch -D x",
            "rm -rf src",
            "git clean -fdx",
        ] {
            lab.loss(&root, command);
        }
    }
}

#[test]
fn a_clean_deletes_what_it_would_delete() {
    let commands = [
        "git clean -f",
        "git clean -fd",
        "git clean -fx",
        "git clean -fdx",
        "git clean -fX",
        "git clean -fdX",
        "git clean -f folder",
        "git clean -fx folder build",
        "git clean -fX folder only",
    ];
    for command in commands {
        let (lab, root) = Lab::with_commit();
        write(&root, ".gitignore", "build/\n*.log\n");
        lab.git(&root, &["add", "."]);
        for name in [
            "new",
            "x.log",
            "src/new",
            "src/x.log",
            "src/only/x.log",
            "build/a",
            "folder/a",
            "folder/x.log",
            "folder/only/x.log",
            "only/deep/x.log",
        ] {
            write(&root, name, "12");
        }
        write(&root, "folder/inner/a", "12");
        lab.git(&root.join("folder/inner"), &["init", "-q"]);
        let before = files(&root);
        let text = lab.loss(&root, command).expect("a clause");
        lab.git(&root, &command.split(' ').skip(1).collect::<Vec<_>>());
        let count = before - files(&root);
        let numbers = numbers(&text);
        let (size, counts) = numbers.split_last().expect("a size");
        assert_eq!(counts.iter().sum::<usize>(), count, "{command}: {text}");
        assert_eq!(*size, count * 2, "{command}: {text}");
    }
}

/// Returns the numbers in a text.
fn numbers(text: &str) -> Vec<usize> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.parse().ok()).collect()
}

/// Returns the number of files below a folder, without those of git.
fn files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder");
    let entries = entries.map(|entry| entry.expect("an entry").path());
    let count = |path: PathBuf| match path.is_dir() {
        true if path.ends_with(".git") => 0,
        true => files(&path),
        false => 1,
    };
    entries.map(count).sum()
}

#[test]
fn existing_files_are_overwritten() {
    let (lab, root) = Lab::with_commit();
    write(&root, ".gitignore", "*.log\n");
    write(&root, "notes.txt", &"x".repeat(1_250));
    write(&root, "x.log", "1");
    write(&root, "empty", "");
    write(&root, "src/notes.txt", "1");
    for (command, expected) in [
        (
            "echo x > notes.txt",
            "would overwrite notes.txt (1.2 KiB, untracked)",
        ),
        (
            "echo x > x.log",
            "would overwrite x.log (1 byte, ignored by git)",
        ),
        (
            "echo x > a.txt",
            "would overwrite a.txt (4 bytes, unchanged in git)",
        ),
        ("echo x >> notes.txt", "none"),
        ("echo x > new", "none"),
        ("echo x > empty", "none"),
        (
            "echo x | tee notes.txt",
            "would overwrite notes.txt (1.2 KiB, untracked)",
        ),
        ("echo x | tee -a notes.txt", "none"),
        (
            "mv a.txt notes.txt",
            "would overwrite notes.txt (1.2 KiB, untracked)",
        ),
        (
            "mv notes.txt src",
            "would overwrite src/notes.txt (1 byte, untracked)",
        ),
        ("mv notes.txt new", "none"),
        (
            "cp a.txt x.log",
            "would overwrite x.log (1 byte, ignored by git)",
        ),
        ("touch notes.txt", "none"),
        ("mkdir src", "none"),
    ] {
        lab.check(&root, command, expected);
    }
    write(&root, "a.txt", "changed\n");
    let expected = "would overwrite a.txt (8 bytes, with uncommitted changes)";
    lab.check(&root, "echo x > a.txt", expected);
    write(&lab.path("home"), "x", "1");
    let expected = format!(
        "would overwrite {} (1 byte, in no git repository)",
        lab.path("home/x").display()
    );
    let found = lab.loss(&root, "echo x > ../home/x").expect("a clause");
    // Long paths are shortened.
    assert_eq!(found.split(" (").nth(1), expected.split(" (").nth(1));
}

#[test]
fn stashes_are_counted() {
    let (lab, root) = Lab::with_commit();
    lab.check(&root, "git stash drop", "none");
    write(&root, "a.txt", "changed\n");
    lab.git(&root, &["stash", "-q"]);
    let only = "would drop the only stash, with changes of 1 file (a.txt)";
    lab.check(&root, "git stash drop", only);
    write(&root, "src/b.rs", "changed\n");
    write(&root, "new/x", "1");
    lab.git(&root, &["stash", "-q", "-u"]);
    let latest = "would drop one of 2 stashes, with changes of 2 files (src/b.rs, new/x)";
    let first = "would drop one of 2 stashes, with changes of 1 file (a.txt)";
    lab.check(&root, "git stash drop", latest);
    lab.check(&root, "git stash drop 0", latest);
    lab.check(&root, "git stash drop stash@{1}", first);
    lab.check(&root, "git stash drop stash@{2}", "none");
    lab.check(&root, "git stash clear", "would drop all 2 stashes");
    lab.git(&root, &["gc", "-q"]);
    lab.check(&root, "git stash drop stash@{1}", first);
}

#[test]
fn commits_of_a_deleted_branch_are_counted() {
    for format in ["sha1", "sha256"] {
        let (lab, root) = Lab::with_format(format);
        lab.git(&root, &["checkout", "-q", "-b", "x"]);
        for message in ["1", "2", "3"] {
            lab.commit(&root, message);
        }
        lab.git(&root, &["checkout", "-q", "main"]);
        let three = "would delete the branch x, with 3 commits on no other branch or tag";
        let none = "would delete the branch x, whose commits are all on other branches or tags";
        lab.check(&root, "git branch -D x", three);
        lab.git(&root, &["pack-refs", "--all"]);
        lab.git(&root, &["gc", "-q"]);
        lab.check(&root, "git branch -D x", three);
        lab.check(&root, "git branch -D missing", "none");
        lab.git(&root, &["branch", "y/z", "x~1"]);
        let one = "would delete the branch x, with 1 commit on no other branch or tag";
        lab.check(&root, "git branch -D x", one);
        let both = "would delete the branch x, with 3 commits on no other branch or tag; \
                    would delete the branch y/z, with 2 commits on no other branch or tag";
        lab.check(&root, "git branch -D x y/z", both);
        lab.git(&root, &["tag", "-a", "-m", "m", "v1", "x"]);
        lab.check(&root, "git branch -D x", none);
        lab.git(&root, &["tag", "-d", "v1"]);
        // A remote-tracking branch has them, too.
        let clone = lab.path("clone");
        lab.git(&lab.path(""), &["clone", "-q", "work", "clone"]);
        lab.git(&clone, &["branch", "x", "origin/x"]);
        lab.check(&clone, "git branch -D x", none);
        let bare = lab.path("bare");
        lab.git(&lab.path(""), &["clone", "-q", "--bare", "work", "bare"]);
        lab.check(&bare, "git branch -D x", one);
        lab.check(&bare, "git reset --hard", "none");
        let shared = lab.path("shared");
        lab.git(
            &lab.path(""),
            &["clone", "-q", "--shared", "work", "shared"],
        );
        lab.git(&shared, &["branch", "n", "origin/x"]);
        lab.check(&shared, "git branch -D n", &none.replace("x,", "n,"));
    }
}

#[test]
fn a_reset_to_another_commit_leaves_commits() {
    let (lab, root) = Lab::with_commit();
    lab.commit(&root, "second");
    lab.commit(&root, "third");
    let first = lab.git(&root, &["rev-parse", "HEAD~2"]);
    let clean = "would discard no uncommitted changes";
    let two = format!("{clean}; would leave 2 commits on no branch or tag");
    lab.check(&root, "git reset --hard HEAD~2", &two);
    lab.check(&root, "git reset --hard HEAD^^", &two);
    lab.check(&root, &format!("git reset --hard {}", first.trim()), &two);
    lab.check(&root, "git reset --hard HEAD", clean);
    lab.git(&root, &["branch", "kept", "HEAD~1"]);
    let one = format!("{clean}; would leave 1 commit on no branch or tag");
    lab.check(&root, "git reset --hard kept~", &one);
    lab.check(&root, "git reset --hard unknown", clean);
}

#[test]
fn work_trees_submodules_and_unborn_branches_are_read() {
    let (lab, root) = Lab::with_commit();
    let tree = lab.path("tree");
    lab.git(&root, &["worktree", "add", "-q", "../tree", "-b", "other"]);
    write(&tree, "a.txt", "changed\n");
    let one = "would discard 1 changed file (a.txt)";
    lab.check(&tree, "git reset --hard", one);
    lab.check(
        &root,
        "git reset --hard",
        "would discard no uncommitted changes",
    );
    lab.git(
        &root,
        &[
            "submodule",
            "--quiet",
            "add",
            lab.path("work").to_str().expect("text"),
            "sub",
        ],
    );
    lab.commit(&root, "a submodule");
    lab.check(
        &root,
        "git reset --hard",
        "would discard no uncommitted changes",
    );
    write(&root.join("sub"), "a.txt", "changed\n");
    lab.check(&root.join("sub"), "git reset --hard", one);
    // The settings of the repository lead to another place.
    lab.git(
        &root,
        &[
            "config",
            "core.worktree",
            lab.path("home").to_str().expect("text"),
        ],
    );
    lab.check(&root, "git reset --hard", "none");
    let unborn = lab.path("unborn");
    fs::create_dir(&unborn).expect("a folder");
    lab.git(&unborn, &["init", "-q"]);
    lab.check(
        &unborn,
        "git reset --hard",
        "would discard no uncommitted changes",
    );
    write(&unborn, "x", "1");
    lab.git(&unborn, &["add", "."]);
    lab.check(
        &unborn,
        "git reset --hard",
        "would discard 1 changed file (x)",
    );
}

#[test]
fn conflicts_and_modes_are_changes() {
    let (lab, root) = Lab::with_commit();
    let program = root.join("a.txt");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let one = "would discard 1 changed file (a.txt)";
    lab.check(&root, "git reset --hard", one);
    lab.git(&root, &["config", "core.fileMode", "false"]);
    lab.check(
        &root,
        "git reset --hard",
        "would discard no uncommitted changes",
    );
    lab.git(&root, &["checkout", "-q", "-b", "x"]);
    write(&root, "a.txt", "x\n");
    lab.git(&root, &["commit", "-qam", "x"]);
    lab.git(&root, &["checkout", "-q", "main"]);
    write(&root, "a.txt", "y\n");
    lab.git(&root, &["commit", "-qam", "y"]);
    let merge = Command::new("git")
        .current_dir(&root)
        .args(["merge", "-q", "x"])
        .output();
    assert!(!merge.expect("it runs").status.success());
    lab.check(&root, "git reset --hard", one);
}

#[test]
fn beyond_a_limit_numbers_are_at_least() {
    let (lab, root) = Lab::with_commit();
    for name in 0..10 {
        write(&root, &format!("new/{name}"), "1");
    }
    let within = |command: &str, change: &dyn Fn(&mut Bounds)| {
        let mut bounds = Bounds::default();
        change(&mut bounds);
        lab.loss_within(&root, command, bounds).expect("a clause")
    };
    let text = within("rm -rf new", &|bounds| bounds.entries = 4);
    assert!(
        text.starts_with("would delete at least 4 files, 4 bytes: at least 4 are untracked"),
        "{text}"
    );
    let text = within("git clean -fd", &|bounds| bounds.entries = 8);
    assert!(text.starts_with("would delete at least "), "{text}");
    write(&root, "a.txt", "changed\n");
    write(&root, "src/b.rs", "2wo\n");
    let text = within("git reset --hard", &|bounds| bounds.tracked = 1);
    assert!(
        text.starts_with("would discard at least 1 changed file (a.txt)"),
        "{text}"
    );
    let text = within("git reset --hard", &|bounds| bounds.hashed = 1);
    assert!(
        text.starts_with("would discard at least 1 changed file (a.txt)"),
        "{text}"
    );
    write(&root, "src/b.rs", "three\n");
    lab.git(&root, &["add", "."]);
    let text = within("git reset --hard", &|bounds| bounds.tree_entries = 1);
    assert!(text.starts_with("would discard at least "), "{text}");
    lab.git(&root, &["checkout", "-q", "-b", "x"]);
    for message in ["1", "2", "3"] {
        lab.commit(&root, message);
    }
    lab.git(&root, &["checkout", "-q", "main"]);
    let text = within("git branch -D x", &|bounds| bounds.commits = 2);
    let start = "would delete the branch x, with at least ";
    assert!(text.starts_with(start), "{text}");
    let text = within("git branch -D x", &|bounds| bounds.commits = 0);
    assert_eq!(
        text,
        "would delete the branch x, which has too many commits to compare"
    );
}

/// Programs that a repository can name run for none of the commands.
#[test]
fn no_program_of_a_repository_runs() {
    let (lab, root) = Lab::with_commit();
    let marker = lab.path("marker");
    let program = lab.path("program");
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", marker.display());
    fs::write(&program, text).expect("a file");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let program_text = program.to_str().expect("text");
    write(&root, ".gitattributes", "* filter=evil diff=evil\n");
    write(&root, "a.txt", "changed\n");
    lab.git(&root, &["stash", "-q"]);
    for key in [
        "core.fsmonitor",
        "core.hooksPath",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "alias.reset",
        "core.alternateRefsCommand",
    ] {
        lab.git(&root, &["config", key, program_text]);
    }
    write(&root, ".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n");
    write(&root, "a.txt", "2ne\n");
    for command in [
        "git reset --hard",
        "git checkout .",
        "git clean -fdx",
        "git stash drop",
        "git branch -D main",
        "rm -rf .",
        "echo x > a.txt",
    ] {
        assert!(lab.loss(&root, command).is_some(), "{command}");
    }
    assert!(!marker.exists(), "{:?}", fs::read_to_string(&marker));
}

#[test]
fn names_are_shown_safely() {
    let (lab, root) = Lab::with_commit();
    write(&root, "x\u{202e}\n\u{1b}[1m", "1");
    let expected = "would delete 1 file, 1 byte: 1 is untracked (x\\u{202e}\\n\\u{1b}[1m)";
    lab.check(&root, "rm -r .git/../x*", "none");
    let name = format!("rm '{}'", "x\u{202e}\n\u{1b}[1m");
    lab.check(&root, &name, expected);
    lab.check(&root, "rm -r x*", expected);
}

/// Step on a file of a random work tree after the commit.
#[derive(Clone, Copy, Debug)]
enum Step {
    Change,
    Stage,
    Delete,
    Touch,
    Unstage,
    Keep,
}

fn step() -> impl Strategy<Value = Step> {
    use Step::{Change, Delete, Keep, Stage, Touch, Unstage};
    prop::sample::select(vec![Change, Stage, Delete, Touch, Unstage, Keep, Keep])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn numbers_equal_those_of_git(
        steps in prop::collection::vec((0..3_usize, step()), 1..12),
        others in prop::collection::vec((0..4_usize, 0..6_usize), 0..12),
        patterns in prop::collection::vec(
            prop::sample::select(vec!["n0", "/n1", "d1/", "*2", "!n2", "d2/n3", "**/n4", "d?", "\\n5 "]),
            0..4,
        ),
        commits in prop::collection::vec(0..4_usize, 1..8),
    ) {
        let lab = Lab::new();
        let root = lab.path("work");
        fs::create_dir(&root).expect("a folder");
        lab.git(&root, &["init", "-q", "-b", "main"]);
        write(&root, ".gitignore", &patterns.join("\n"));
        let folders = ["", "d1/", "d2/", "d3/d1/"];
        for (at, (folder, _)) in steps.iter().enumerate() {
            write(&root, &format!("{}t{at}", folders[*folder]), "text\n");
        }
        lab.git(&root, &["add", "-f", "."]);
        lab.commit(&root, "first");
        for (at, (folder, step)) in steps.iter().enumerate() {
            let name = format!("{}t{at}", folders[*folder]);
            match step {
                Step::Change => write(&root, &name, "test\n"),
                Step::Stage => {
                    write(&root, &name, "staged\n");
                    lab.git(&root, &["add", "-f", &name]);
                }
                Step::Delete => fs::remove_file(root.join(&name)).expect("it exists"),
                Step::Touch => write(&root, &name, "text\n"),
                Step::Unstage => {
                    lab.git(&root, &["rm", "-q", "--cached", &name]);
                }
                Step::Keep => {}
            }
        }
        for (folder, name) in &others {
            write(&root, &format!("{}n{name}", folders[*folder]), "12");
        }
        let arguments = ["status", "--porcelain=v1", "-z", "--no-renames", "-uall", "--ignored"];
        let status = lab.git(&root, &arguments);
        let lines: Vec<&str> = status.split('\0').filter(|line| !line.is_empty()).collect();
        let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
        let (untracked, ignored) = (count("??"), count("!!"));
        let names: std::collections::BTreeSet<&str> = lines
            .iter()
            .filter(|line| !line.starts_with("??") && !line.starts_with("!!"))
            .map(|line| &line[3..])
            .collect();
        let changed = names.len();
        let text = lab.loss(&root, "git reset --hard").expect("a clause");
        let first = match changed {
            0 => "would discard no uncommitted changes".to_owned(),
            1 => "would discard 1 changed file".to_owned(),
            many => format!("would discard {many} changed files"),
        };
        prop_assert!(text.starts_with(&first), "{text}\n{lines:?}");
        let kept = match untracked {
            0 => String::new(),
            1 => " and keep 1 untracked file".to_owned(),
            many => format!(" and keep {many} untracked files"),
        };
        prop_assert!(text.ends_with(&kept), "{text}\n{lines:?}");
        let text = lab.loss(&root, "git clean -fdx").expect("a clause");
        // Both kinds are named with up to three files.
        let without_names: String = text
            .split(" (")
            .enumerate()
            .map(|(at, part)| match at {
                0 => part,
                _ => part.split_once(')').map_or("", |(_, rest)| rest),
            })
            .collect();
        let noun = |count| if count == 1 { "file" } else { "files" };
        let expected = match untracked + ignored {
            0 => "would delete no untracked or ignored files".to_owned(),
            _ => format!(
                "would delete {untracked} untracked {} and {ignored} ignored {}, ",
                noun(untracked),
                noun(ignored)
            ),
        };
        let text = without_names;
        prop_assert!(text.starts_with(&expected), "{text}\n{lines:?}");
        // Branches that fork and merge.
        for (at, branch) in commits.iter().enumerate() {
            let name = format!("b{branch}");
            let tree = lab.git(&root, &["write-tree"]);
            let parent = |name: &str| {
                let branches = lab.git(&root, &["branch", "--list", name]);
                if branches.is_empty() { "main".to_owned() } else { name.to_owned() }
            };
            let (one, two) = (parent(&name), parent(&format!("b{}", commits[0])));
            let message = at.to_string();
            let mut arguments = vec!["commit-tree", tree.trim(), "-m", &message, "-p", &one];
            if at % 3 == 2 && one != two {
                arguments.extend(["-p", &two]);
            }
            let commit = lab.git(&root, &arguments);
            lab.git(&root, &["branch", "-f", &name, commit.trim()]);
        }
        for branch in &commits {
            let name = format!("b{branch}");
            let branch = format!("refs/heads/{name}");
            let exclude = format!("--exclude={branch}");
            let only = lab.git(&root, &["rev-list", "--count", &branch, "--not", &exclude, "--all"]);
            let text = lab.loss(&root, &format!("git branch -D {name}")).expect("a clause");
            let expected = match only.trim() {
                "0" => format!("would delete the branch {name}, whose commits"),
                "1" => format!("would delete the branch {name}, with 1 commit on"),
                many => format!("would delete the branch {name}, with {many} commits on"),
            };
            prop_assert!(text.starts_with(&expected), "{text}, not {expected}");
        }
    }
}
