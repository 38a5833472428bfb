//! Whether an allow covers a part of a command.

use super::Effect;
use super::paths::{Holds, Paths};
use super::rule::Rule;
use super::scene::{Scene, base_name, variable};
use crate::classify::{Crud, Part, PartCall, UNKNOWN};

/// Folders whose programs are what their names say.
const SYSTEM: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
];

/// Programs that run what they read.
const RUNS_INPUT: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "redis-cli",
    "mongosh",
    "ssh",
    "at",
    "batch",
    "parallel",
    "xargs",
    "pwsh",
    "powershell",
    "crontab",
    "kubectl",
    "bc",
    "ed",
    "ex",
    "vim",
    "osascript",
    "duckdb",
    "clickhouse-client",
    "docker",
    "podman",
];

impl Rule {
    /// Whether it allows a part of a command; an error says why it does not.
    pub(super) fn covers(&self, scene: &Scene<'_>, part: &Part) -> Result<(), &'static str> {
        let wanted = &self.conditions;
        if wanted.tool.is_some() || wanted.host.is_some() || self.effect != Effect::Allow {
            return Err("it is about something else");
        }
        if self.agent(scene) != Holds::Yes || self.reaches(scene) != Holds::Yes {
            return Err("it is for another agent or another directory");
        }
        let Some(first) = part.words.first() else {
            return Err("there is no program in it");
        };
        match &wanted.program {
            Some(programs) if !programs.iter().any(|one| is(&first.text, one)) => {
                return Err("it is about another program");
            }
            None if part.code => return Err("without `program` it allows no code to run"),
            _ => {}
        }
        if wanted
            .class
            .as_ref()
            .is_some_and(|c| !c.contains(&part.effect))
        {
            return Err("it is about another class");
        }
        let Some(rest) = arguments_after(part, wanted.subcommand.as_deref()) else {
            return Err("it is about another subcommand");
        };
        let accepts = wanted.substitutions && substitutes(scene, part);
        if !first.known || (!accepts && part.words.iter().any(|word| !word.known)) {
            return Err("a word of the command is only known when it runs");
        }
        match &wanted.arguments {
            Some(patterns) => {
                let fits = |word: &&str| {
                    !word.contains(UNKNOWN) && patterns.iter().any(|one| one.is_match(word))
                };
                if !rest.iter().all(fits) || part.words.iter().any(|word| !word.known) {
                    return Err("it does not name one of the arguments");
                }
            }
            None if part.told => return Err("a setting may change what runs"),
            None => {}
        }
        if let Some(paths) = &wanted.path {
            self.within(scene, part, paths, &rest)?;
        }
        self.unnamed(scene, part)
    }

    fn within(
        &self,
        scene: &Scene<'_>,
        part: &Part,
        paths: &Paths,
        rest: &[&str],
    ) -> Result<(), &'static str> {
        let base = self.base(scene);
        let inside = |text: &str| paths.hold(&scene.start.locate(text), base);
        if part.words.iter().any(|word| !word.known) {
            return Err("a word of the command is only known when it runs");
        }
        let mut named: Vec<&str> = Vec::new();
        named.extend(part.touches.iter().map(|touch| touch.path.text.as_str()));
        match part.calls.as_slice() {
            [call] if call.understood => {
                let operand = |text: &&&str| call.operands.iter().any(|o| o.text == ***text);
                named.extend(rest.iter().filter(operand).copied());
                let values = call.options.iter().filter_map(|(_, value)| value.as_ref());
                let path = |text: &&str| text.contains('/') || text.starts_with(['.', '~']);
                named.extend(values.map(|value| value.text.as_str()).filter(path));
            }
            // What an option is and what its value is not known.
            [] => {
                for word in rest {
                    match word.strip_prefix('-') {
                        None => named.push(word),
                        Some(option) => match option.split_once('=') {
                            Some((_, value)) => named.push(value),
                            None if option.contains(['/', '.', '~']) => {
                                return Err("an option may name a file");
                            }
                            None => {}
                        },
                    }
                }
            }
            _ => return Err("which files it touches is not known"),
        }
        if named.is_empty() {
            return Err("it names no file");
        }
        match named.iter().all(|text| inside(text)) {
            true => Ok(()),
            false => Err("it touches a file that the rule does not name"),
        }
    }

