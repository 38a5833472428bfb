//! PowerShell: a text in, its effects out. Without the feature `powershell`, the effect is code.

mod cmdlet;
#[cfg(feature = "powershell")]
mod commands;
mod encoded;

pub(crate) use cmdlet::cmdlet;
pub(crate) use encoded::decoded;

#[cfg(not(feature = "powershell"))]
use super::{unread::unread, variables};
use crate::analysis::Analysis;
use crate::model::arg::Arg;
#[cfg(not(feature = "powershell"))]
use crate::model::{effect::Effect, language::Language};
use crate::tables::Tables;

/// Returns the effects of a text.
pub(crate) fn read(text: &Arg, tables: &Tables) -> Analysis {
    let mut analysis = Analysis::new();
    read_into(&mut analysis, text, tables);
    analysis
}

#[cfg(feature = "powershell")]
use commands::read_into;

#[cfg(not(feature = "powershell"))]
fn read_into(analysis: &mut Analysis, text: &Arg, _: &Tables) {
    analysis.script_text(Language::PowerShell, &text.text);
    analysis.append(variables::read(Language::PowerShell, text));
    let reason = unread(Language::PowerShell).unwrap_or_default();
    analysis.find(Effect::Code, text.span, reason);
}
