//! Rules of styles: the [`Style`] of a table in, the rules out by which programs of that style read
//! their options.

use crate::tables::Style;

/// Effect of an operand on the options after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operands {
    /// Options after an operand are read.
    Mix,
    /// The first operand ends the options.
    EndOptions,
    /// Some versions of the program read options after an operand. An option there may make a call
    /// stronger and never makes it harmless.
    EndHarmless,
    /// Every word is an operand.
    AreAll,
}

/// Notation of options with names of several letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LongNames {
    /// `--name`
    TwoDashes,
    /// `-name` or `--name`; letters are never joined.
    OneDash,
}

/// Rules by which a program separates options, their values and operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) operands: Operands,
    pub(super) long: LongNames,
    /// `true` if a long name may be abbreviated.
    pub(super) abbreviates: bool,
    /// `true` if `-o=x` has the value `x`; the value is `=x` otherwise.
    pub(super) drops_equals: bool,
    /// `true` if a single `-` ends the options, as `--` does.
    pub(super) dash_ends: bool,
    /// Reading of the first word if it has no dash.
    pub(super) first_word: FirstWord,
}

/// Reading of the first word if it has no dash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FirstWord {
    /// As every other word.
    Plain,
    /// Joined letters, whose values are the words after it, in their order: `tar cfC x.tar folder`.
    ValuesBehind,
    /// Joined letters, the last of which may be followed by its value: `ps axopid`.
    ValueJoined,
}

const GNU: Rules = Rules {
    operands: Operands::Mix,
    long: LongNames::TwoDashes,
    abbreviates: true,
    drops_equals: false,
    dash_ends: false,
    first_word: FirstWord::Plain,
};

const ONE_DASH: Rules = Rules {
    long: LongNames::OneDash,
    abbreviates: false,
    drops_equals: true,
    ..GNU
};

impl Rules {
    pub(super) const fn of(style: Style) -> Self {
        match style {
            Style::Gnu | Style::Git | Style::Assign => GNU,
            Style::Posix => Self {
                operands: Operands::EndOptions,
                ..GNU
            },
            Style::Bsd => Self {
                operands: Operands::EndHarmless,
                ..GNU
            },
            Style::BashBuiltin => Self {
                operands: Operands::EndOptions,
                abbreviates: false,
                ..GNU
            },
            Style::ZshBuiltin => Self {
                operands: Operands::EndOptions,
                abbreviates: false,
                dash_ends: true,
                ..GNU
            },
            Style::Cobra | Style::Clap => Self {
                abbreviates: false,
                drops_equals: true,
                ..GNU
            },
            Style::CobraPosix | Style::ClapPosix => Self {
                operands: Operands::EndOptions,
                abbreviates: false,
                drops_equals: true,
                ..GNU
            },
            Style::Argparse | Style::Aws => Self {
                drops_equals: true,
                ..GNU
            },
            Style::SingleDash | Style::Slash => ONE_DASH,
            Style::SingleDashBsd => Self {
                operands: Operands::EndHarmless,
                ..ONE_DASH
            },
            Style::SingleDashPosix => Self {
                operands: Operands::EndOptions,
                ..ONE_DASH
            },
            Style::Bundled | Style::Jar => Self {
                operands: Operands::EndHarmless,
                first_word: FirstWord::ValuesBehind,
                ..GNU
            },
            Style::Ps => Self {
                first_word: FirstWord::ValueJoined,
                ..GNU
            },
            Style::None => Self {
                operands: Operands::AreAll,
                ..GNU
            },
        }
    }
}
