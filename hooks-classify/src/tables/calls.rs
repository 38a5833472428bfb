//! Calls that tables select by the keys `outside`, `installs`, `runs_packages` and `places_links`: a
//! part of a command in, `true` or the packages that it names out.

use super::{ProgramDetails, Tables};
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

/// One way to read the words of a part whose program has a key.
struct CallReading<'p> {
    details: &'static ProgramDetails,
    /// The patterns of the key.
    patterns: &'static [CallPattern],
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

impl<'p> CallReading<'p> {
    fn is_selected(&self, part: &Part) -> bool {
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| pattern.is_match(part, self))
    }

    /// Returns the packages that the part runs, by the key `runs_packages`.
    fn packages(&self, part: &Part) -> Vec<PackageRun<'p>> {
        let run = |package: Option<&'p str>| PackageRun {
            package,
            installed_in: self.details.packages_in,
        };
        let names_package = |name: &str| {
            let is_one = |pattern: &CallPattern| matches!(pattern, CallPattern::Options(names) if names.contains(&name));
            self.patterns.iter().any(is_one)
        };
        let options = self.call.into_iter().flat_map(|call| &call.options);
        let values = options.filter(|(name, _)| names_package(name));
        let values = values.filter_map(|(_, value)| value.as_ref());
        let mut runs: Vec<PackageRun<'p>> = values.map(|value| run(value.value())).collect();
        let selecting = self.patterns.iter().find(|pattern| {
            !matches!(pattern, CallPattern::Options(_)) && pattern.is_match(part, self)
        });
        let operand = selecting.and_then(|pattern| match (self.call, pattern) {
            (Some(call), _) => call.operands.first().map(Word::value),
            (None, CallPattern::Command(path)) => self.commands.get(path.len()).copied().map(Some),
            (None, _) => self.commands.first().copied().map(Some),
        });
        runs.extend(operand.map(run));
        runs
    }
}

/// Returns `true` if a part names a host that is not this machine and changes more than the files of
/// its redirections.
fn changes_other_host(part: &Part) -> bool {
    part.asks_by_program && part.names_other_host()
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
        let has_no_command =
            |reading: &CallReading<'_>| reading.call.is_some() && reading.commands.is_empty();
        let readings = self.readings(part, |details| details.installs);
        let mut readings = readings.iter();
        readings.any(|reading| has_no_command(reading) || reading.is_selected(part))
    }

    /// Returns `true` if a part runs a package that it may download, by the key `runs_packages` of
    /// its program. A call of a program that does nothing else counts, also if it names no package.
    #[must_use]
    pub fn runs_packages(&self, part: &Part) -> bool {
        let always_runs =
            |reading: &CallReading<'_>| reading.patterns.contains(&CallPattern::Every);
        let readings = self.readings(part, |details| details.runs_packages);
        let mut readings = readings.iter();
        readings.any(|reading| always_runs(reading) || !reading.packages(part).is_empty())
    }

    /// Returns the packages that a part runs and may download, by the key `runs_packages` of its
    /// program.
    #[must_use]
    pub fn packages_run_by<'p>(&self, part: &'p Part) -> Vec<PackageRun<'p>> {
        let readings = self.readings(part, |details| details.runs_packages);
        let packages = readings.iter().map(|reading| reading.packages(part));
        packages.flatten().collect()
    }

    /// Returns `true` if a part may put a symbolic link into a folder, through which a later command
    /// could write, by the key `places_links` of its program.
    #[must_use]
    pub fn places_links(&self, part: &Part) -> bool {
        self.selects(part, |details| details.places_links)
    }

    fn selects(&self, part: &Part, key: fn(&ProgramDetails) -> &'static [CallPattern]) -> bool {
        let readings = self.readings(part, key);
        readings.iter().any(|reading| reading.is_selected(part))
    }

    /// Returns the readings of a part, as far as the program has the key: its calls by the tables,
    /// its words without the table of its program, and the words after `-m MODULE`.
    fn readings<'p>(
        &self,
        part: &'p Part,
        key: fn(&ProgramDetails) -> &'static [CallPattern],
    ) -> Vec<CallReading<'p>> {
        let with_key = |details: &'static ProgramDetails| {
            let patterns = key(details);
            (!patterns.is_empty()).then_some((details, patterns))
        };
        let mut readings: Vec<CallReading<'p>> = Vec::new();
        for call in &part.calls {
            // The name of a program may be three words: `python -m pip`.
            let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
            let of_length = |count: usize| {
                let name = path.get(..count)?.join(" ");
                Some((self.details_of(&name)?, count))
            };
            let found = of_length(3).or_else(|| of_length(1));
            if let Some((details, count)) = found
                && let Some((details, patterns)) = with_key(details)
            {
                readings.push(CallReading {
                    details,
                    patterns,
                    commands: path[count..].to_vec(),
                    options: call.options.iter().map(|(name, _)| name.as_str()).collect(),
                    call: Some(call),
                });
            }
        }
        let words: Vec<&str> = part.arguments().collect();
        let name = part.program().map(file_name);
        let named = name.map(|name| (name, words.as_slice()));
        let is_interpreter = || name.is_some_and(|name| self.is_interpreter(name));
        let module = words.iter().position(|word| *word == "-m");
        let module = module.filter(|_| is_interpreter());
        let module = module.and_then(|at| words.get(at + 1..)?.split_first());
        let module = module.map(|(name, words)| (*name, words));
        for (name, words) in named.into_iter().chain(module) {
            if let Some((details, patterns)) = self.details_of(name).and_then(with_key) {
                let is_option = |word: &&&str| word.starts_with(['-', '+']);
                readings.push(CallReading {
                    details,
                    patterns,
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
