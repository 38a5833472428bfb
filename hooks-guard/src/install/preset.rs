//! Writes a preset to the user's rules file. In: the file and a preset. Out: the file with the
//! preset's rules in place of those of another preset.

use std::path::Path;

use super::error::InstallError;
use super::file::Settings;
use super::report::{FileChange, Report};
use crate::rules::{MarksError, Origin, Preset, Protected, Rules};

/// Writes a preset to a rules file, or removes the present preset. All other rules are kept.
///
/// # Errors
/// If the file cannot be read or written, or does not parse; it is unchanged then.
pub fn write_preset(
    file: &Path,
    preset: Option<Preset>,
    dry_run: bool,
) -> Result<Report, InstallError> {
    let settings = Settings::read(file)?;
    let now = settings.text().unwrap_or_default();
    let marks = |source: MarksError| InstallError::Preset {
        path: settings.path.clone(),
        source,
    };
    let had = Preset::name_in(now).map_err(marks)?.is_some();
    let wanted = Preset::put(preset, now).map_err(marks)?;
    if preset.is_some() {
        // Patterns below the home directory parse with any home directory.
        let protected = Protected::new("/");
        let name = settings.path.display().to_string();
        Rules::parse(&wanted, &name, Origin::User, None, &protected)?;
    }
    let is_removed = had && wanted.is_empty();
    let (change, kept) = match settings.text() {
        Some(_) if is_removed => (FileChange::Removed, None),
        text if text.unwrap_or_default() == wanted => (FileChange::None, text),
        _ => (settings.change(&wanted), Some(wanted.as_str())),
    };
    let mut report = settings.report(change, kept);
    if change == FileChange::None || dry_run {
        return Ok(report);
    }
    // Keep the backup of the content before the first preset.
    if change == FileChange::Changed && !had {
        report.backup = Some(settings.back_up()?);
    }
    match kept {
        Some(wanted) => settings.replace(wanted)?,
        None => settings.remove()?,
    }
    Ok(report)
}

/// Returns the name of the preset in a rules file, if there is one.
///
/// # Errors
/// If the file cannot be read, or the marks of the preset are incomplete or repeated.
pub fn present_preset(file: &Path) -> Result<Option<String>, InstallError> {
    let settings = Settings::read(file)?;
    let name = Preset::name_in(settings.text().unwrap_or_default());
    let name = name.map_err(|source| InstallError::Preset {
        path: settings.path.clone(),
        source,
    })?;
    Ok(name.map(str::to_owned))
}
