//! Settings files: the text of a file in, its keys and values out. Reads no file and follows no
//! include.
//!
//! | Format | Parser | Programs that read it |
//! |---|---|---|
//! | [`Toml`](SettingsFormat::Toml) | crate `toml` | ruff, black, cargo |
//! | [`Json`](SettingsFormat::Json) | crate `jsonc-parser`; comments, trailing commas, JSON5 | tsc, eslint, npm |
//! | [`Yaml`](SettingsFormat::Yaml) | crate `saphyr-parser` | yarn 2 and later, pre-commit |
//! | [`Ini`](SettingsFormat::Ini) | `ini.rs`, after `configparser` of Python | mypy, codespell |
//! | [`NpmRc`](SettingsFormat::NpmRc) | `npm_rc.rs`, after the package `ini` of npm | npm |
//! | [`YarnRc`](SettingsFormat::YarnRc) | `yarn_rc.rs`, after the lockfile parser of yarn 1 | yarn 1 |
//! | [`GitConfig`](SettingsFormat::GitConfig) | `git_config.rs`, after `config.c` of git | git |
//! | [`Words`](SettingsFormat::Words) | `words.rs`: a list of words | uv, Maven |
//!
//! A file may name a key twice. The program takes the first or the last value, so all values count.
//! If the text has an error, [`Settings::read`] returns an error, although the program may accept the
//! text.
//!
//! A text has at most [`MAX_SETTINGS_BYTES`] bytes, and a path at most
//! [`MAX_SETTINGS_DEPTH`](value::MAX_SETTINGS_DEPTH) keys. The copies for aliases are bounded as well,
//! so time and memory stay proportional to the text.

mod git_config;
mod ini;
mod json;
mod lines;
pub(crate) mod matching;
mod npm_rc;
pub(crate) mod pattern;
#[cfg(test)]
mod tests;
mod toml;
mod tree;
pub(crate) mod value;
mod words;
mod yaml;
mod yarn_rc;

use pattern::PatternKey;
pub(crate) use tree::Settings;
use value::SettingKind;
pub(crate) use value::{MAX_SETTINGS_BYTES, SettingsError, SettingsFormat};

/// Returns the variables of a configuration of git, in the order of the text: `core.bare` with its
/// value, `true` for a variable without a value. Variables of subsections are left out. Returns `None`
/// if git would refuse the text.
#[must_use]
pub fn git_variables(text: &str) -> Option<Vec<(String, String)>> {
    let settings = Settings::read(SettingsFormat::GitConfig, text).ok()?;
    let variables = settings.nodes_at(&[PatternKey::Any, PatternKey::Any]);
    let is_section = |kind| matches!(kind, SettingKind::Collection | SettingKind::EmptyCollection);
    let variables = variables.filter(|node| !is_section(settings.value(*node).kind));
    let variable = |node| (settings.path_text(node), settings.value(node).text.clone());
    Some(variables.map(variable).collect())
}

impl Settings {
    /// Reads the text of a settings file.
    ///
    /// # Errors
    /// If the text has a syntax error, is too long or too deeply nested.
    pub(crate) fn read(format: SettingsFormat, text: &str) -> Result<Self, SettingsError> {
        let length = text.len();
        if length > MAX_SETTINGS_BYTES {
            return Err(SettingsError::TooLong { length });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut settings = Self::new(format);
        match format {
            SettingsFormat::Toml => toml::read(text, &mut settings)?,
            SettingsFormat::Json => json::read(text, &mut settings)?,
            SettingsFormat::Yaml => yaml::read(text, &mut settings)?,
            SettingsFormat::Ini => ini::read(text, &mut settings)?,
            SettingsFormat::NpmRc => npm_rc::read(text, &mut settings)?,
            SettingsFormat::YarnRc => yarn_rc::read(text, &mut settings)?,
            SettingsFormat::GitConfig => git_config::read(text, &mut settings)?,
            SettingsFormat::Words => words::read(text, &mut settings)?,
        }
        Ok(settings)
    }
}
