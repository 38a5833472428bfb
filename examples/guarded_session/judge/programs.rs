//! Which programs a command line runs in the end, and what is known of them.

use super::shell::{Command, Script, Unclear};
use super::word::Word;

/// What a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Looks at things, or is part of the shell.
    Reads,
    /// Changes files that it is told by name.
    Writes,
    /// Runs a script or the rules of the project.
    Runs,
    /// Talks to other machines.
    Network,
    /// Acts on the machine and its users.
    System,
}

/// What is known of `program`; nothing for one that this policy has not heard of.
pub(crate) fn kind_of(program: &str) -> Option<Kind> {
    let is = |names: &str| names.split_whitespace().any(|name| name == program);
    if is(READS) || is(BUILTINS) {
        Some(Kind::Reads)
    } else if is(WRITES) {
        Some(Kind::Writes)
    } else if is(RUNS) {
        Some(Kind::Runs)
    } else if is(NETWORK) {
        Some(Kind::Network)
    } else if is(SYSTEM) || program.starts_with("mkfs") {
        Some(Kind::System)
    } else if program.contains('/') && !program.starts_with('/') {
        Some(Kind::Runs)
    } else {
        None
    }
}

/// The commands of `text`, and those that they in turn are told to run: by `env`,
/// `xargs`, `find -exec`, `sh -c` and the like.
///
/// # Errors
/// When that cannot be known before it runs.
pub(crate) fn read(text: &str) -> Result<Script, Unclear> {
    read_nested(text, 0)
}

fn read_nested(text: &str, depth: usize) -> Result<Script, Unclear> {
    if depth > 5 {
        return Err(Unclear::Depth);
    }
    let mut script = Script::parse(text)?;
    let mut index = 0;
    // Commands found on the way are appended, and looked at in their turn.
    while let Some(command) = script.commands.get(index).cloned() {
        index += 1;
        if index > 1000 {
            return Err(Unclear::Depth);
        }
        match told_to_run(&command)? {
            Told::Nothing => {}
            Told::Command(inner) => script.commands.push(inner),
            Told::Text(inner) => {
                let inner = read_nested(&inner, depth + 1)?;
                script
                    .commands
                    .extend(inner.commands.into_iter().map(without_places));
                script
                    .redirects
                    .extend(inner.redirects.into_iter().map(without_place));
                script.assigned.extend(inner.assigned);
            }
        }
    }
    Ok(script)
}

enum Told {
    Nothing,
    Command(Command),
    Text(String),
}

fn told_to_run(command: &Command) -> Result<Told, Unclear> {
    let Some(program) = command.program() else {
        return Err(unclear("a program whose name only running it would tell"));
    };
    let arguments = &command.arguments;
    match program {
        "sh" | "bash" | "dash" => match arguments.iter().position(|word| has_letter(word, 'c')) {
            None => Ok(Told::Nothing),
            Some(at) => match arguments.get(at + 1).and_then(|word| word.text.clone()) {
                Some(text) => Ok(Told::Text(text)),
                None => Err(unclear("a shell whose text only running it would tell")),
            },
        },
        "eval" | "source" | "." | "trap" | "alias" => Err(unclear(program)),
        "env" | "command" | "exec" | "nice" | "nohup" | "time" | "builtin" => {
            // Any option could carry a value, or change what is run.
            Ok(inner(arguments, |text| text.contains('=')))
        }
        "timeout" => Ok(inner(arguments, |text| {
            text.starts_with(|it: char| it.is_ascii_digit())
        })),
        "xargs" => match inner(arguments, |text| text.bytes().all(|it| it.is_ascii_digit())) {
            // What comes in is known to nobody.
            Told::Command(mut inner) => {
                inner.arguments.push(Word::default());
                Ok(Told::Command(inner))
            }
            other => Ok(other),
        },
        "find" => {
            let runs = |word: &Word| {
                matches!(
                    word.text.as_deref(),
                    Some("-exec" | "-execdir" | "-ok" | "-okdir")
                )
            };
            let Some(at) = arguments.iter().position(runs) else {
                return Ok(Told::Nothing);
            };
            let rest = arguments[at + 1..]
                .iter()
                .map(|word| match word.text.as_deref() {
                    Some("{}") => Word::default(),
                    _ => word.clone(),
                });
            Ok(inner(&rest.collect::<Vec<_>>(), |_| false))
        }
        _ => Ok(Told::Nothing),
    }
}

