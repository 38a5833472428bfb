//! Manifests pinned to one version of a hook.

use hooks_script::{MANIFEST_SCHEMA, Manifest, ManifestError, RegisterError, ScriptEngine};
use serde_json::{Value, json};

const CODE: &str = "export default () => ({ out: {} });\n";

fn manifest(hash: Value) -> Value {
    json!({"source": "s", "name": "n", "context": [], "hash": hash})
}

#[test]
fn s_05_a_pinned_manifest_refuses_other_code() {
    let engine = ScriptEngine::builder().build().unwrap();
    let hash = engine
        .register(Manifest::new("s", "n", []).unwrap(), CODE)
        .unwrap()
        .code_hash()
        .to_string();
    let pinned = Manifest::from_value(&manifest(format!("sha256-{hash}").into())).unwrap();
    assert_eq!(pinned.pinned_hash(), Some(&*hash));
    assert_eq!(
        serde_json::to_value(&pinned).unwrap(),
        manifest(format!("sha256-{hash}").into())
    );
    engine.register(pinned.clone(), CODE).unwrap();
    let error = engine
        .register(pinned, &CODE.replace('\n', " "))
        .unwrap_err();
    assert!(
        matches!(&error, RegisterError::Pinned { expected, found } if *expected == hash && *found != hash)
    );
    assert_eq!(error.kind(), "pinned");
}

#[test]
fn s_05_the_schema_and_the_parser_accept_the_same_hashes() {
    let schema: Value = serde_json::from_str(MANIFEST_SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let digits = "0123456789abcdef".repeat(4);
    for (hash, is_valid_hash) in [
        (json!(format!("sha256-{digits}")), true),
        (json!(format!("sha256-{}", digits.to_uppercase())), false),
        (json!(format!("sha256-{digits}0")), false),
        (json!(format!("sha256-{}", &digits[1..])), false),
        (json!(format!("sha512-{digits}")), false),
        (json!(digits), false),
        (json!(format!("sha256-{digits}\n")), false),
        (json!(""), false),
        (json!(null), false),
        (json!(1), false),
    ] {
        let manifest = manifest(hash);
        assert_eq!(schema.is_valid(&manifest), is_valid_hash, "{manifest}");
        assert_eq!(
            Manifest::from_value(&manifest).is_ok(),
            is_valid_hash,
            "{manifest}"
        );
    }
    let error = Manifest::new("s", "n", [])
        .unwrap()
        .pinned("abc")
        .unwrap_err();
    assert!(matches!(error, ManifestError::Hash(hash) if hash == "abc"));
}
