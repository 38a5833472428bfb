//! Effect by table: a program and the options of its call in, findings out.

use super::deletion::deleting_command;
use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::{Effect, OptionEffect};
use crate::model::span::Span;
use crate::options::call::{Call, ParsedOption};
use crate::tables::ValueArity;

/// Returns the words of the operands of a call.
pub(super) fn operand_words(call: &Call) -> Vec<Arg> {
    let operands = call.operands.iter();
    operands.map(|operand| operand.arg.clone()).collect()
}

/// Notes the effect of a call; `function` is the effect that a function of the program found.
pub(super) fn note_effect(
    analysis: &mut Analysis,
    call: &Call,
    function: Option<Effect>,
    whole: Span,
) {
    let program = &call.program;
    if program.details.options_first
        && let Some(first) = call.operands.first()
        && let Some(late) = call
            .options
            .iter()
            .find(|opt| opt.words_left < first.words_left)
    {
        let reason = format!(
            "`{}` takes `{}` for the name of a file",
            call.path, late.name
        );
        analysis.add_finding(Effect::Create, late.span, reason);
    }
    let mut replaced: Option<(Effect, Span, &str)> = None;
    let mut forced = replaced;
    let mut at_least = replaced;
    for (at, opt) in call.options.iter().enumerate() {
        let can_be_negated = matches!(
            opt.spec.effect,
            Some(OptionEffect::Forces(_) | OptionEffect::Replaces(Effect::Read))
        );
        if can_be_negated && option_negated(call, at) {
            continue;
        }
        let entry = |effect| (effect, opt.span, opt.name.as_str());
        let stronger =
            |old: Option<(Effect, Span, &str)>, new: Effect| old.is_none_or(|old| new > old.0);
        match opt.spec.effect {
            Some(OptionEffect::Replaces(effect)) if stronger(replaced, effect) => {
                replaced = Some(entry(effect))
            }
            Some(OptionEffect::Forces(effect)) if stronger(forced, effect) => {
                forced = Some(entry(effect))
            }
            Some(OptionEffect::AtLeast(effect)) if stronger(at_least, effect) => {
                at_least = Some(entry(effect))
            }
            Some(reveals @ (OptionEffect::Reveals | OptionEffect::ReplacesAndReveals)) => {
                analysis.require_confirmation(opt.span, format!("`{}` shows secrets", opt.name));
                if reveals == OptionEffect::ReplacesAndReveals && stronger(replaced, Effect::Read) {
                    replaced = Some(entry(Effect::Read));
                }
            }
            _ => {}
        }
    }
    let with_operands = program.given.filter(|_| !call.operands.is_empty());
    let plain = function.or(with_operands).unwrap_or(program.effect);
    let (mut effect, mut span, mut option) = (plain, whole, None);
    if let Some((strongest, at, name)) = replaced {
        (effect, span, option) = (strongest, at, Some(name));
        if function.is_some_and(|function| function > effect) {
            (effect, span, option) = (plain, whole, None);
        }
    }
    if let Some((strongest, at, name)) = at_least
        && strongest > effect
    {
        (effect, span, option) = (strongest, at, Some(name));
    }
    if let Some((strongest, _, name)) = forced {
        (effect, span, option) = (strongest, whole, Some(name));
    }
    let path = &call.path;
    let mut reason = match (option, effect) {
        (Some("--help"), Effect::Read) => format!("`{path} --help` prints help"),
        (Some(option), Effect::Read) if program.details.help.contains(&option) => {
            format!("`{path} {option}` prints help")
        }
        (Some("--version"), Effect::Read) => format!("`{path} --version` prints its version"),
        (Some(option), effect) => format!("`{path}` with `{option}` {}", effect_phrase(effect)),
        (None, Effect::Unknown) => format!("`{path}` is not understood"),
        (None, Effect::Code) if program.does.text().split(' ').any(|word| word == "runs") => {
            format!(
                "`{path}` {} (code not visible in the command)",
                program.does
            )
        }
        (None, Effect::Code) => format!(
            "`{path}` {}, which runs code not visible in the command",
            program.does
        ),
        (None, _) => format!("`{path}` {}", program.does),
    };
    if effect != Effect::Read {
        let unguarded = unguarded_options(call);
        match unguarded.as_slice() {
            [] => {}
            [one] => reason += &format!("; {one} switches its own checks off"),
            many => reason += &format!("; {} switch its own checks off", many.join(", ")),
        }
    }
    analysis.add_finding(effect, span, reason);
    // Operands of which the table says nothing may name commands.
    let may_name_command = !program.commands.is_empty() || program.operands.is_empty();
    if option.is_none() && function.is_none() && effect > Effect::Read && may_name_command {
        note_unlisted_deletion(analysis, call);
    }
}

/// Notes the deletion that the words of a command state which the table of its program lacks.
fn note_unlisted_deletion(analysis: &mut Analysis, call: &Call) {
    let operands = call.operands.iter();
    let words = operands.map(|operand| operand.arg.text.as_str());
    if let Some(word) = deleting_command(words)
        && let Some(first) = call.operands.first()
    {
        let reason = format!("`{}` has a command `{word}`, which may delete", call.path);
        analysis.add_finding(Effect::Delete, first.arg.span, reason);
    }
}

