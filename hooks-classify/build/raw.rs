//! Unchecked tables: the keys of a file, as `format` reads them and `load` checks them.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// Keys of `family.toml`, which apply to the programs in its folder.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// `true` if the programs without `online` reach no other machine.
    #[serde(default)]
    pub(crate) offline: bool,
}

/// A program or a command. The fields without a key are set by `format`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawProgram {
    #[serde(skip)]
    pub(crate) names: Vec<String>,
    #[serde(skip)]
    pub(crate) does: String,
    #[serde(skip)]
    pub(crate) effect: String,
    /// Line of the entry in the file, from 1.
    #[serde(skip)]
    pub(crate) line: usize,
    /// On a program: when its table was last compared with the program itself.
    pub(crate) checked: Option<RawCheck>,
    pub(crate) given: Option<String>,
    pub(crate) operands: Option<Vec<String>>,
    #[serde(skip)]
    pub(crate) options: Vec<String>,
    pub(crate) style: Option<String>,
    pub(crate) function: Option<String>,
    #[serde(skip)]
    pub(crate) command: Vec<RawProgram>,
    #[serde(default)]
    pub(crate) options_anywhere: bool,
    pub(crate) commands_of: Option<String>,
    pub(crate) reveals: Option<String>,
    pub(crate) reveals_given: Option<String>,
    #[serde(default)]
    pub(crate) dash_is_file: bool,
    #[serde(default)]
    pub(crate) shell_text: bool,
    #[serde(default)]
    pub(crate) prints_words: bool,
    #[serde(default)]
    pub(crate) prints_paths: bool,
    pub(crate) dialect: Option<String>,
    pub(crate) files_in_words: Option<String>,
    pub(crate) programs_in_words: Option<String>,
    #[serde(default)]
    pub(crate) sends: bool,
    #[serde(default)]
    pub(crate) offline: bool,
    #[serde(default)]
    pub(crate) online: bool,
    #[serde(default)]
    pub(crate) hosts: bool,
    #[serde(default)]
    pub(crate) probes: bool,
    #[serde(default)]
    pub(crate) shows: Vec<String>,
    #[serde(default)]
    pub(crate) only_first: bool,
    #[serde(default)]
    pub(crate) options_first: bool,
    pub(crate) help: Option<String>,
    pub(crate) terminal: Option<RawTerminal>,
    pub(crate) pager: Option<RawPager>,
    pub(crate) contents: Option<RawContents>,
    pub(crate) recurses: Option<RawRecursion>,
    pub(crate) finds: Option<String>,
    #[serde(default)]
    pub(crate) expands_files: bool,
    #[serde(default)]
    pub(crate) unguarded: Vec<String>,
    #[serde(default)]
    pub(crate) variables: Vec<String>,
    #[serde(default)]
    pub(crate) harmless_variables: Vec<String>,
    #[serde(default)]
    pub(crate) harmless_config: Vec<String>,
    #[serde(default)]
    pub(crate) runs_input: bool,
    pub(crate) decided_by: Option<Vec<String>>,
    pub(crate) configured_by: Option<Vec<String>>,
    pub(crate) package_scripts: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) replaces_files: bool,
    #[serde(default)]
    pub(crate) outside: Vec<String>,
    #[serde(default)]
    pub(crate) installs: Vec<String>,
    #[serde(default)]
    pub(crate) runs_packages: Vec<String>,
    pub(crate) packages_in: Option<String>,
    #[serde(default)]
    pub(crate) places_links: Vec<String>,
    #[serde(default)]
    pub(crate) keeps_files: Vec<String>,
    #[serde(default)]
    pub(crate) controls: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) discards: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(crate) sets_shell_variables: Vec<String>,
    pub(crate) client: Option<String>,
    pub(crate) file_operation: Option<String>,
    pub(crate) output: Option<String>,
    #[serde(default)]
    pub(crate) edits_named_files: bool,
    #[serde(default)]
    pub(crate) changes_directory: bool,
    pub(crate) slash_words: Option<String>,
    #[serde(default)]
    pub(crate) sets_variables: bool,
    #[serde(default)]
    pub(crate) schedules_input: bool,
    #[serde(default)]
    pub(crate) secrets: Vec<RawSecretRule>,
    #[serde(default)]
    pub(crate) loads: Vec<RawLoadRule>,
    pub(crate) prints_variables: Option<RawVariablesPrinted>,
    #[serde(default)]
    pub(crate) elsewhere: bool,
    #[serde(default)]
    pub(crate) runs_scripts: bool,
    #[serde(default)]
    pub(crate) reveals_from: Vec<String>,
    #[serde(default)]
    pub(crate) loads_decide: bool,
}

/// Calls that print all variables: without operands, and without these options.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVariablesPrinted {
    #[serde(default)]
    pub(crate) off: OptionNames,
}

