//! GraphQL: a document or the body of a request in, the effect of its operations out.

use serde_json::Value;

use super::deletion::states_deletion;
use crate::analysis::Analysis;
use crate::model::arg::Arg;
use crate::model::effect::Effect;

/// Operations of a document.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Operations {
    /// `true` if an operation is a mutation or a subscription.
    pub(super) changes: bool,
    /// The first field of a mutation whose name states that it deletes.
    pub(super) deletes: Option<String>,
}

impl Operations {
    /// Returns the effect of the strongest operation.
    pub(super) fn effect(&self) -> Effect {
        match (&self.deletes, self.changes) {
            (Some(_), _) => Effect::Delete,
            (None, true) => Effect::Update,
            (None, false) => Effect::Read,
        }
    }
}

/// Reads the operations of a document. Fields of fragments count as fields of each operation.
pub(super) fn operations(text: &str) -> Operations {
    let (mut braces, mut brackets) = (0usize, 0usize);
    let mut found = Operations::default();
    let mut deleting = None;
    let mut word = String::new();
    let (mut in_string, mut in_comment, mut escaped) = (false, false, false);
    for c in text.chars().chain([' ']) {
        if in_comment {
            in_comment = c != '\n' && c != '\r';
            continue;
        }
        if in_string {
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let name = std::mem::take(&mut word);
        if braces == 0 && matches!(name.as_str(), "mutation" | "subscription") {
            found.changes = true;
        }
        if braces == 1 && brackets == 0 && deleting.is_none() && states_deletion(&name) {
            deleting = Some(name);
        }
        match c {
            '"' => in_string = true,
            '#' => in_comment = true,
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '(' => brackets += 1,
            ')' => brackets = brackets.saturating_sub(1),
            _ => {}
        }
    }
    found.deletes = deleting.filter(|_| found.changes);
    found
}

/// Notes the deletion that a request which changes something states in SQL: in its body or its query, as
/// JSON, as a form with the field `query` or `q`, or as the text itself.
pub(super) fn note_statement(analysis: &mut Analysis, path: &str, body: &Arg) {
    let upper = body.text.to_ascii_uppercase();
    if ["DROP", "TRUNCATE", "DELETE"]
        .iter()
        .any(|verb| upper.contains(verb))
        && documents(&body.text).iter().any(|text| drops_tables(text))
    {
        let reason = format!("`{path}` sends a statement that deletes");
        analysis.add_finding(Effect::Delete, body.span, reason);
    }
}

/// Notes the deletion that the body of a request states as a GraphQL mutation: JSON, a form with the
/// field `query`, or the document itself.
pub(super) fn note_body(analysis: &mut Analysis, path: &str, body: &Arg) {
    if !body.text.contains("mutation") {
        return;
    }
    let deletes = documents(&body.text)
        .iter()
        .find_map(|document| operations(document).deletes);
    if let Some(field) = deletes {
        let reason = format!("`{path}` sends the GraphQL mutation `{field}`, which deletes");
        analysis.add_finding(Effect::Delete, body.span, reason);
    }
}

/// Returns `true` if a text is SQL that deletes, by the first words of its statements. Fields of a body
/// have many meanings, so that only what is plainly a statement counts.
fn drops_tables(text: &str) -> bool {
    text.split(';').any(|statement| {
        let mut words = statement.split_whitespace().map(str::to_ascii_uppercase);
        let (first, second) = (words.next(), words.next());
        match (first.as_deref(), second.as_deref()) {
            (Some("DELETE"), Some("FROM")) | (Some("TRUNCATE"), Some(_)) => true,
            (Some("DROP"), Some(kind)) => [
                "TABLE",
                "DATABASE",
                "SCHEMA",
                "VIEW",
                "MATERIALIZED",
                "INDEX",
                "USER",
                "ROLE",
                "DICTIONARY",
                "FUNCTION",
                "KEYSPACE",
                "SERIES",
                "MEASUREMENT",
                "RETENTION",
                "SHARD",
            ]
            .contains(&kind),
            _ => false,
        }
    })
}

/// Returns the texts in a body that may be documents.
fn documents(body: &str) -> Vec<String> {
    let mut found = vec![body.to_owned()];
    match serde_json::from_str::<Value>(body) {
        Ok(Value::Array(batch)) => found.extend(batch.iter().filter_map(document_of)),
        Ok(value) => found.extend(document_of(&value)),
        Err(_) => {}
    }
    let form = url::form_urlencoded::parse(body.as_bytes());
    let fields =
        form.filter(|(name, _)| name == "query" || name == "q" || name.ends_with("[query]"));
    found.extend(fields.map(|(_, value)| value.into_owned()));
    // `query=…` with a text that is not encoded.
    let raw = ["query=", "q="];
    let raw = raw.iter().find_map(|field| body.strip_prefix(field));
    found.extend(raw.map(str::to_owned));
    // JSON that an expansion has made unreadable.
    if body.trim_start().starts_with(['{', '[']) {
        let text = body.replace("\\\"", "").replace("\\n", " ");
        found.extend(text.find("mutation").map(|at| text[at..].replace('"', "")));
    }
    found
}

fn document_of(request: &Value) -> Option<String> {
    request.get("query")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::operations;
    use crate::model::effect::Effect;

    fn effect(text: &str) -> Effect {
        operations(text).effect()
    }

    #[test]
    fn the_name_of_a_field_of_a_mutation_states_the_deletion() {
        for name in [
            "deleteIssue",
            "volumeDelete",
            "bulk_remove_users",
            "DestroyDroplet",
            "purgeCache",
            "tableTruncate",
            "wipe",
            "deleteissue",
            "volumedelete",
        ] {
            assert_eq!(
                effect(&format!("mutation {{ {name}(id: 1) {{ id }} }}")),
                Effect::Delete
            );
            assert_eq!(
                effect(&format!("mutation M {{ a: {name} {{ id }} }}")),
                Effect::Delete
            );
            assert_eq!(
                effect(&format!("query {{ {name} {{ id }} }}")),
                Effect::Read,
                "a query"
            );
        }
        for name in [
            "createIssue",
            "undeleteIssue",
            "backdrop",
            "setDropdown",
            "markDeletedRead",
            "undelete",
        ] {
            assert_eq!(
                effect(&format!("mutation {{ {name}(id: 1) {{ id }} }}")),
                Effect::Update
            );
        }
    }

    #[test]
    fn only_fields_of_the_operation_count() {
        let variables =
            "mutation M($removeId: ID!) { updateIssue(deleteAt: $removeId) { removed } }";
        assert_eq!(effect(variables), Effect::Update);
        assert_eq!(
            effect("mutation { add(text: \"} delete {\") { id } }"),
            Effect::Update
        );
        assert_eq!(
            effect("mutation { # deleteIssue\n add { id } }"),
            Effect::Update
        );
        assert_eq!(effect("{ deletedAt }"), Effect::Read);
        let fragment = "mutation { ...F } fragment F on Mutation { volumeDelete(id: 1) }";
        assert_eq!(effect(fragment), Effect::Delete);
    }
}