    /// Whether there is something about a part that an allow has to name and does not.
    fn unnamed(&self, scene: &Scene<'_>, part: &Part) -> Result<(), &'static str> {
        let wanted = &self.conditions;
        let base = self.base(scene);
        let groups: Vec<&Part> = scene.around(part).filter(|p| p.words.is_empty()).collect();
        let own = || std::iter::once(part).chain(groups.iter().copied());
        let sent = own().flat_map(|part| &part.redirections);
        for touch in sent {
            let path = scene.locate(&touch.path);
            if !touch.path.known || !wanted.redirections.paths.hold(&path, base) {
                return Err("there is a redirection that it does not name");
            }
        }
        if !wanted.redirections.documents && own().any(|part| !part.documents.is_empty()) {
            return Err("there is a here-document, and its `redirections` do not name `<<`");
        }
        let name = part.words.first().map_or("", |word| base_name(&word.text));
        let piped = part.input.is_some()
            && part.documents.is_empty()
            && !part
                .redirections
                .iter()
                .any(|touch| touch.effect == Crud::Read);
        let runs = RUNS_INPUT.contains(&name) || name.starts_with("python");
        if piped && runs && !wanted.redirections.pipes {
            return Err("it may run what it reads, and its `redirections` do not name `|`");
        }
        let wrappers: Vec<&Part> = scene.around(part).filter(|p| !p.words.is_empty()).collect();
        let prefixed = wrappers
            .iter()
            .copied()
            .chain(Some(part).filter(|_| matches!(name, "env" | "sudo" | "doas")))
            .flat_map(|wrapper| wrapper.words.iter().skip(1))
            .filter(|word| assignment(&word.text))
            .map(|word| variable(&word.text));
        let assigned = own()
            .chain(wrappers.iter().copied())
            .flat_map(|part| &part.assignments)
            .map(|one| variable(&one.name))
            .chain(prefixed)
            .chain(scene.set.iter().cloned());
        for name in assigned {
            if !wanted.environment.iter().any(|one| one.is_match(&name)) {
                return Err("there is an assignment that it does not name");
            }
        }
        match substitutes(scene, part) && !wanted.substitutions {
            true => Err("there is a substitution, and it does not say `substitutions = true`"),
            false => Ok(()),
        }
    }
}

fn substitutes(scene: &Scene<'_>, part: &Part) -> bool {
    scene.parts().substitutions
        || part.substitutions
        || scene.around(part).any(|around| around.substitutions)
}

fn assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_' || c == UNKNOWN)
    })
}

/// Whether a word is the program that an allow names.
fn is(word: &str, program: &str) -> bool {
    word == program
        || (!program.contains('/')
            && SYSTEM
                .iter()
                .any(|folder| word.strip_prefix(folder) == Some(program)))
}

/// What follows the program and its subcommand; none if that is another.
fn arguments_after<'p>(
    part: &'p Part,
    subcommands: Option<&[Vec<String>]>,
) -> Option<Vec<&'p str>> {
    let words: Vec<&str> = part
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let Some(subcommands) = subcommands else {
        return Some(words);
    };
    subcommands.iter().find_map(|wanted| {
        if words.len() >= wanted.len() && words.iter().zip(wanted).all(|(word, one)| word == one) {
            return Some(words[wanted.len()..].to_vec());
        }
        // Options before it, which only a table tells from their values.
        let several = part.calls.len() > 1;
        let mut calls = part
            .calls
            .iter()
            .filter(|call| !several || call.path.len() > 1)
            .peekable();
        calls.peek()?;
        let same = |call: &PartCall| {
            let operands = call.operands.iter().map(|o| o.text.as_str());
            let path = call.path.iter().skip(1).map(String::as_str);
            let mut named = path.chain(operands).take(wanted.len());
            call.understood && named.by_ref().eq(wanted.iter().map(String::as_str))
        };
        if !calls.all(same) {
            return None;
        }
        let mut rest = words.clone();
        for one in wanted {
            let at = rest.iter().position(|word| word == one)?;
            rest.remove(at);
        }
        Some(rest)
    })
}
