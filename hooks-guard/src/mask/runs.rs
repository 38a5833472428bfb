//! Detection of code in masked text. Takes a command with the ranges to mask; returns the ranges
//! that may be masked, and whether the command hides code.
//!
//! The command is classified twice: unchanged, and with a mark in place of each secret. If both run
//! the same programs under the same conditions, the secrets are data. A secret that becomes the
//! name of a program, or that changes which programs run, is code and is shown. If text runs that
//! is only known at run time, and a secret may become part of it, the command is treated as hiding
//! code.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hooks_classify::{
    Classifier, Crud, Language, Part, Parts, Script, Tables, UNKNOWN, UnseenCode, Word,
};
use regex::Regex;

use super::hidden::{Hidden, HiddenKind};
use super::tokens::TOKENS;

/// Maximum number of secrets that are tested individually.
const MAX_SECRETS: usize = 32;

/// Time limit for the individual tests, as estimated from the first classification.
const MAX_TEST_TIME: Duration = Duration::from_millis(250);

/// Removes code from the ranges. Returns `true` if one of the remaining ranges may run.
pub(super) fn reveal(command: &str, ranges: &mut Vec<Hidden>) -> bool {
    if ranges.is_empty() {
        return false;
    }
    let classifier = Classifier::new();
    let mark = unused_word(command);
    let began = Instant::now();
    let Some(truth) = classifier.parts(command) else {
        return true;
    };
    let times = u32::try_from(ranges.len()).unwrap_or(u32::MAX);
    let is_brief = began.elapsed().saturating_mul(times) <= MAX_TEST_TIME;
    let classify_without = |ranges: &[Hidden]| {
        let text = replace_with_marks(command, ranges, &mark);
        let parts = classifier.parts(&text)?;
        Some((text, parts))
    };
    let Some((mut text, mut shown)) = classify_without(ranges) else {
        return true;
    };
    if !runs_same_programs(&truth, &shown, &mark) && ranges.len() <= MAX_SECRETS && is_brief {
        let is_code = |range: &Hidden| {
            let shown = classify_without(std::slice::from_ref(range));
            shown.is_none_or(|(_, shown)| !runs_same_programs(&truth, &shown, &mark))
        };
        let mut secrets = Vec::new();
        for range in std::mem::take(ranges) {
            match is_code(&range) {
                true => secrets.extend(tokens_in(command, &range).filter(|token| !is_code(token))),
                false => secrets.push(range),
            }
        }
        *ranges = secrets;
        if ranges.is_empty() {
            return false;
        }
        let Some(again) = classify_without(ranges) else {
            return true;
        };
        (text, shown) = again;
    }
    !truth.is_followed()
        || !shown.is_followed()
        || !runs_same_programs(&truth, &shown, &mark)
        || !has_equal_arguments(&truth, &shown, &mark)
        || CodeReachability::new(&text, &shown, &mark).reaches_code()
}

/// Returns a word that does not occur in the command.
fn unused_word(command: &str) -> String {
    let mark = |number: usize| format!("q7hidden{number}x");
    let free = (0..).map(mark).find(|mark| !command.contains(mark));
    free.unwrap_or_default()
}

/// Replaces every word of the secrets by a mark, equal words by equal marks. Other characters are
/// kept, so that a shell parses the command unchanged.
fn replace_with_marks(command: &str, ranges: &[Hidden], mark: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut text = String::with_capacity(command.len());
    let mut at = 0;
    for (range, _) in ranges {
        text.push_str(&command[at..range.start]);
        let secret = &command[range.clone()];
        // `E'…'`
        let kind = secret.find('\'').filter(|quote| *quote == 1).unwrap_or(0);
        text.push_str(&secret[..kind]);
        let mut rest = &secret[kind..];
        while let Some(first) = rest.chars().next() {
            let is_word = first.is_alphanumeric();
            let end = rest.find(|c: char| c.is_alphanumeric() != is_word);
            let (run, behind) = rest.split_at(end.unwrap_or(rest.len()));
            match is_word {
                true => {
                    let known = words.iter().position(|word| *word == run);
                    let number = known.unwrap_or_else(|| {
                        words.push(run);
                        words.len() - 1
                    });
                    text.push_str(&format!("{mark}{number}"));
                }
                false => text.push_str(run),
            }
            rest = behind;
        }
        at = range.end;
    }
    text.push_str(&command[at..]);
    text
}

