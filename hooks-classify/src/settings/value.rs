//! Data types of the settings: format, value and error, without logic.

/// Maximum length of a settings text, in bytes.
pub(crate) const MAX_SETTINGS_BYTES: usize = 1 << 20;
/// Maximum number of keys in the path of a value.
pub(crate) const MAX_SETTINGS_DEPTH: usize = 64;

/// Syntax of a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SettingsFormat {
    Toml,
    /// JSON, with everything that JSON5 and `tsconfig.json` add.
    Json,
    /// YAML; the values of all documents count. `<<` merges.
    Yaml,
    /// INI as Python's `configparser` reads it, with and without values for keys.
    Ini,
    /// `.npmrc`, read by the package `ini` of npm.
    NpmRc,
    /// `.yarnrc` of yarn 1: `key "value"`.
    YarnRc,
    /// `.git/config`, `.gitmodules`.
    GitConfig,
    /// Words, each of which is a value of a list at the top: `[]`.
    Words,
}

/// Type of a value, as far as the text shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingKind {
    /// A text that no program takes for a boolean.
    Text,
    /// A text that the program may convert: `yes` of INI and git is a boolean.
    Untyped,
    /// A plain word of YAML that is a boolean for YAML 1.1 and a text for YAML 1.2, such as `no`.
    BooleanOrText,
    /// A text with references or a tag; only the program knows its value.
    Expression,
    /// `true` or `false`.
    Boolean,
    Number,
    Null,
    /// A key without a value.
    Flag,
    /// A list or table with at least one value. The text is empty.
    Collection,
    /// A list or table without values. The text is empty.
    EmptyCollection,
}

/// Value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingValue {
    /// The value without quotes and escapes, as the program reads it.
    pub(crate) text: String,
    /// Line of the key, or of the value in a list, from 1.
    pub(crate) line: usize,
    pub(crate) kind: SettingKind,
}

/// Error for a text that is no settings file of a format.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SettingsError {
    #[error("the text has {length} bytes; at most {MAX_SETTINGS_BYTES} are allowed")]
    TooLong {
        /// Length in bytes.
        length: usize,
    },
    #[error("line {line}: more than {MAX_SETTINGS_DEPTH} levels of keys")]
    TooDeep { line: usize },
    /// The copies of aliases have more text than a settings file may have.
    #[error("line {line}: the aliases expand to more than {MAX_SETTINGS_BYTES} bytes")]
    TooManyCopies { line: usize },
    #[error("line {line}: {message}")]
    Syntax { message: String, line: usize },
}

impl SettingsError {
    pub(super) fn syntax(line: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Syntax { message, line }
    }

    /// Line of the error, from 1.
    pub(crate) fn line(&self) -> usize {
        match self {
            Self::TooLong { .. } => 1,
            Self::TooDeep { line } | Self::TooManyCopies { line } | Self::Syntax { line, .. } => {
                *line
            }
        }
    }
}

impl SettingValue {
    pub(super) fn new(kind: SettingKind, text: impl Into<String>, line: usize) -> Self {
        let text = text.into();
        Self { text, line, kind }
    }
}
