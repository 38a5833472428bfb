//! Manifests: the published schema and the validation in code agree.

use hooks_script::{ContextKey, MANIFEST_SCHEMA, Manifest, ManifestError};
use serde_json::{Value, json};

fn cases() -> Vec<(Value, bool)> {
    let with = |field: &str, value: Value| {
        let mut manifest = json!({"source": "https://example.org/hook.js", "name": "A hook", "context": ["user", "guild"]});
        match value {
            Value::Null => drop(manifest.as_object_mut().unwrap().remove(field)),
            value => manifest[field] = value,
        }
        manifest
    };
    vec![
        (with("x-served-by", json!({"any": "thing"})), true),
        (with("context", json!([])), true),
        (
            with("context", json!(["user", "user", "channel", "guild"])),
            true,
        ),
        (with("name", json!("ä".repeat(200))), true),
        (with("source", json!("x".repeat(2048))), true),
        (with("source", Value::Null), false),
        (with("name", Value::Null), false),
        (with("context", Value::Null), false),
        (with("source", json!("")), false),
        (with("name", json!("")), false),
        (with("name", json!("x".repeat(201))), false),
        (with("source", json!("x".repeat(2049))), false),
        (with("source", json!(5)), false),
        (with("name", json!(["x"])), false),
        (with("context", json!("user")), false),
        (with("context", json!({"user": true})), false),
        (with("context", json!(["password"])), false),
        (with("context", json!(["User"])), false),
        (with("context", json!(["user", 1])), false),
        (with("context", json!([null])), false),
        (json!([]), false),
        (json!("manifest"), false),
        (json!(null), false),
        (json!({}), false),
    ]
}

#[test]
fn s_05_s_06_the_schema_and_the_code_accept_the_same_manifests() {
    let schema: Value = serde_json::from_str(MANIFEST_SCHEMA).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    for (manifest, valid) in cases() {
        assert_eq!(validator.is_valid(&manifest), valid, "schema: {manifest}");
        assert_eq!(
            Manifest::from_value(&manifest).is_ok(),
            valid,
            "code: {manifest}"
        );
    }
}

#[test]
fn s_06_duplicate_context_keys_are_merged() {
    let text = r#"{"source": "s", "name": "n", "context": ["guild", "user", "guild"]}"#;
    let manifest = Manifest::parse(text).unwrap();
    assert_eq!(
        manifest.context().collect::<Vec<_>>(),
        [ContextKey::User, ContextKey::Guild]
    );
    assert_eq!(
        serde_json::to_value(&manifest).unwrap()["context"],
        json!(["user", "guild"])
    );
}

#[test]
fn s_05_errors_name_the_field() {
    let error = |text: &str| Manifest::parse(text).unwrap_err();
    assert_eq!(
        error(r#"{"source": "s", "context": []}"#),
        ManifestError::Missing("name")
    );
    assert_eq!(
        error(r#"{"source": 1, "name": "n", "context": []}"#).to_string(),
        "`source` is not a string"
    );
    assert!(matches!(error("{"), ManifestError::Json { .. }));
}
