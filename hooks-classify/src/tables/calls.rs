//! Calls that tables select by keys such as `outside`: a part of a command in, `true`, the targets
//! that it controls or the packages that it names out.

use super::{ProgramDetails, Tables};
use crate::model::arg::UNKNOWN;
use crate::model::effect::Crud;
use crate::model::parts::{Part, PartCall, Word};
use crate::model::program_facts::{ControlTarget, DiscardedData};

/// Pattern of the calls of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallPattern {
    /// Every call.
    Every,
    /// The command with this path and the commands below it. A word of the path may be several
    /// names, separated by `|`.
    Command(&'static [&'static str]),
    /// The command with this path and the commands below it, with one of the options.
    CommandWithOptions(&'static [&'static str], &'static [&'static str]),
    /// Calls with one of these options.
    Options(&'static [&'static str]),
    /// Calls without operands.
    Alone,
    /// Calls with a setting that may change which programs run.
    ConfigOverride,
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
            Self::CommandWithOptions(path, options) => {
                Self::Command(path).is_match(part, reading)
                    && Self::Options(options).is_match(part, reading)
            }
            Self::Options(names) => reading.options.iter().any(|option| names.contains(option)),
            Self::Alone => {
                let mut calls = reading.call.into_iter();
                reading.commands.is_empty() && calls.all(|call| call.operands.is_empty())
            }
            Self::ConfigOverride => part.has_config_override,
            Self::OtherHost => changes_other_host(part),
            Self::Request => {
                let mut files = part.path_effects.iter();
                changes_other_host(part) && !files.any(|file| file.effect > Crud::Read)
            }
        }
    }
}

impl<'p> CallReading<'p> {
    fn is_selected(&self, part: &Part, patterns: &[CallPattern]) -> bool {
        let mut patterns = patterns.iter();
        patterns.any(|pattern| pattern.is_match(part, self))
    }

    /// As [`is_selected`](Self::is_selected). If no table knows all words, the words of a command may
    /// begin anywhere.
    fn may_be_selected(&self, part: &Part, patterns: &[CallPattern]) -> bool {
        let is_unsure = self.call.is_none() && !part.is_understood();
        self.is_selected(part, patterns)
            || is_unsure
                && (1..self.commands.len()).any(|at| {
                    let rest = Self {
                        commands: self.commands[at..].to_vec(),
                        options: Vec::new(),
                        ..*self
                    };
                    let mut patterns = patterns.iter();
                    patterns.any(|one| {
                        matches!(one, CallPattern::Command(_)) && one.is_match(part, &rest)
                    })
                })
    }

