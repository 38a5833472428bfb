//! Calls that tables select by the keys `outside`, `installs`, `runs_packages` and `places_links`: a
//! part of a command in, `true` or the packages that it names out.

use super::{Program, ProgramDetails, Tables};
use crate::host;
use crate::model::effect::Crud;
use crate::model::parts::{Part, PartCall, Word};

/// Pattern of the calls of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallPattern {
    /// Every call.
    Every,
    /// The command with this path and the commands below it. A word of the path may be several
    /// names, separated by `|`.
    Command(&'static [&'static str]),
    /// Calls with one of these options.
    Options(&'static [&'static str]),
    /// Calls that name another machine.
    OtherHost,
    /// Calls that name another machine and no file that they change.
    Request,
}

/// A package that a part runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageRun<'p> {
    /// Name of the package, or `None` if it is only known when the part runs.
    pub package: Option<&'p str>,
    /// Folder in the project with the programs of installed packages: if it has the program, no
    /// package is downloaded. `None` if the part always downloads the package.
    pub installed_in: Option<&'static str>,
}

/// One way to read the words of a part.
struct CallReading<'p> {
    details: &'static ProgramDetails,
    /// Words after the program that may name a command.
    commands: Vec<&'p str>,
    options: Vec<&'p str>,
    /// The call by the table of the program, or `None` if the words were only split.
    call: Option<&'p PartCall>,
}

impl CallPattern {
    fn is_match(self, part: &Part, reading: &CallReading<'_>) -> bool {
        match self {
            Self::Every => true,
            Self::Command(path) => {
                let fits = |(names, word): (&&str, &&str)| names.split('|').any(|n| n == *word);
                path.len() <= reading.commands.len() && path.iter().zip(&reading.commands).all(fits)
            }
            Self::Options(names) => reading.options.iter().any(|option| names.contains(option)),
            Self::OtherHost => changes_other_host(part),
            Self::Request => {
                let mut files = part.path_effects.iter();
                changes_other_host(part) && !files.any(|file| file.effect > Crud::Read)
            }
        }
    }
}

/// Returns `true` if a part names a host that is not this machine and changes more than the files of
/// its redirections.
fn changes_other_host(part: &Part) -> bool {
    let mut hosts = part.hosts.iter();
    part.asks_by_program && hosts.any(|host| !host::is_localhost(&host.name))
}

/// Returns the name of a file without its folder.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

impl Tables {
    /// Returns `true` if a part changes something outside of the project, whichever files it names:
    /// a registry, another machine, the packages or the services of this machine. By the key
    /// `outside` of its program, also if the program is called by a path.
    #[must_use]
    pub fn works_outside(&self, part: &Part) -> bool {
        part.effect_with_children > Crud::Read && self.selects(part, |details| details.outside)
    }