/// The command that `arguments` hold behind options and what `is_own` knows.
fn inner(arguments: &[Word], is_own: impl Fn(&str) -> bool) -> Told {
    let is_own = |word: &&Word| {
        word.text
            .as_deref()
            .is_some_and(|text| text.starts_with('-') || is_own(text))
    };
    let skipped = arguments.iter().take_while(is_own).count();
    match arguments[skipped..].split_first() {
        None => Told::Nothing,
        Some((name, arguments)) => Told::Command(Command {
            name: name.clone(),
            arguments: arguments.to_vec(),
        }),
    }
}

fn has_letter(word: &Word, letter: char) -> bool {
    word.text.as_deref().is_some_and(|text| {
        text.strip_prefix('-')
            .is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
    })
}

fn unclear(what: &str) -> Unclear {
    Unclear::Construct(what.to_owned())
}

fn without_places(command: Command) -> Command {
    Command {
        name: without_place(command.name),
        arguments: command.arguments.into_iter().map(without_place).collect(),
    }
}

/// A word of a nested text stands nowhere in the outer one.
fn without_place(word: Word) -> Word {
    Word {
        place: 0..0,
        ..word
    }
}

const READS: &str = "awk basename cat cksum cmp column comm cut date df diff dirname du egrep expr
    false fgrep file find fold free grep head hexdump id join jq ls md5sum nl nproc od paste printf
    ps readlink realpath rev sed seq sha256sum sleep sort stat strings tac tail tr true uname uniq
    wc which whoami xargs xxd yes env nice nohup time timeout tty hostname";

const BUILTINS: &str = ": [ break cd command continue echo exec exit export hash local printf pwd
    read readonly return set shift test true type ulimit umask unset wait";

const WRITES: &str = "chmod cp dd gunzip gzip install ln mkdir mktemp mv patch rm rmdir shred split
    tar tee touch truncate unzip zip";

const RUNS: &str = "bash dash git make node perl python python3 ruby sh";

const NETWORK: &str = "apt apt-get brew cargo curl dig docker ftp gem host http nc ncat netcat
    npm npx nslookup pip pip3 ping pnpm podman rsync scp sftp socat ssh telnet wget yarn";

const SYSTEM: &str = "chown chroot chgrp crontab dmesg doas fdisk halt insmod iptables kill killall
    modprobe mount nsenter parted passwd pkill poweroff reboot service setcap shutdown su sudo
    sysctl systemctl umount unshare useradd userdel usermod";

#[cfg(test)]
mod tests {
    use super::read;

    fn programs(text: &str) -> Vec<String> {
        let script = read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        script
            .commands
            .iter()
            .map(|command| command.program().unwrap_or("?").to_owned())
            .collect()
    }

    #[test]
    fn what_another_program_is_told_to_run_is_found() {
        for text in [
            "env A=b rm -r x",
            "nohup nice -10 rm x",
            "timeout 5 rm x",
            "find . -name '*.o' -exec rm {} ;",
            "ls | xargs -n 1 rm",
            "sh -c 'rm x'",
            "bash -ec \"cd a; rm x\"",
            "sh -c 'sh -c \"rm x\"'",
            "/bin/rm x",
            "command rm x",
        ] {
            assert!(
                programs(text).iter().any(|program| program == "rm"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_known_is_refused() {
        for text in [
            "$x",
            "sh -c \"$x\"",
            "eval 'rm x'",
            ". ./x",
            "trap 'rm x' EXIT",
            "r* x",
            "env $x",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
