//! Tests that the document in the repository equals the served one.

use hooks_guard::http::document;

#[test]
fn the_committed_document_equals_the_served_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let served = serde_json::to_string_pretty(&document()).expect("a document") + "\n";
    if std::env::var_os("HOOKS_WRITE").is_some() {
        std::fs::write(path, &served).expect("the file is written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == served,
        "`hooks-guard/openapi.json` is out of date; update it with `HOOKS_WRITE=1 cargo test -p hooks-guard --test guard openapi`"
    );
}
