//! `--explain`: the result of each hook for one call, by dispatch.

use std::io::{self, Write};
use std::time::Duration;

use hooks_runtime::{HookRegistry, Report};

use crate::report::Record;

/// Display names of the dispatches, in the order in which a call passes them.
pub(crate) const PRE: &str = "PRE";
pub(crate) const CLASSIFIERS: &str = "classifiers";
pub(crate) const TOOL_PRE: &str = HookRegistry::TOOL_PRE;
/// Second dispatch of the classifiers, if hooks of `tool:pre` changed the call.
pub(crate) const CLASSIFIERS_AGAIN: &str = "classifiers, changed call";
pub(crate) const TYPED: &str = "typed set";
pub(crate) const TOOL_POST: &str = HookRegistry::TOOL_POST;
/// Replaces `tool:post` if a call did not succeed.
pub(crate) const ERROR_TOOL: &str = HookRegistry::ERROR_TOOL;
pub(crate) const POST: &str = "POST";

/// Results of the hooks for one call. Its texts are raw until [`show`](Self::show).
#[derive(Debug, Default)]
pub(crate) struct Explanation {
    sections: Vec<Section>,
}

/// One dispatch.
#[derive(Debug)]
pub(crate) struct Section {
    title: &'static str,
    outcome: String,
    hooks: Vec<Hook>,
    told: Vec<String>,
}

/// One hook with its result.
#[derive(Debug)]
struct Hook {
    name: String,
    became: String,
    took: Option<Duration>,
}

impl Section {
    /// Creates a section from the report of a dispatch.
    pub(crate) fn reported(title: &'static str, outcome: String, report: &Report) -> Self {
        let hooks = report.entries.iter().map(|entry| Hook {
            name: entry.name.to_string(),
            became: entry.status.to_string(),
            took: entry.elapsed,
        });
        Self {
            title,
            outcome,
            hooks: hooks.collect(),
            told: Vec::new(),
        }
    }

    /// Creates a section for a dispatch whose results are known, but not its durations.
    pub(crate) fn inferred(
        title: &'static str,
        outcome: String,
        hooks: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let hooks = hooks.into_iter().map(|(name, became)| Hook {
            name,
            became,
            took: None,
        });
        Self {
            title,
            outcome,
            hooks: hooks.collect(),
            told: Vec::new(),
        }
    }

    /// Adds the messages of the hooks.
    pub(crate) fn telling(mut self, told: &[String]) -> Self {
        self.told.extend_from_slice(told);
        self
    }
}

impl Explanation {
    pub(crate) fn push(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Adds the dispatches that the call did not reach, with their hooks.
    pub(crate) fn complete(&mut self, hooks: impl Fn(&str) -> Vec<String>) {
        for title in [PRE, CLASSIFIERS, TOOL_PRE, TYPED, TOOL_POST, POST] {
            if !self.has(title) && (title != TOOL_POST || !self.has(ERROR_TOOL)) {
                let names = hooks(title).into_iter();
                let outcome = "none; the call was refused earlier".to_owned();
                let skipped = names.map(|name| (name, "skipped".to_owned()));
                self.push(Section::inferred(title, outcome, skipped));
            }
        }
    }

    fn has(&self, title: &str) -> bool {
        self.sections.iter().any(|section| section.title == title)
    }

    /// Escapes and redacts every text: reasons and failures may contain text of the agent.
    pub(crate) async fn show(&mut self, show: impl AsyncFn(&str) -> String) {
        for section in &mut self.sections {
            section.outcome = show(&section.outcome).await;
            for hook in &mut section.hooks {
                hook.name = show(&hook.name).await;
                hook.became = show(&hook.became).await;
            }
            for told in &mut section.told {
                *told = show(told).await;
            }
        }
    }

    /// Writes the line of the report for the call, then one section per dispatch.
    pub(crate) fn write(&self, record: &Record, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "call {}, line {}: {} {}",
            record.number, record.line, record.tool, record.call
        )?;
        if let Some(ran) = &record.ran {
            writeln!(out, "rewritten to: {ran}")?;
        }
        writeln!(
            out,
            "{} by {}: {}",
            record.decision.name(),
            record.by,
            record.why
        )?;
        writeln!(out, "result: {}", record.result())?;
        let names = self.sections.iter().flat_map(|section| &section.hooks);
        let width = names.map(|hook| hook.name.chars().count()).max();
        let width = width.unwrap_or_default();
        for section in &self.sections {
            writeln!(out, "\n{}: {}", section.title, section.outcome)?;
            for Hook { name, became, took } in &section.hooks {
                write!(out, "  {name:width$}  {became}")?;
                match took {
                    Some(took) => writeln!(out, " ({took:.1?})")?,
                    None => writeln!(out)?,
                }
            }
            for told in &section.told {
                writeln!(out, "  {told}")?;
            }
        }
        Ok(())
    }
}
