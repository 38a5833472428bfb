//! Reads a file of words, such as `.python-version` or `jvm.config`: a list of one text for each word.
//! It accepts every text.

use super::tree::{NodeKey, Settings};
use super::value::{SettingKind, SettingValue, SettingsError};

pub(super) fn read(text: &str, settings: &mut Settings) -> Result<(), SettingsError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with('#'));
    let words = lines.flat_map(|(at, line)| line.split_whitespace().map(move |word| (at, word)));
    for (index, (at, word)) in words.enumerate() {
        let value = SettingValue::new(SettingKind::Text, word, at + 1);
        settings.add(None, NodeKey::Index(index), value)?;
    }
    Ok(())
}
