//! PowerShell: a text in, its effects out. Without the feature `powershell`, the effect is code.

mod cmdlet;
#[cfg(feature = "powershell")]
mod commands;
mod encoded;

pub(crate) use cmdlet::is_cmdlet;
pub(crate) use encoded::decode_command;

#[cfg(not(feature = "powershell"))]
use super::{missing_feature::missing_feature, variables};
use crate::analysis::Analysis;
use crate::model::arg::Arg;
#[cfg(not(feature = "powershell"))]
use crate::model::{effect::Effect, language::Language};
use crate::tables::Tables;

/// Returns the effects of a text.
pub(crate) fn analyze(text: &Arg, tables: &Tables) -> Analysis {
    let mut analysis = Analysis::new();
    analyze_into(&mut analysis, text, tables);
    analysis
}

#[cfg(feature = "powershell")]
use commands::analyze_into;

#[cfg(not(feature = "powershell"))]
fn analyze_into(analysis: &mut Analysis, text: &Arg, _: &Tables) {
    analysis.record_script(Language::PowerShell, &text.text);
    analysis.append(variables::analyze(Language::PowerShell, text));
    let reason = missing_feature(Language::PowerShell).unwrap_or_default();
    analysis.add_finding(Effect::Code, text.span, reason);
}