    /// Returns the packages that the part runs, by the key `runs_packages`.
    fn packages(&self, part: &Part) -> Vec<PackageRun<'p>> {
        let run = |package: Option<&'p str>| PackageRun {
            package,
            installed_in: self.details.packages_in,
        };
        let names_package = |name: &str| {
            let is_one = |pattern: &CallPattern| matches!(pattern, CallPattern::Options(names) if names.contains(&name));
            self.details.runs_packages.iter().any(is_one)
        };
        let options = self.call.into_iter().flat_map(|call| &call.options);
        let values = options.filter(|(name, _)| names_package(name));
        let values = values.filter_map(|(_, value)| value.as_ref());
        let mut runs: Vec<PackageRun<'p>> = values.map(|value| run(value.value())).collect();
        let selecting = self.details.runs_packages.iter().find(|pattern| {
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
        let readings = self.readings(part, |details| !details.installs.is_empty());
        let mut readings = readings.iter();
        readings.any(|reading| {
            has_no_command(reading) || reading.is_selected(part, reading.details.installs)
        })
    }

    /// Returns `true` if a part runs a package that it may download, by the key `runs_packages` of
    /// its program. A call of a program that does nothing else counts, also if it names no package.
    #[must_use]
    pub fn runs_packages(&self, part: &Part) -> bool {
        let always_runs =
            |reading: &CallReading<'_>| reading.details.runs_packages.contains(&CallPattern::Every);
        let readings = self.readings(part, |details| !details.runs_packages.is_empty());
        let mut readings = readings.iter();
        readings.any(|reading| always_runs(reading) || !reading.packages(part).is_empty())
    }

    /// Returns the packages that a part runs and may download, by the key `runs_packages` of its
    /// program.
    #[must_use]
    pub fn packages_run_by<'p>(&self, part: &'p Part) -> Vec<PackageRun<'p>> {
        let readings = self.readings(part, |details| !details.runs_packages.is_empty());
        let packages = readings.iter().map(|reading| reading.packages(part));
        packages.flatten().collect()
    }

    /// Returns `true` if a part may put a symbolic link into a folder, through which a later command
    /// could write, by the key `places_links` of its program.
    #[must_use]
    pub fn places_links(&self, part: &Part) -> bool {
        self.selects(part, |details| details.places_links)
    }

    /// Returns `true` if a part records the files that its words name and changes none of them, by the
    /// key `keeps_files` of its program.
    #[must_use]
    pub fn keeps_files(&self, part: &Part) -> bool {
        part.is_understood() && self.selects(part, |details| details.keeps_files)
    }

    fn selects(&self, part: &Part, key: fn(&ProgramDetails) -> &'static [CallPattern]) -> bool {
        let readings = self.readings(part, |details| !key(details).is_empty());
        let mut readings = readings.iter();
        readings.any(|reading| reading.is_selected(part, key(reading.details)))
    }

    /// Returns the targets that a part controls besides the files among its words, by the key
    /// `controls` of its program, of a module, or of a package that it runs.
    #[must_use]
    pub fn controls(&self, part: &Part) -> Vec<ControlTarget> {
        let mut targets = Vec::new();
        for reading in self.readings(part, |details| !details.controls.is_empty()) {
            let selected = reading.details.controls.iter();
            let selected = selected.filter(|(_, calls)| reading.may_be_selected(part, calls));
            targets.extend(selected.map(|(target, _)| *target));
        }
        for run in self.packages_run_by(part) {
            let package = run.package.unwrap_or_default();
            let name = package.split('@').next().unwrap_or_default();
            let controls = self.details_of(name).map(|details| details.controls);
            targets.extend(controls.into_iter().flatten().map(|(target, _)| *target));
        }
        targets
    }

    /// Returns the data of a repository that a part discards besides the files among its words, by the
    /// key `discards` of its program. Empty if the tables do not know every word of the part.
    #[must_use]
    pub fn discards(&self, part: &Part) -> Vec<DiscardedData> {
        if !part.is_understood() {
            return Vec::new();
        }
        let readings = self.readings(part, |details| !details.discards.is_empty());
        let calls = readings.iter().filter(|reading| reading.call.is_some());
        let selected = calls.flat_map(|reading| {
            let lists = reading.details.discards.iter();
            lists.filter(|(_, calls)| reading.is_selected(part, calls))
        });
        selected.map(|(data, _)| *data).collect()
    }

    /// Returns `true` if a part sets variables of the shell that its operands name, by the key
    /// `sets_shell_variables` of its program.
    #[must_use]
    pub fn sets_shell_variables(&self, part: &Part) -> bool {
        self.selects(part, |details| details.sets_shell_variables)
    }

    /// Returns the readings of a part, as far as the program has the key: its calls by the tables,
    /// its words without the table of its program, and the words after `-m MODULE`.
    fn readings<'p>(
        &self,
        part: &'p Part,
        has_key: impl Fn(&ProgramDetails) -> bool,
    ) -> Vec<CallReading<'p>> {
        let mut readings: Vec<CallReading<'p>> = Vec::new();
        for call in &part.calls {
            // The name of a program may be three words: `python -m pip`.
            let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
            let of_length = |count: usize| {
                let name = path.get(..count)?.join(" ");
                Some((self.details_of(&name)?, count))
            };
            let found = of_length(3).or_else(|| of_length(1));
            if let Some((details, count)) = found.filter(|(details, _)| has_key(details)) {
                readings.push(CallReading {
                    details,
                    commands: path[count..].to_vec(),
                    options: call.options.iter().map(|(name, _)| name.as_str()).collect(),
                    call: Some(call),
                });
            }
        }
        let name = part.words.first().map(|word| file_name(&word.text));
        let Some(name) = name.filter(|name| !name.contains(UNKNOWN)) else {
            return readings;
        };
        let with_key = |name: &str| {
            let details = self.details_of(name).or_else(|| {
                // The names of files ignore letter case on some systems.
                let has_upper = name.bytes().any(|byte| byte.is_ascii_uppercase());
                has_upper.then(|| self.details_of(&name.to_ascii_lowercase()))?
            });
            details.filter(|details| has_key(details))
        };
        let named = with_key(name);
        let is_interpreter = self.is_interpreter(name);
        if named.is_none() && !is_interpreter {
            return readings;
        }
        let words: Vec<&str> = part.arguments().collect();
        let module = words.iter().position(|word| *word == "-m");
        let module = module.filter(|_| is_interpreter);
        let module = module.and_then(|at| words.get(at + 1..)?.split_first());
        let module = module.and_then(|(name, words)| Some((with_key(name)?, words)));
        let named = named.map(|details| (details, words.as_slice()));
        for (details, words) in named.into_iter().chain(module) {
            let is_option = |word: &&&str| word.starts_with(['-', '+']);
            readings.push(CallReading {
                details,
                commands: words
                    .iter()
                    .filter(|word| !is_option(word))
                    .copied()
                    .collect(),
                options: words
                    .iter()
                    .flat_map(|word| [*word, word.split('=').next().unwrap_or(word)])
                    .collect(),
                call: None,
            });
        }
        readings
    }
}
