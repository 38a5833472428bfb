//! Whole requests: a text in JSON or YAML in, its members as options of the command out.

use serde_json::Value;

/// A member of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RequestMember {
    Flag(bool),
    Text(String),
}

/// Returns the members of a request, or of all requests in a list, by the names of their options
/// (`WithDecryption` is `--with-decryption`). Returns `None` if the text does not show them.
pub(crate) fn request_members(text: &str) -> Option<Vec<(String, RequestMember)>> {
    if text.contains(crate::model::arg::UNKNOWN) {
        return None;
    }
    if text.trim_start().starts_with(['{', '[']) {
        let objects = match serde_json::from_str(text).ok()? {
            Value::Array(parts) => parts,
            whole => vec![whole],
        };
        let mut all = Vec::new();
        for object in objects {
            let Value::Object(object) = object else {
                return None;
            };
            for (name, value) in object {
                let member = match value {
                    Value::Null => continue,
                    Value::Bool(flag) => RequestMember::Flag(flag),
                    Value::String(text) => RequestMember::Text(text),
                    other => RequestMember::Text(other.to_string()),
                };
                all.push((option_of_member(&name), member));
            }
        }
        return Some(all);
    }
    yaml_members(text)
}

/// Returns the members of YAML that consists of `name: value` lines only.
fn yaml_members(text: &str) -> Option<Vec<(String, RequestMember)>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let members: Option<Vec<_>> = lines
        .map(|line| {
            let (name, value) = line.split_once(": ")?;
            let plain = |c: char| c.is_ascii_alphanumeric();
            let value = value.trim();
            let quote = value.starts_with(['"', '\'']) && value.len() > 1;
            let inner = match quote {
                true => value[1..].strip_suffix(&value[..1])?,
                false => value,
            };
            // YAML may read another value than the line shows.
            let is_literal = !inner.contains(['"', '\'', '\\'])
                && (quote
                    || !inner.starts_with(['&', '*', '!', '|', '>', '{', '[', '%', '@', '`']));
            let member = match inner.parse() {
                Ok(flag) if !quote => RequestMember::Flag(flag),
                _ => RequestMember::Text(inner.to_owned()),
            };
            (name.chars().all(plain) && is_literal).then(|| (option_of_member(name), member))
        })
        .collect();
    members.filter(|members| !members.is_empty())
}

/// Returns the option for a member: `DBName` is `--db-name`.
fn option_of_member(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::from("--");
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let word = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || after.is_some_and(|after| after.is_lowercase())
            });
        if word && before != Some('-') {
            out.push('-');
        }
        out.extend(letter.to_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{RequestMember, option_of_member, request_members};

    #[test]
    fn members_are_converted_to_option_names() {
        assert_eq!(option_of_member("WithDecryption"), "--with-decryption");
        assert_eq!(option_of_member("DBName"), "--db-name");
        assert_eq!(option_of_member("sql"), "--sql");
        assert_eq!(option_of_member("secretArn"), "--secret-arn");
    }

    #[test]
    fn only_inline_objects_have_members() {
        let sql = |text: &str| {
            Some(vec![(
                "--sql".to_owned(),
                RequestMember::Text(text.to_owned()),
            )])
        };
        assert_eq!(request_members(r#"{"sql":"select 1"}"#), sql("select 1"));
        assert_eq!(request_members("sql: 'select 1'"), sql("select 1"));
        assert_eq!(request_members("sql: |\n  drop table x"), None);
        assert_eq!(request_members("file://x.json"), None);
        assert_eq!(request_members("{"), None);
        assert_eq!(request_members(r#"["sql"]"#), None);
        assert_eq!(request_members(r#"[{"sql":"select 1"}]"#), sql("select 1"));
    }
}