/// Files of the project that a program loads.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawLoadRule {
    #[serde(default)]
    pub(crate) files: Vec<String>,
    pub(crate) search: Option<String>,
    pub(crate) format: Option<String>,
    /// Patterns of settings, of which one has to match.
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    /// Settings that name further files of the format.
    #[serde(default)]
    pub(crate) follows: Vec<String>,
    /// Names of modules: only files of these modules count, where the program imports modules.
    #[serde(default)]
    pub(crate) modules: Vec<String>,
    /// `true` if the program changes files instead of running code.
    #[serde(default)]
    pub(crate) writes: bool,
    /// `true` if the program makes files instead of running code.
    #[serde(default)]
    pub(crate) creates: bool,
    /// `true` if a link that leads out of the project is no code of the project.
    #[serde(default)]
    pub(crate) inside_only: bool,
    /// Paths of commands: only these load the files.
    #[serde(default)]
    pub(crate) calls: Vec<String>,
    /// Files, one of which has to be in the folder that is searched.
    #[serde(default)]
    pub(crate) beside: Vec<String>,
    /// Files, none of which may be in the folder that is searched.
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// Patterns of settings, each of which has to match in the same file.
    #[serde(default)]
    pub(crate) requires: Vec<String>,
    /// Options whose values name the files instead.
    #[serde(default)]
    pub(crate) instead: OptionNames,
    /// Options, one of which has to be there.
    #[serde(default)]
    pub(crate) on: OptionNames,
    #[serde(default)]
    pub(crate) off: OptionNames,
    #[serde(default)]
    pub(crate) off_variables: Vec<String>,
    /// Version of the program with which this was seen.
    pub(crate) seen: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSecretRule {
    /// Options, each a name or a name with its value, of which the call has one.
    #[serde(default)]
    pub(crate) on: OptionNames,
    #[serde(default)]
    pub(crate) operands: Vec<String>,
    #[serde(default)]
    pub(crate) options: OptionNames,
    /// Letters of options whose value is joined, in a style that does not join letters.
    #[serde(default)]
    pub(crate) joined: OptionNames,
    pub(crate) stdin: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCheck {
    pub(crate) version: String,
    /// Command that lists the commands and options of the program.
    pub(crate) by: String,
    pub(crate) on: toml::value::Datetime,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRecursion {
    #[serde(default)]
    pub(crate) on: OptionNames,
    #[serde(default)]
    pub(crate) off: OptionNames,
    #[serde(default)]
    pub(crate) names: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTerminal {
    pub(crate) reads: String,
    #[serde(default)]
    pub(crate) off: OptionNames,
    #[serde(default)]
    pub(crate) on: OptionNames,
    pub(crate) operands: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVariables {
    /// Variables that change nothing but what reading programs print.
    pub(crate) harmless: Vec<String>,
    pub(crate) variable: Vec<RawVariable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawVariable {
    pub(crate) names: Vec<String>,
    pub(crate) why: String,
    #[serde(default)]
    pub(crate) harmless: Vec<String>,
    #[serde(default)]
    pub(crate) harmless_folders: Vec<String>,
    #[serde(default)]
    pub(crate) runs_value: bool,
    #[serde(default)]
    pub(crate) settings: bool,
    #[serde(default)]
    pub(crate) only: Vec<String>,
}

/// The folders of `shims.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawShims {
    pub(crate) manager: Vec<RawShimFolder>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawShimFolder {
    /// Folder in the home folder.
    pub(crate) folder: String,
    pub(crate) loads: Vec<RawLoadRule>,
}

/// The lists of `secrets.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSecrets {
    pub(crate) paths: Vec<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) harmless: Vec<String>,
    pub(crate) searched: Vec<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) private: RawPrivate,
}

/// Folders in which a file may be a secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPrivate {
    pub(crate) folders: Vec<String>,
    pub(crate) open: Vec<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) home: Vec<String>,
    pub(crate) variables: BTreeMap<String, String>,
}

/// The entries of `programs/files.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFiles {
    pub(crate) code: RawCodeFiles,
}

/// Files whose contents run later.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCodeFiles {
    /// Names without a dot at the start.
    pub(crate) names: Vec<String>,
    /// Endings after the last dot.
    pub(crate) endings: Vec<String>,
    /// Parts of paths.
    pub(crate) folders: Vec<String>,
}

/// The entries of `secrets/tokens.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTokens {
    pub(crate) token: Vec<RawToken>,
}

/// Formats of the tokens of an issuer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawToken {
    pub(crate) issuer: Spanned<String>,
    /// URL or file of a repository that states the formats.
    pub(crate) source: Spanned<String>,
    pub(crate) formats: Vec<Spanned<String>>,
    pub(crate) samples: Vec<Spanned<String>>,
}

/// Without `off`, the program starts a pager only with an option of `on`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPager {
    pub(crate) off: Option<OptionNames>,
    #[serde(default)]
    pub(crate) on: OptionNames,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawContents {
    #[serde(default)]
    pub(crate) off: OptionNames,
    #[serde(default)]
    pub(crate) on: OptionNames,
    #[serde(default)]
    pub(crate) only_on: Vec<String>,
}

/// Names of options: separated by blanks, or a list of such texts.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "OneOrMany")]
pub(crate) struct OptionNames(pub(crate) String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "names of options, as a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for OptionNames {
    fn from(names: OneOrMany) -> Self {
        match names {
            OneOrMany::One(names) => Self(names),
            OneOrMany::Many(names) => Self(names.join(" ")),
        }
    }
}