/// Returns the known tokens within a longer secret.
fn tokens_in<'c>(
    command: &'c str,
    (range, _): &'c Hidden,
) -> impl Iterator<Item = Hidden> + use<'c> {
    let inside = &command[range.clone()];
    let found = TOKENS.iter().flat_map(move |token| token.find(inside));
    let mut found: Vec<_> = found
        .filter(|token| token.len() < range.len())
        .map(|token| range.start + token.start..range.start + token.end)
        .collect();
    found.sort_by_key(|token| (token.start, std::cmp::Reverse(token.end)));
    let mut end = 0;
    found.retain(|token| {
        let is_apart = token.start >= end;
        end = end.max(token.end);
        is_apart
    });
    found.into_iter().map(|token| (token, HiddenKind::Secret))
}

/// Returns `true` if both commands run equal programs in equal places, and no mark names a program.
fn runs_same_programs(truth: &Parts, shown: &Parts, mark: &str) -> bool {
    let program = |part: &Part| part.words.first().map(|word| word.text.clone());
    truth.all.len() == shown.all.len()
        && truth.all.iter().zip(&shown.all).all(|(truth, shown)| {
            let name = program(shown);
            !names_a_file(truth, shown, mark)
                && truth.parent == shown.parent
                && program(truth) == name
                && !name.is_some_and(|name| name.contains(mark))
        })
}

/// Returns `true` if a mark names a file that is deleted, or a file by its path: the person who
/// decides has to see these names.
fn names_a_file(truth: &Part, shown: &Part, mark: &str) -> bool {
    let files = |part: &Part| {
        let files = part.path_effects.iter().chain(&part.redirections);
        files
            .map(|file| (file.path.text.clone(), file.effect))
            .collect::<Vec<_>>()
    };
    let is_path = |path: &str| {
        let path = path.rsplit_once('=').map_or(path, |(_, path)| path);
        path.starts_with(['/', '~', '.'])
    };
    // `cert:password`
    let is_curl = is_one_of(truth, &["curl"]);
    let is_password_of_file = |shown: &str| {
        let file = shown.split_once(':').map(|(file, _)| file);
        file.is_some_and(|file| !file.contains(mark))
    };
    let (truth, shown) = (files(truth), files(shown));
    truth.len() == shown.len()
        && truth
            .iter()
            .zip(&shown)
            .any(|((path, effect), (shown, _))| {
                shown.contains(mark)
                    && (*effect == Crud::Delete || is_path(path))
                    && !(is_curl && *effect == Crud::Read && is_password_of_file(shown))
            })
}

