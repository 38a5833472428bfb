//! `gh api`: a call in, the effect of its request out.

use super::effect::operand_words;
use super::graphql;
use crate::analysis::{Analysis, Context};
use crate::model::arg::UNKNOWN;
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `gh api`, of which the method or the GraphQL query decides the effect.
pub(super) fn api(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let fields = ["-f", "-F", "--raw-field", "--field", "--input", "--form"];
    let mut method = None;
    let mut query = None;
    let mut body = false;
    for opt in &call.options {
        let Some(value) = &opt.value else { continue };
        let text = value.text.as_str();
        match opt.name.as_str() {
            "-X" | "--method" => method = Some(text.to_ascii_uppercase()),
            "--hostname" if !value.is_known() => {
                analysis.require_confirmation(value.span, "an expansion decides where the words go")
            }
            "-H" | "--header" if !value.is_known() || text.starts_with('@') => analysis
                .require_confirmation(value.span, "sends an expansion or a file in a header"),
            name if fields.contains(&name) => {
                body = true;
                let file = name == "--input"
                    || text
                        .split_once('=')
                        .is_some_and(|(_, v)| v.starts_with('@'));
                if file {
                    analysis.require_confirmation(value.span, "sends the contents of a file");
                }
                if let Some(text) = text.strip_prefix("query=") {
                    query = Some(text.to_owned());
                }
            }
            _ => {}
        }
    }
    let path = operand_words(call)
        .first()
        .map(|arg| arg.text.clone())
        .unwrap_or_default();
    if path.starts_with(UNKNOWN) || (path.starts_with("http") && path.contains(UNKNOWN)) {
        analysis.require_confirmation(whole, "an expansion decides where the words go");
    }
    let query_of = path.split_once('?').map_or("", |(_, query)| query);
    if query_of.contains(UNKNOWN) {
        analysis.require_confirmation(whole, "sends the value of an expansion over the network");
    }
    if path.trim_start_matches('/') == "graphql" {
        let effect = match query {
            Some(text) if text.starts_with('@') || text.contains(UNKNOWN) => Effect::Update,
            Some(text) => {
                let operations = graphql::operations(&text);
                if let Some(field) = &operations.deletes {
                    let path = &call.path;
                    let reason =
                        format!("`{path}` sends the GraphQL mutation `{field}`, which deletes");
                    analysis.add_finding(Effect::Delete, whole, reason);
                }
                operations.effect()
            }
            None => Effect::Update,
        };
        return analysis.with_effect(effect);
    }
    analysis.with_effect(match method.as_deref() {
        None if body => Effect::Create,
        None | Some("GET" | "HEAD") => Effect::Read,
        Some("POST") => Effect::Create,
        Some("PUT" | "PATCH") => Effect::Update,
        Some("DELETE") => Effect::Delete,
        Some(_) => Effect::Unknown,
    })
}