    /// Returns `true` if a part may download packages and run their code, by the key `installs` of
    /// its program. A call of such a program without a command that its table knows counts.
    #[must_use]
    pub fn installs_packages(&self, part: &Part) -> bool {
        let has_no_command = |reading: &CallReading<'_>| {
            reading.call.is_some()
                && reading.commands.is_empty()
                && !reading.details.installs.is_empty()
        };
        self.selects(part, |details| details.installs)
            || self.readings(part).iter().any(has_no_command)
    }

    /// Returns `true` if a part runs a package that it may download, by the key `runs_packages` of
    /// its program. A call of a program that does nothing else counts, also if it names no package.
    #[must_use]
    pub fn runs_packages(&self, part: &Part) -> bool {
        let always_runs = |reading: &CallReading<'_>| {
            let patterns = reading.details.runs_packages;
            patterns.contains(&CallPattern::Every)
        };
        self.readings(part).iter().any(always_runs) || !self.packages_run_by(part).is_empty()
    }

    /// Returns the packages that a part runs and may download, by the key `runs_packages` of its
    /// program.
    #[must_use]
    pub fn packages_run_by<'p>(&self, part: &'p Part) -> Vec<PackageRun<'p>> {
        let mut runs = Vec::new();
        for reading in self.readings(part) {
            let details = reading.details;
            let run = |package: Option<&'p str>| PackageRun {
                package,
                installed_in: details.packages_in,
            };
            let options = reading.call.into_iter().flat_map(|call| &call.options);
            for pattern in details.runs_packages {
                if let CallPattern::Options(names) = pattern {
                    let named = options
                        .clone()
                        .filter(|(name, _)| names.contains(&name.as_str()));
                    let values = named.filter_map(|(_, value)| value.as_ref());
                    runs.extend(values.map(|value| run(value.value())));
                }
            }
            let operand = match reading.call {
                Some(call) => call.operands.first().map(Word::value),
                None => {
                    let above = |pattern: &CallPattern| match pattern {
                        CallPattern::Command(path) => path.len(),
                        _ => 0,
                    };
                    let mut patterns = details.runs_packages.iter();
                    let pattern = patterns.find(|pattern| pattern.is_match(part, &reading));
                    let at = pattern.map_or(0, above);
                    reading.commands.get(at).map(|word| Some(*word))
                }
            };
            let is_selected = details.runs_packages.iter().any(|pattern| {
                !matches!(pattern, CallPattern::Options(_)) && pattern.is_match(part, &reading)
            });
            runs.extend(operand.filter(|_| is_selected).map(run));
        }
        runs
    }

    /// Returns `true` if a part may put a symbolic link into a folder, through which a later command
    /// could write, by the key `places_links` of its program.
    #[must_use]
    pub fn places_links(&self, part: &Part) -> bool {
        self.selects(part, |details| details.places_links)
    }

    fn selects(
        &self,
        part: &Part,
        patterns: impl Fn(&ProgramDetails) -> &'static [CallPattern],
    ) -> bool {
        let fits = |reading: &CallReading<'_>| {
            let mut patterns = patterns(reading.details).iter();
            patterns.any(|pattern| pattern.is_match(part, reading))
        };
        self.readings(part).iter().any(fits)
    }

    /// Returns the readings of a part: its calls by the tables, its words without the table of its
    /// program, and the words after `-m MODULE`.
    fn readings<'p>(&self, part: &'p Part) -> Vec<CallReading<'p>> {
        let mut readings: Vec<CallReading<'p>> = Vec::new();
        for call in &part.calls {
            // The name of a program may be three words: `python -m pip`.
            let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
            let of_length = |count: usize| {
                let name = path.get(..count)?.join(" ");
                Some((self.program(&name)?, count))
            };
            let found: Option<(&Program, usize)> = of_length(3).or_else(|| of_length(1));
            if let Some((program, count)) = found {
                readings.push(CallReading {
                    details: program.details,
                    commands: path[count..].to_vec(),
                    options: call.options.iter().map(|(name, _)| name.as_str()).collect(),
                    call: Some(call),
                });
            }
        }
        let words: Vec<&str> = part.arguments().collect();
        let named = part
            .program()
            .map(|name| (file_name(name), words.as_slice()));
        let is_interpreter = named.is_some_and(|(name, _)| self.is_interpreter(name));
        let mut module = words.iter().position(|word| *word == "-m");
        module = module.filter(|_| is_interpreter);
        let module = module.and_then(|at| words.get(at + 1..)?.split_first());
        let module = module.map(|(name, words)| (*name, words));
        for (name, words) in named.into_iter().chain(module) {
            if let Some(details) = self.details_of(name) {
                let is_option = |word: &&&str| word.starts_with(['-', '+']);
                readings.push(CallReading {
                    details,
                    commands: words
                        .iter()
                        .filter(|word| !is_option(word))
                        .copied()
                        .collect(),
                    options: words.to_vec(),
                    call: None,
                });
            }
        }
        readings
    }
}
