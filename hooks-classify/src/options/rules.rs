//! Rules of styles: the [`Style`] of a table in, the rules out by which programs of that style read
//! their options.

use crate::tables::Style;

/// Effect of an operand on the options after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OperandOrder {
    /// Options after an operand are read.
    Mixed,
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
pub(super) enum LongNameSyntax {
    /// `--name`
    TwoDashes,
    /// `-name` or `--name`; letters are never joined.
    OneDash,
}

/// Rules by which a program separates options, their values and operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct StyleRules {
    pub(super) operands: OperandOrder,
    pub(super) long_names: LongNameSyntax,
    /// `true` if a long name may be abbreviated.
    pub(super) allows_abbreviations: bool,
    /// `true` if `-o=x` has the value `x`; the value is `=x` otherwise.
    pub(super) drops_equals: bool,
    /// `true` if a single `-` ends the options, as `--` does.
    pub(super) dash_ends_options: bool,
    /// Reading of the first word if it has no dash.
    pub(super) first_word: FirstWordSyntax,
}

/// Reading of the first word if it has no dash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FirstWordSyntax {
    /// As every other word.
    Plain,
    /// Joined letters, whose values are the words after it, in their order: `tar cfC x.tar folder`.
    ValuesFollow,
    /// Joined letters, the last of which may be followed by its value: `ps axopid`.
    ValueJoined,
}

const GNU: StyleRules = StyleRules {
    operands: OperandOrder::Mixed,
    long_names: LongNameSyntax::TwoDashes,
    allows_abbreviations: true,
    drops_equals: false,
    dash_ends_options: false,
    first_word: FirstWordSyntax::Plain,
};

const ONE_DASH: StyleRules = StyleRules {
    long_names: LongNameSyntax::OneDash,
    allows_abbreviations: false,
    drops_equals: true,
    ..GNU
};

impl StyleRules {
    pub(super) const fn of(style: Style) -> Self {
        match style {
            Style::Gnu | Style::Git | Style::Assign => GNU,
            Style::Posix => Self {
                operands: OperandOrder::EndOptions,
                ..GNU
            },
            Style::Bsd => Self {
                operands: OperandOrder::EndHarmless,
                ..GNU
            },
            Style::BashBuiltin => Self {
                operands: OperandOrder::EndOptions,
                allows_abbreviations: false,
                ..GNU
            },
            Style::ZshBuiltin => Self {
                operands: OperandOrder::EndOptions,
                allows_abbreviations: false,
                dash_ends_options: true,
                ..GNU
            },
            Style::Cobra | Style::Clap => Self {
                allows_abbreviations: false,
                drops_equals: true,
                ..GNU
            },
            Style::CobraPosix | Style::ClapPosix => Self {
                operands: OperandOrder::EndOptions,
                allows_abbreviations: false,
                drops_equals: true,
                ..GNU
            },
            Style::Argparse | Style::Aws => Self {
                drops_equals: true,
                ..GNU
            },
            Style::SingleDash | Style::Slash => ONE_DASH,
            Style::SingleDashBsd => Self {
                operands: OperandOrder::EndHarmless,
                ..ONE_DASH
            },
            Style::SingleDashPosix => Self {
                operands: OperandOrder::EndOptions,
                ..ONE_DASH
            },
            Style::Bundled | Style::Jar => Self {
                operands: OperandOrder::EndHarmless,
                first_word: FirstWordSyntax::ValuesFollow,
                ..GNU
            },
            Style::Ps => Self {
                first_word: FirstWordSyntax::ValueJoined,
                ..GNU
            },
            Style::None => Self {
                operands: OperandOrder::AreAll,
                ..GNU
            },
        }
    }
}
