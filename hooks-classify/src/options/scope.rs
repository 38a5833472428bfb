//! Scope of options: a name in, the option out that a program understands at a place of its command
//! line.

use super::rules::LongNameSyntax;
use crate::tables::{OptionSpec, Program, Style};

/// Options of a command, and of the programs above it whose tables have `options_anywhere`.
pub(super) struct OptionScope<'a> {
    pub(super) program: &'a Program,
    pub(super) parents: &'a [&'static Program],
}

/// An option of a table under one of its names.
pub(super) struct MatchedOption<'a> {
    pub(super) name: String,
    pub(super) spec: &'a OptionSpec,
    /// The style of the table that lists it.
    pub(super) style: Style,
}

impl<'a> OptionScope<'a> {
    fn programs(&self) -> impl Iterator<Item = &'a Program> {
        let above = self
            .parents
            .iter()
            .rev()
            .copied()
            .filter(|p| p.details.options_anywhere);
        std::iter::once(self.program).chain(above)
    }

    /// Returns the option of exactly this name.
    pub(super) fn by_exact_name(&self, name: &str) -> Option<MatchedOption<'a>> {
        self.programs().find_map(|program| {
            let option = program.options.get(name)?;
            Some(MatchedOption {
                name: name.to_owned(),
                spec: option,
                style: program.style,
            })
        })
    }

    /// Returns the option of this name. If long names have one dash, both notations are looked up.
    pub(super) fn by_name(&self, name: &str, long: LongNameSyntax) -> Option<MatchedOption<'a>> {
        self.by_exact_name(name).or_else(|| {
            let rest = name.trim_start_matches('-');
            let other = match name.starts_with("--") {
                true => format!("-{rest}"),
                false => format!("--{rest}"),
            };
            match long {
                LongNameSyntax::OneDash => self.by_exact_name(&other),
                LongNameSyntax::TwoDashes => None,
            }
        })
    }

    /// Returns the wildcard for options without an entry.
    pub(super) fn wildcard(&self, text: &str, long: LongNameSyntax) -> Option<MatchedOption<'a>> {
        let names: &[&str] = match long {
            LongNameSyntax::OneDash => &["--*", "-*"],
            LongNameSyntax::TwoDashes if text.starts_with("--") => &["--*"],
            LongNameSyntax::TwoDashes => &[],
        };
        names.iter().find_map(|name| self.by_exact_name(name))
    }

    /// Returns all long options that an abbreviation fits.
    pub(super) fn by_abbreviation(
        &self,
        name: &str,
        value: Option<&str>,
    ) -> Vec<MatchedOption<'a>> {
        if name.len() < 3 {
            return Vec::new();
        }
        // An entry for an option with a value (`--dry-run=client`) applies to that value only.
        let is_abbreviated = |long: &str| match long.split_once('=') {
            Some((long, own)) => long.starts_with(name) && value == Some(own),
            None => long.starts_with(name) && !long.ends_with('*'),
        };
        let mut found: Vec<MatchedOption<'_>> = self
            .programs()
            .flat_map(|program| program.options.iter().map(|entry| (program.style, entry)))
            .filter(|(_, (long, _))| is_abbreviated(long))
            .map(|(style, (long, option))| MatchedOption {
                name: long.to_owned(),
                spec: option,
                style,
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }
}