/// Returns `true` if the programs get equal arguments, except for the secrets.
fn has_equal_arguments(truth: &Parts, shown: &Parts, mark: &str) -> bool {
    let same = |truth: &Word, shown: &Word| {
        shown.text.contains(mark) || (truth.text == shown.text && truth.known == shown.known)
    };
    let all = |truth: &[Word], shown: &[Word]| {
        truth.len() == shown.len() && truth.iter().zip(shown).all(|(one, other)| same(one, other))
    };
    let parts = truth.all.iter().zip(&shown.all).all(|(truth, shown)| {
        let calls = truth.calls.iter().zip(&shown.calls).all(|(one, other)| {
            let options = one.options.iter().zip(&other.options);
            one.path == other.path
                && one.options.len() == other.options.len()
                && options.clone().all(|((one, _), (other, _))| one == other)
                && one.operands.len() == other.operands.len()
        });
        let files = truth.redirections.iter().zip(&shown.redirections);
        let values = truth.assignments.iter().zip(&shown.assignments);
        calls
            && truth.calls.len() == shown.calls.len()
            && all(&truth.words, &shown.words)
            && all(&truth.here_documents, &shown.here_documents)
            && truth.redirections.len() == shown.redirections.len()
            && files
                .clone()
                .all(|(one, other)| one.effect == other.effect && same(&one.path, &other.path))
            && truth.assignments.len() == shown.assignments.len()
            && values
                .clone()
                .all(|(one, other)| one.name == other.name && same(&one.value, &other.value))
            && truth.effect == shown.effect
            && truth.is_opaque == shown.is_opaque
            && truth.runs_input == shown.runs_input
            && truth.unseen_code == shown.unseen_code
            && truth.has_substitutions == shown.has_substitutions
            && truth.input.as_ref().map(Option::is_some)
                == shown.input.as_ref().map(Option::is_some)
    });
    let scripts = truth.scripts.iter().zip(&shown.scripts);
    parts
        && truth.scripts.len() == shown.scripts.len()
        && scripts.clone().all(|(one, other)| one.part == other.part)
        && truth.effect_outside_parts == shown.effect_outside_parts
        && truth.has_substitutions == shown.has_substitutions
        && truth.defines_functions == shown.defines_functions
        && truth.unseen_code == shown.unseen_code
}

/// Analysis of where the marks may end up when the command runs.
struct CodeReachability<'p> {
    /// The command with its marks.
    text: &'p str,
    parts: &'p Parts,
    mark: &'p str,
    /// For each part, `true` if its words, documents or files contain a mark.
    receives_mark: Vec<bool>,
    /// For each part, `true` if it sets a variable to a mark.
    sets: Vec<bool>,
}

/// Commands that set variables by their arguments, each identified by one of its names.
const SETTERS: &[&str] = &[
    "export",
    "env",
    "set",
    "setenv",
    "sudo",
    "docker",
    "kubectl",
    "systemd-run",
    "make",
];

/// Shell builtins that set variables from their input.
const READERS: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "coproc",
    "select",
];

/// Programs that run the file in their first operand.
const INTERPRETERS: &[&str] = &[
    "source", "sh", "fish", "python", "node", "perl", "ruby", "php", "lua", "deno", "bun", "pwsh",
];

/// Clients that run their input and that take passwords, which they never run.
const CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "sqlcmd",
    "clickhouse-client",
    "clickhouse",
    "cqlsh",
    "mongosh",
    "redis-cli",
    "snowsql",
    "sqlplus",
    "ldapmodify",
];

/// Wrappers that take a password and pass it to no program that evaluates it.
const KEEPERS: &[&str] = &["sshpass"];

impl<'p> CodeReachability<'p> {
    fn new(text: &'p str, parts: &'p Parts, mark: &'p str) -> Self {
        let has = |word: &Word| word.text.contains(mark);
        let receives_mark = parts.all.iter().map(|part| {
            part.words.iter().any(has)
                || part.here_documents.iter().any(has)
                || part.redirections.iter().any(|file| has(&file.path))
        });
        let sets = parts.all.iter().map(|part| {
            part.assignments.iter().any(|one| has(&one.value))
                || is_one_of(part, SETTERS) && part.words.iter().any(has)
        });
        Self {
            receives_mark: receives_mark.collect(),
            sets: sets.collect(),
            text,
            parts,
            mark,
        }
    }

    fn reaches_code(&self) -> bool {
        let unknown = |at: &usize| {
            let part = &self.parts.all[*at];
            runs_unknown_code(part.unseen_code) || self.sources_pipe(part)
        };
        runs_unknown_code(self.parts.unseen_code)
            || (0..self.parts.all.len())
                .filter(unknown)
                .any(|at| self.reaches_unknown(at))
            || self
                .parts
                .scripts
                .iter()
                .any(|script| self.reaches_script(script))
            || self.reaches_file()
            || self.reaches_setting()
            || self.reaches_unparsed_input()
    }

