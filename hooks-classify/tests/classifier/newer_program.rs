//! The comparison of tables with programs reports additions of a newer version.

#[path = "../oracles/compare.rs"]
mod compare;
#[path = "../oracles/help.rs"]
mod help;
#[path = "../oracles/programs.rs"]
mod programs;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hooks_classify::Classifier;

use compare::{Figures, compare};
use programs::Machine;

/// Returns a `docker` that describes the command `ps` and, in a newer version, a command `more`.
fn docker(options: &str, commands: &str) -> String {
    format!(
        "#!/bin/sh\n\
         case \"$*\" in\n\
         --version) echo 'Docker version 99.1.0, build 1' ;;\n\
         '__complete ') printf '{commands}:4\\n' ;;\n\
         'ps --help') printf 'Usage:  docker ps [OPTIONS]\\n\\nOptions:\\n{options}' ;;\n\
         'more --help') printf 'Usage:  docker more\\n' ;;\n\
         *) echo :4 ;;\n\
         esac\n"
    )
}

/// Returns a `git` with the command `status`.
fn git(options: &str, help: &str) -> String {
    format!(
        "#!/bin/sh\n\
         case \"$*\" in\n\
         --list-cmds=main) echo status ;;\n\
         'status --git-completion-helper-all') echo '{options}' ;;\n\
         'status -h') printf 'usage: git status\\n\\n{help}' ;;\n\
         esac\n"
    )
}

/// Returns the figures of the comparison with a program in a temporary folder.
fn figures(program: &str, script: &str) -> Figures {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(program);
    fs::write(&file, script).expect("a program");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program that can run");
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let machine = Machine::new(Some(path.into()));
    let mut figures = Figures {
        version: machine.version(&[program, "--version"]).unwrap_or_default(),
        ..Figures::default()
    };
    let described = machine.described(program);
    compare(&Classifier::new(), &described, &mut figures);
    figures
}

#[test]
fn a_program_equal_to_its_table_has_no_differences() {
    let known = "  -a, --all             Show all\\n  -n, --last int        Show n\\n";
    let found = figures("docker", &docker(known, "ps\\tList\\n"));
    assert_eq!(found.version, "99.1.0");
    assert_eq!((found.commands, found.options), (1, 4));
    assert_eq!(found.wrong.into_iter().collect::<Vec<_>>(), [""; 0]);

    let known = "    -s, --[no-]short    short\\n    -u, --[no-]untracked-files[=<mode>]\\n";
    let found = figures("git", &git("--short --untracked-files --no-short", known));
    assert_eq!((found.commands, found.options), (1, 5));
    assert_eq!(found.wrong.into_iter().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn new_commands_new_options_and_changed_values_are_reported() {
    let newer = "  -a, --all string      Show all of a kind\\n\
                 \x20 -n, --last            Show the last\\n\
                 \x20     --watch           Show again\\n";
    let found = figures("docker", &docker(newer, "more\\tMore\\nps\\tList\\n"));
    assert_eq!(
        found.wrong.into_iter().collect::<Vec<_>>(),
        [
            "docker more: unknown command",
            "docker ps --all: takes a value",
            "docker ps --last: unknown option",
            "docker ps --watch: unknown option",
            "docker ps -a: takes a value",
            "docker ps -n: unknown option",
        ]
    );

    let newer = "    -y, --[no-]years    show years\\n    -s[<n>]             short\\n";
    let found = figures("git", &git("--short= --porcelain --years", newer));
    assert_eq!(
        found.wrong.into_iter().collect::<Vec<_>>(),
        [
            "git status --short: takes a value",
            "git status --years: unknown option",
            "git status -y: unknown option",
        ]
    );
}
