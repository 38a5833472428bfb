//! Scope of options: a name in, the option out that a program understands at a place of its command
//! line.

use super::rules::LongNames;
use crate::tables::{Opt, Program, Style};

/// Options of a command, and of the programs above it whose tables have `options_anywhere`.
pub(super) struct Scope<'a> {
    pub(super) program: &'a Program,
    pub(super) parents: &'a [&'static Program],
}

/// An option of a table under one of its names.
pub(super) struct Found<'a> {
    pub(super) name: String,
    pub(super) option: &'a Opt,
    /// The style of the table that lists it.
    pub(super) style: Style,
}

impl<'a> Scope<'a> {
    fn all(&self) -> impl Iterator<Item = &'a Program> {
        let above = self
            .parents
            .iter()
            .rev()
            .copied()
            .filter(|p| p.details.options_anywhere);
        std::iter::once(self.program).chain(above)
    }

    /// Returns the option of exactly this name.
    pub(super) fn exact(&self, name: &str) -> Option<Found<'a>> {
        self.all().find_map(|program| {
            let option = program.options.get(name)?;
            Some(Found {
                name: name.to_owned(),
                option,
                style: program.style,
            })
        })
    }

    /// Returns the option of this name. If long names have one dash, both notations are looked up.
    pub(super) fn listed(&self, name: &str, long: LongNames) -> Option<Found<'a>> {
        self.exact(name).or_else(|| {
            let rest = name.trim_start_matches('-');
            let other = match name.starts_with("--") {
                true => format!("-{rest}"),
                false => format!("--{rest}"),
            };
            match long {
                LongNames::OneDash => self.exact(&other),
                LongNames::TwoDashes => None,
            }
        })
    }

    /// Returns the wildcard for options without an entry.
    pub(super) fn pattern(&self, text: &str, long: LongNames) -> Option<Found<'a>> {
        let names: &[&str] = match long {
            LongNames::OneDash => &["--*", "-*"],
            LongNames::TwoDashes if text.starts_with("--") => &["--*"],
            LongNames::TwoDashes => &[],
        };
        names.iter().find_map(|name| self.exact(name))
    }

    /// Returns all long options that an abbreviation fits.
    pub(super) fn abbreviated(&self, name: &str, value: Option<&str>) -> Vec<Found<'a>> {
        if name.len() < 3 {
            return Vec::new();
        }
        // An entry for an option with a value (`--dry-run=client`) applies to that value only.
        let fits = |long: &str| match long.split_once('=') {
            Some((long, own)) => long.starts_with(name) && value == Some(own),
            None => long.starts_with(name) && !long.ends_with('*'),
        };
        let mut found: Vec<Found<'_>> = self
            .all()
            .flat_map(|program| program.options.iter().map(|entry| (program.style, entry)))
            .filter(|(_, (long, _))| fits(long))
            .map(|(style, (long, option))| Found {
                name: long.to_owned(),
                option,
                style,
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }
}