    /// Returns `true` if a program runs input that contains a mark and was not classified here.
    fn reaches_unparsed_input(&self) -> bool {
        static TCL: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"\b(?:eval|exec|system|uplevel|source|subst)\b|\bspawn\s[^\n;]*\$")
        });
        self.parts.all.iter().enumerate().any(|(at, part)| {
            let input = part.input.as_ref().and_then(Option::as_deref);
            if is_one_of(part, &["expect", "tclsh", "wish"]) {
                let words = part.words.iter().map(|word| word.text.as_str());
                return (words.chain(input)).any(|text| {
                    text.contains(self.mark)
                        && (TCL.is_match(text) || types_hidden_words(text, self.mark))
                });
            }
            let is_told = input.is_some_and(|text| text.contains(self.mark));
            let is_judged = self
                .parts
                .scripts
                .iter()
                .any(|script| script.part == Some(at))
                || self.parts.all.iter().any(|part| part.parent == Some(at));
            let is_make = is_one_of(part, &["make", "just"]);
            let runs = is_make || is_one_of(part, INTERPRETERS);
            is_told && runs && !is_judged
        })
    }

    /// Returns `true` if a mark may be in a variable or setting that names a program to run.
    fn reaches_setting(&self) -> bool {
        static RUN: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)^scripts\.|(?:^|[_.])(?:\w*command|cmd|editor|visual|pager|browser|shell|bash_env|env|askpass|preload|lessopen|lessclose|ps[0-4]|options|opts|optimize|flags|startup|path|wrapper|cc|cxx|ld|ar|rsh|git_ssh|helper|external|program|diff|difftool|hook|hookspath|ifs)$",
            )
        });
        let is_set = self.sets.contains(&true);
        let carries = |value: &str| value.contains(self.mark) || is_set && value.contains(UNKNOWN);
        self.parts.all.iter().any(|part| {
            let variables = part
                .assignments
                .iter()
                .map(|one| (one.name.as_str(), one.value.text.as_str()));
            let words = part.words.iter().skip(1).filter_map(|word| {
                let (name, value) = word.text.split_once('=')?;
                Some((name.trim_start_matches('-'), value))
            });
            let is_alias = part
                .calls
                .iter()
                .any(|call| call.path.ends_with(&["config".into()]))
                && part.words.iter().any(|word| {
                    let command = word.text.strip_prefix('!');
                    command.is_some_and(|command| self.is_run_in(command, is_set))
                });
            is_alias
                || variables
                    .chain(words)
                    .any(|(name, value)| RUN.is_match(name) && carries(value))
        })
    }

    /// Returns `true` if the words of a part, or only its first one, expand a variable that the
    /// command sets.
    fn expands(&self, part: &Part, is_first_alone: bool) -> bool {
        let place = match part.words.first() {
            Some(name) if is_first_alone => name.start..name.end,
            _ => part.start..part.end,
        };
        let text = self.text.get(place);
        text.is_none_or(|text| self.expands_set_variable(text))
    }

    /// Returns `true` if a text expands a variable that the command sets, or anything that is not
    /// an environment variable.
    fn expands_set_variable(&self, text: &str) -> bool {
        let expansions = text.match_indices('$').map(|(at, _)| &text[at + 1..]);
        let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
        text.contains('`')
            || expansions.into_iter().any(|behind| {
                let inside = behind.strip_prefix('{').unwrap_or(behind);
                let name: String = inside.chars().take_while(|c| is_word(*c)).collect();
                if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                    return inside.starts_with(['(', '@', '*', '!', '#', '1', '2', '3', '4'])
                        || inside.starts_with(|c: char| c.is_ascii_digit());
                }
                self.text.match_indices(&name).any(|(at, _)| {
                    let before = &self.text[..at];
                    let behind = &self.text[at + name.len()..];
                    !before.ends_with(['$', '{'])
                        && !before.ends_with(is_word)
                        && !behind.starts_with(is_word)
                })
            })
    }

    /// Returns `true` if a part runs a file that is a pipe or a substitution.
    fn sources_pipe(&self, part: &Part) -> bool {
        let is_option = |word: &&Word| word.text.starts_with('-');
        is_one_of(part, INTERPRETERS)
            && (part.words.iter().skip(1).skip_while(is_option).take(1)).any(|file| {
                file.text.starts_with("/dev/")
                    || file.text.starts_with("/proc/")
                    || file.text.contains(UNKNOWN)
            })
    }

    /// Returns `true` if a mark may be in code of a part that is only known at run time.
    fn reaches_unknown(&self, at: usize) -> bool {
        let part = &self.parts.all[at];
        let is_client = is_one_of(part, CLIENTS);
        let knows_program =
            (part.words.first()).is_some_and(|name| !name.text.contains(UNKNOWN) && !name.is_glob);
        let is_set = self.sets.contains(&true);
        let substituted = (at + 1..self.parts.all.len())
            .filter(|other| self.ancestors(*other).any(|around| around == at))
            .collect::<Vec<_>>();
        let reads = READERS.iter().any(|reader| {
            let is_reader = |part: &Part| part.program() == Some(reader);
            self.parts.all.iter().any(is_reader)
        });
        let chain = || std::iter::once(at).chain(self.ancestors(at));
        let expands = self.expands(part, !knows_program);
        substituted.iter().any(|other| self.receives_mark[*other])
            || is_set && !is_client && expands
            || is_set && !is_client && (!substituted.is_empty() || part.has_substitutions)
            || self.ancestors(at).any(|around| {
                let keeps = is_one_of(&self.parts.all[around], KEEPERS);
                !keeps && (self.receives_mark[around] || self.sets[around])
            })
            || chain().any(|one| self.reaches_input(one, at, is_client))
            || reads && !is_client && (is_set || self.receives_mark.contains(&true))
            || !is_client && knows_program && self.receives_mark[at]
            || !knows_program && self.may_evaluate_mark(part)
    }

    /// Returns `true` if a program that is only known at run time may treat a mark as code.
    fn may_evaluate_mark(&self, part: &Part) -> bool {
        let takes_code = |option: &Word| {
            ["--eval", "--command", "-Command"].contains(&&*option.text)
                || option.text.starts_with('-')
                    && !option.text.starts_with("--")
                    && option.text.ends_with(['c', 'e'])
        };
        let mut pairs = part.words.windows(2).enumerate();
        pairs
            .any(|(at, pair)| pair[1].text.contains(self.mark) && (at == 0 || takes_code(&pair[0])))
    }

    /// Returns `true` if a mark may be in the input of a part or of a part around it.
    fn reaches_input(&self, at: usize, of: usize, is_client: bool) -> bool {
        match &self.parts.all[at].input {
            None => false,
            Some(Some(text)) => text.contains(self.mark),
            Some(None) => {
                let keeps =
                    |other: usize| is_one_of(&self.parts.all[other], KEEPERS) && at != other;
                (0..self.parts.all.len())
                    .filter(|other| *other != of || !is_client)
                    .any(|other| {
                        (other <= of && self.receives_mark[other] && !keeps(other))
                            || (self.sets[other] && !is_client)
                    })
            }
        }
    }

    /// Returns `true` if a script in another language may run a mark.
    fn reaches_script(&self, script: &Script) -> bool {
        let within = script.part;
        let here = within.is_some_and(|at| {
            let around = std::iter::once(at).chain(self.ancestors(at));
            around.into_iter().any(|at| self.receives_mark[at]) || self.reaches_input(at, at, false)
        });
        let is_in = script.text.contains(self.mark);
        let expands = || {
            let part = within.and_then(|at| self.parts.all.get(at));
            part.is_none_or(|part| self.expands(part, false))
        };
        if script.text.contains(UNKNOWN) && self.sets.contains(&true) && expands() {
            return true;
        }
        let is_told = is_in || here || self.sets.contains(&true);
        is_told && evaluates(script.language, &script.text, self.mark)
            || is_in && types_hidden_words(&script.text, self.mark)
            || is_in && !is_quoted(script.language, &script.text, self.mark)
    }

    /// Returns `true` if a mark is written to a code file, or to a file that the command runs, as
    /// code that evaluates text.
    fn reaches_file(&self) -> bool {
        static CODE: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\.(?:[bkz]?sh|bash|fish|py|rb|pl|php|js|mjs|cjs|ts|lua|awk|ps1|bat|cmd|service|timer|desktop|plist|mk|cron)$|(?:^|/)(?:\.?(?:bash|zsh|z|k|c|tc)?(?:rc|_?profile|env|login|logout|aliases|_aliases)|\.bash_\w+|\.envrc|\.profile|\.vimrc|\.xinitrc|\.xprofile|\.inputrc|makefile|gnumakefile|justfile|dockerfile|crontab|authorized_keys|package\.json)$|/(?:hooks|profile\.d|cron\.\w+|init\.d|bin|sbin|autostart)/",
            )
        });
        static SHELL: LazyLock<Regex> = LazyLock::new(|| {
            pattern(r"(?:sh|rc|profile|env|login|logout|aliases)$|/(?:hooks|profile\.d|init\.d)/")
        });
        // Makefile lines that run a variable, and scripts of a package manifest.
        static RECIPE: LazyLock<Regex> =
            LazyLock::new(|| pattern(r#"(?m)^\s*[@-]*\$[({]|"scripts"\s*:"#));
        // Settings that name programs.
        static SETTINGS: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?:^|/)(?:\.git/config|\.?gitconfig|\.config/git/config|\.ssh/config|\.tmux\.conf)$",
            )
        });
        let is_set = self.sets.contains(&true);
        let later = self.parts.all.iter().any(|part| {
            let files = part.redirections.iter().chain(&part.path_effects);
            let written = || files.clone().filter(|file| file.effect > Crud::Read);
            let settles = written().any(|file| SETTINGS.is_match(&file.path.text));
            let writes = written().any(|file| CODE.is_match(&file.path.text));
            let schedules = is_one_of(part, &["crontab", "at", "batch"]);
            if !writes && !schedules && !settles {
                return false;
            }
            let prints = |part: &Part| is_one_of(part, &["echo", "printf", "print"]);
            let words = part.words.iter().skip(1).filter(|_| prints(part));
            let mut texts = words
                .chain(&part.here_documents)
                .map(|word| word.text.as_str())
                .chain(part.input.as_ref().and_then(Option::as_deref));
            let printed = || {
                let printers = self.parts.all.iter().filter(|part| prints(part));
                printers.flat_map(|part| &part.words).any(|word| {
                    word.text.contains(self.mark) || is_set && word.text.contains(UNKNOWN)
                })
            };
            let may_be = |text: &str| text.contains(self.mark) || is_set && text.contains(UNKNOWN);
            let is_shell = written().all(|file| SHELL.is_match(&file.path.text)) || schedules;
            texts.any(|text| {
                self.is_run_in(text, is_set)
                    || settles && may_be(text)
                    || !is_shell
                        && may_be(text)
                        && (evaluates(Language::Code, text, self.mark) || RECIPE.is_match(text))
            }) || part.input == Some(None) && printed()
        });
        if later {
            return true;
        }
        self.parts.all.iter().enumerate().any(|(at, part)| {
            let text = || {
                let words = part.words.iter().chain(&part.here_documents);
                words.map(|word| &*word.text).collect::<Vec<_>>().join(" ")
            };
            let files = part.redirections.iter().chain(&part.path_effects);
            let mut written = files.filter(|file| file.effect > Crud::Read);
            let runs = |name: &str| {
                self.parts.all.iter().enumerate().any(|(other, part)| {
                    let names = |word: &Word| word.text.ends_with(name);
                    other != at && part.is_opaque && part.words.iter().any(names)
                })
            };
            let prints = is_one_of(part, &["echo", "printf", "print"]);
            let printed = part.words.iter().skip(1).filter(|_| prints);
            self.receives_mark[at]
                && written.any(|file| runs(file.path.text.rsplit('/').next().unwrap_or_default()))
                && (evaluates(Language::Code, &text(), self.mark)
                    || (printed.chain(&part.here_documents))
                        .any(|word| self.is_run_in(&word.text, false)))
        })
    }

    /// Returns `true` if lines that a shell reads later run a mark, or text that may be one.
    fn is_run_in(&self, text: &str, is_set: bool) -> bool {
        if text.contains(self.mark)
            && let Some(parts) = Classifier::new().parts(text)
            && parts.all.iter().any(|part| {
                part.words
                    .first()
                    .is_some_and(|name| name.text.contains(self.mark))
            })
        {
            return true;
        }
        let lines = text.lines().map(|line| match line.split_once("* ") {
            // The command after the schedule of a crontab line.
            Some(_) => line.rsplit("* ").next().unwrap_or_default().trim(),
            None => line.trim(),
        });
        lines.filter(|line| !line.is_empty()).any(|line| {
            let may_be = |text: &str| {
                text.contains(self.mark) || is_set && text.contains([UNKNOWN, '$', '`'])
            };
            if !may_be(line) {
                return false;
            }
            let line = line.replace(UNKNOWN, "\"$_\"");
            Classifier::new().parts(&line).is_none_or(|parts| {
                let programs = parts.all.iter().filter_map(|part| part.words.first());
                parts
                    .all
                    .iter()
                    .any(|part| runs_unknown_code(part.unseen_code))
                    || programs.into_iter().any(|name| may_be(&name.text))
            })
        })
    }

    /// Returns the parts around a part, innermost first.
    fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let around = |at: &usize| self.parts.all[*at].parent;
        std::iter::successors(around(&at), move |at| around(at))
    }
}