/// Returns the options of a call with which an agent runs without its own checks, as the table of the
/// program lists them, in backticks.
///
/// The words are compared as text, also behind the prompt of the agent, where some versions read no
/// option: a warning too many is better than one that is missing.
fn unguarded_options(call: &Call) -> Vec<String> {
    let unquoted = |text: &str| text.replace(['"', '\''], "");
    let is_used = |listed: &&&str| {
        let (name, value) = match listed.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (**listed, None),
        };
        let fits = |given: &str| value.is_none_or(|value| unquoted(given) == value);
        let parsed = call.options.iter().any(|opt| {
            let given = opt.value.as_ref().map_or("", |value| &value.text);
            opt.name == name && fits(given)
        });
        let mut words = call.args.iter().enumerate();
        parsed
            || words.any(|(at, word)| match word.text.strip_prefix(name) {
                Some("") => fits(call.args.get(at + 1).map_or("", |next| &next.text)),
                Some(rest) => rest.strip_prefix('=').is_some_and(fits),
                None => false,
            })
    };
    let listed = call.program.details.unguarded.iter().filter(is_used);
    listed
        .map(|option| format!("`{}`", option.replacen('=', " ", 1)))
        .collect()
}

/// Notes the effects of the options alone, for functions that read the operands themselves.
pub(super) fn note_option_effects(analysis: &mut Analysis, call: &Call) {
    for opt in &call.options {
        match opt.spec.effect {
            Some(OptionEffect::AtLeast(effect) | OptionEffect::Replaces(effect)) => {
                let reason = format!(
                    "`{}` with `{}` {}",
                    call.path,
                    opt.name,
                    effect_phrase(effect)
                );
                analysis.add_finding(effect, opt.span, reason);
            }
            Some(OptionEffect::Reveals | OptionEffect::ReplacesAndReveals) => {
                analysis.require_confirmation(opt.span, format!("`{}` shows secrets", opt.name))
            }
            _ => {}
        }
    }
}

/// Notes the effects of the options and the unknown words, for functions that read the operands
/// themselves.
pub(super) fn note_options(analysis: &mut Analysis, call: &Call) {
    note_option_effects(analysis, call);
    note_unrecognized(analysis, call);
}

/// Notes the words that the table of the program does not know.
pub(super) fn note_unrecognized(analysis: &mut Analysis, call: &Call) {
    for (reason, span) in &call.unrecognized {
        analysis.add_finding(Effect::Unknown, *span, reason.clone());
    }
    if !call.unrecognized.is_empty() {
        note_unlisted_deletion(analysis, call);
    }
}

/// Words after an option, or joined to it, that turn the option off for some programs.
const NEGATING_WORDS: &[&str] = &[
    "false", "no", "0", "null", "off", "without", "disable", "n", "f",
];

/// Options that test or list, each with options that make the program do its work despite it.
const TEST_OR_LIST_OPTIONS: &[&str] = &["-t", "--test", "-l", "--list"];
const COMPRESSION_OPTIONS: &[&str] = &["-z", "--compress", "-d", "--decompress", "--uncompress"];

/// Returns `true` if something negates an option: another value, `--no-…`, a word that turns it
/// off, another option, or its place.
fn option_negated(call: &Call, at: usize) -> bool {
    let opt = &call.options[at];
    let off = |value: &Arg| NEGATING_WORDS.contains(&value.text.to_ascii_lowercase().as_str());
    if opt.spec.arity == ValueArity::Joined && opt.value.as_ref().is_some_and(off) {
        return true;
    }
    if let Some(place) = opt.index_in(call) {
        let next = call.args.get(place + 1);
        if next.is_some_and(off) || (call.program.details.only_first && place > 0) {
            return true;
        }
    }
    let is_compression = |opt: &ParsedOption| COMPRESSION_OPTIONS.contains(&opt.name.as_str());
    let compresses = call.program.options.contains_key("--decompress");
    if compresses
        && TEST_OR_LIST_OPTIONS.contains(&opt.name.as_str())
        && call.options.iter().any(is_compression)
    {
        return true;
    }
    let name = opt.name.as_str();
    let base = |name: &str| name.split('=').next().unwrap_or(name).to_owned();
    let base_name = base(name);
    let effect = opt.spec.effect;
    let negated = call.args.iter().any(|arg| {
        arg.text.strip_prefix("--no-").is_some_and(|rest| {
            let positive = format!("--{rest}");
            // An option with an equal meaning may have another name.
            let mut options = call.program.options.iter();
            base_name == "--*"
                || base_name.starts_with(&positive)
                || options
                    .any(|(name, option)| option.effect == effect && name.starts_with(&positive))
        })
    });
    negated
        || call.options[at + 1..].iter().any(|later| {
            let other = base(&later.name);
            (other == base_name && later.name != name) || later.name.ends_with("= false")
        })
}

/// Returns an effect as the end of a sentence.
fn effect_phrase(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "only reads",
        Effect::Create => "creates something",
        Effect::Code => "runs code not visible in the command",
        Effect::Unknown => "is not understood",
        Effect::Update => "changes something",
        Effect::Delete => "deletes or discards something",
    }
}

/// Returns `true` if an option makes a program print something else, such as its version.
pub(super) fn prints_help_or_version(call: &Call) -> bool {
    call.options.iter().enumerate().any(|(at, opt)| {
        opt.spec.effect == Some(OptionEffect::Forces(Effect::Read)) && !option_negated(call, at)
    })
}
