//! Implements `rules preset`, and the choice of a preset in `install`. In: the name of a preset, or
//! an answer at the terminal. Out: the changed rules file, and a report.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hooks_guard::install;
use hooks_guard::rules::Preset;
use hooks_runtime::display::escape;

use super::failure::CommandError;
use super::report::print_report;
use super::setup::Setup;

#[derive(Debug, Args)]
pub(crate) struct PresetArgs {
    /// The preset; `none` removes the present one. Default: lists the presets.
    #[arg(value_parser = presets())]
    name: Option<PresetChoice>,
    /// Shows the changes without making them.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    setup: Setup,
}

/// A preset, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresetChoice(pub(crate) Option<Preset>);

/// Returns a parser of the names of presets, which shells can complete.
pub(crate) fn presets() -> impl TypedValueParser<Value = PresetChoice> {
    let names = Preset::ALL.iter().map(|preset| preset.name());
    PossibleValuesParser::new(names.chain([NONE])).map(|name| PresetChoice(named(&name)))
}

/// Name on the command line for no preset.
const NONE: &str = "none";

fn named(name: &str) -> Option<Preset> {
    Preset::ALL.into_iter().find(|preset| preset.name() == name)
}

/// Runs `rules preset`.
pub(crate) fn preset(options: PresetArgs) -> Result<bool, CommandError> {
    let file = options.setup.rules_file()?;
    let mut out = io::stdout().lock();
    match options.name {
        Some(choice) => write(&mut out, &file, choice.0, options.dry_run)?,
        None => {
            list(&mut out)?;
            writeln!(out, "{}", present(&file)?)?;
        }
    }
    Ok(true)
}

/// Writes a preset to the rules file, and prints the change.
pub(crate) fn write(
    out: &mut impl Write,
    file: &Path,
    preset: Option<Preset>,
    dry_run: bool,
) -> Result<(), CommandError> {
    let report = install::write_preset(file, preset, dry_run)?;
    print_report(out, &report, dry_run)?;
    if !dry_run && let Some(preset) = preset {
        writeln!(out, "preset `{preset}`:")?;
        summary(out, preset)?;
    }
    Ok(())
}

/// Returns a line with the preset in the rules file.
fn present(file: &Path) -> Result<String, CommandError> {
    let shown = escape(&file.display().to_string());
    Ok(match install::present_preset(file)? {
        Some(name) => format!("preset in `{shown}`: {}", escape(&name)),
        None => format!("no preset in `{shown}`; run `hooks-guard rules preset NAME`"),
    })
}

fn list(out: &mut impl Write) -> io::Result<()> {
    for preset in Preset::ALL {
        writeln!(out, "{preset}")?;
        summary(out, preset)?;
    }
    writeln!(out, "{NONE}")?;
    writeln!(
        out,
        "    no rules; the classifier and your own rules decide."
    )
}

fn summary(out: &mut impl Write, preset: Preset) -> io::Result<()> {
    preset
        .summary()
        .iter()
        .try_for_each(|line| writeln!(out, "    {line}"))
}

/// Offers the presets at the terminal after an installation. Without a terminal, prints which there
/// are and writes none.
pub(crate) fn offer(out: &mut impl Write, file: &Path, dry_run: bool) -> Result<(), CommandError> {
    if install::present_preset(file)?.is_some() {
        writeln!(out, "{}", present(file)?)?;
        return Ok(());
    }
    if dry_run || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        let names = names.join(", ");
        writeln!(
            out,
            "no preset of rules written; run `hooks-guard rules preset NAME` with {names}"
        )?;
        return Ok(());
    }
    writeln!(out, "\nPresets of rules:")?;
    list(out)?;
    loop {
        write!(out, "preset [{}]: ", Preset::Development)?;
        out.flush()?;
        let mut answer = String::new();
        if io::stdin().lock().read_line(&mut answer)? == 0 {
            writeln!(out, "\nno preset of rules written")?;
            return Ok(());
        }
        let preset = match answer.trim() {
            "" => Some(Preset::Development),
            NONE => return Ok(()),
            name => named(name),
        };
        match preset {
            Some(preset) => return write(out, file, Some(preset), false),
            None => writeln!(out, "unknown preset `{}`", escape(answer.trim()))?,
        }
    }
}