/// Returns `true` if text runs that is only known at run time, apart from scripts in other
/// languages.
fn runs_unknown_code(source: Option<UnseenCode>) -> bool {
    source.is_some_and(|source| source != UnseenCode::Script)
}

fn is_one_of(part: &Part, names: &[&str]) -> bool {
    let name = part.program();
    name.is_some_and(|name| Tables::embedded().is_one_of(name, names))
}

/// Returns `true` if a script types several hidden words: they are more likely a command than a
/// password.
fn types_hidden_words(text: &str, mark: &str) -> bool {
    static TYPED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"\b(?:send(?:_user|line)?\b|set\s+\w+\s)\s*\(?\s*(?:--?\w*\s+)*b?\\?["'{]([^\n"'}]*)|\.write\(\s*b?\\?["']([^\n"']*)"#,
        )
    });
    TYPED.captures_iter(text).any(|found| {
        let typed = found
            .get(1)
            .or(found.get(2))
            .map_or("", |typed| typed.as_str());
        typed.contains(mark) && typed.trim().contains([' ', '\t', ';', '|', '&', '/'])
    })
}

/// Returns `true` if a script evaluates text that it does not show, judging by its words.
fn evaluates(language: Language, text: &str, mark: &str) -> bool {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"^\(\s*[bru]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*[,)]"#)
    });
    static ANY: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r#"(?i)(?:^|[^\w.])(?:eval|exec|compile|execfile|system|popen|syscall|qx|iex|create_function|call_user_func\w*|passthru|shell_exec|proc_open|pcntl_exec|loadstring|loadfile|dofile|spawn\w*|fork)\s*[\s({"'`$\[/!|]|\.(?:eval|system|popen\w*|exec[lv]\w*|spawn\w*|instance_eval|class_eval|module_eval|instance_exec|runin\w*context|execute_script|call)\b|(?-i:\bFunction\s*\()|subprocess|child_process|\bpty\b|runpy|pickle|marshal|importlib|builtins|__(?:import|class|subclasses|globals|dict|getattribute)\w*__|\b(?:globals|locals|vars)\(|invoke-|scriptblock|os\.exec|io\.popen|open3|`|%x[\W_]|\|\s*getline|print[^;\n]*\||require\(\s*[^'"\s]|import\(\s*[^'"\s]|\bvm\b|getattr\(\s*(?:os|sys)|\bconstructor\b"#,
        )
    });
    static PERL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"\bopen\s*\(?[^;]*\||/e[egimsx]*\b|\bdo\s+[$"'{]|\brequire\s+\$"#)
    });
    static RUBY: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\b(?:public_)?send\b|__send__|\bmethod\(|\bopen\s*\(?\s*[^)]*\||\bload\b|Kernel")
    });
    static PHP: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bassert\s*\(|\$\w+\s*\(|preg_replace\s*\(\s*.[^,]*/e|\binclude\b|\brequire\b",
        )
    });
    static LUA: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bload\s*[(\x22']|os\.execute"));
    static SHELLED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\\!|\bprogram\s+['\x22$]|xp_cmdshell|\bexec(?:ute)?\s*(?:\(|immediate|format|'|@)|sp_executesql|\bdo\s+\$|\bprepare\b|\bsystem\s|\.(?:shell|system)\b|load_extension|\beval(?:sha)?\b",
        )
    });
    static SED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"[/|,#!:@]\w*e\w*\s*(?:$|[;}\n])|(?:^|[;{\n])\s*\d*e\b"));
    // A string argument without a mark is visible.
    let is_shown = |found: regex::Match<'_>| {
        let call = text[found.start()..].find('(').map(|at| found.start() + at);
        call.filter(|call| *call <= found.end())
            .is_some_and(|call| {
                LITERAL
                    .find(&text[call..])
                    .is_some_and(|argument| !argument.as_str().contains(mark))
            })
    };
    static MEMBERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\]\s*\("));
    let any = |text: &str| {
        ANY.find_iter(text).any(|found| !is_shown(found))
            || text.contains(mark) && MEMBERS.is_match(text)
    };
    match language {
        Language::Jq => false,
        Language::Sed => SED.is_match(text),
        Language::Sql | Language::Redis => SHELLED.is_match(text),
        Language::PowerShell | Language::Cmd => {
            any(text) || text.contains("& ") || text.contains("&$") || text.contains("%")
        }
        Language::Perl => any(text) || PERL.is_match(text),
        Language::Ruby => any(text) || RUBY.is_match(text),
        Language::Php => any(text) || PHP.is_match(text),
        Language::Lua => any(text) || LUA.is_match(text),
        Language::Awk | Language::Python | Language::Node | Language::Mongo => any(text),
        _ => {
            any(text)
                || [&PERL, &RUBY, &PHP, &LUA]
                    .iter()
                    .any(|pattern| pattern.is_match(text))
        }
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is part of this file, and a test uses it")
}

/// Returns `true` if every mark is in a string or a comment of the script, judging by its quotes.
/// In filter and query languages always `true`.
fn is_quoted(language: Language, text: &str, mark: &str) -> bool {
    if matches!(
        language,
        Language::Sed | Language::Jq | Language::Sql | Language::Redis | Language::Cmd
    ) {
        return true;
    }
    let mut open: Option<char> = None;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match (open, c) {
            (None, _) if text[at..].starts_with(mark) => return false,
            (Some(_), '\\') => drop(characters.next()),
            (Some(quote), c) if c == quote => open = None,
            (None, '"' | '\'') => open = Some(c),
            // An unclosed quote on a line is not a quote, or it is part of a multi-line string.
            (Some(_), '\n') if !text[..at].contains("\"\"\"") && !text[..at].contains("'''") => {
                open = None;
            }
            _ => {}
        }
    }
    true
}
