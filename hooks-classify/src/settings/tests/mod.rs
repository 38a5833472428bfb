//! Tests of the settings files: formats, patterns, bounds, and a comparison with the programs.

mod bounds;
mod formats;
mod patterns;
mod programs;

use super::value::SettingKind;
use super::{Settings, SettingsFormat};

const FORMATS: [SettingsFormat; 7] = [
    SettingsFormat::Toml,
    SettingsFormat::Json,
    SettingsFormat::Yaml,
    SettingsFormat::Ini,
    SettingsFormat::NpmRc,
    SettingsFormat::YarnRc,
    SettingsFormat::GitConfig,
];

fn read(format: SettingsFormat, text: &str) -> Settings {
    Settings::read(format, text).unwrap_or_else(|error| panic!("{format:?} {text:?}: {error}"))
}

/// Returns the values that are no lists or tables as lines `path=text`.
fn listing(settings: &Settings) -> Vec<String> {
    (0..settings.len())
        .filter(|node| {
            !matches!(
                settings.value(*node).kind,
                SettingKind::Collection | SettingKind::EmptyCollection
            )
        })
        .map(|node| format!("{}={}", settings.path_text(node), settings.value(node).text))
        .collect()
}
