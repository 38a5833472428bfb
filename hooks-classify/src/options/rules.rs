//! The style that a table names, and the rules by which programs of that style read their options.

use crate::tables::Style;

/// What an operand does to the options behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operands {
    /// Options behind an operand are read.
    Mix,
    /// The first operand ends the options.
    EndOptions,
    /// Some versions of the program read options behind an operand, others do not. What such an
    /// option changes counts, and what it promises does not.
    EndPromises,
    /// Every word is an operand.
    AreAll,
}

/// How options with names of several letters are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LongNames {
    /// `--name`
    TwoDashes,
    /// `-name` or `--name`; letters are never joined.
    OneDash,
}

/// How a program tells options, their values and operands apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) operands: Operands,
    pub(super) long: LongNames,
    /// Whether the beginning of a long name stands for it.
    pub(super) abbreviates: bool,
    /// Whether `-o=x` has the value `x`; the value is `=x` otherwise.
    pub(super) drops_equals: bool,
    /// Whether a single `-` ends the options, as `--` does.
    pub(super) dash_ends: bool,
    /// How the first word is read if it has no dash.
    pub(super) first_word: FirstWord,
}

/// How the first word is read if it has no dash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FirstWord {
    /// As every other word.
    Plain,
    /// Joined letters, whose values are the words behind it, in their order: `tar cfC x.tar folder`.
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
                operands: Operands::EndPromises,
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
                operands: Operands::EndPromises,
                ..ONE_DASH
            },
            Style::SingleDashPosix => Self {
                operands: Operands::EndOptions,
                ..ONE_DASH
            },
            Style::Bundled | Style::Jar => Self {
                operands: Operands::EndPromises,
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
