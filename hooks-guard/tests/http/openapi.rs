//! The OpenAPI document is served, committed, and consistent with the responses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::client::{Answer, Request};
use crate::support::daemon::{Daemon, TOKEN};

const ENDPOINTS: [(&str, &str); 17] = [
    ("post", "/api/hooks/permission-request"),
    ("get", "/api/hooks/decisions"),
    ("get", "/api/hooks/stats"),
    ("delete", "/api/hooks/cleanup"),
    ("post", "/api/hooks/permission-response"),
    ("get", "/api/hooks/pending"),
    ("get", "/api/hooks/decisions/{id}"),
    ("post", "/api/hooks/decisions/{id}/executed"),
    ("get", "/api/hooks/events"),
    ("get", "/api/hooks/remembered"),
    ("delete", "/api/hooks/remembered/{id}"),
    ("get", "/api/hooks/series"),
    ("get", "/api/hooks/export"),
    ("get", "/api/hooks/registered"),
    ("post", "/api/console/session"),
    ("get", "/health"),
    ("get", "/metrics"),
];

fn document(daemon: &Daemon) -> Value {
    daemon.get("/api/hooks/openapi.json").ok()
}

/// Resolves a reference within the document.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(path) => {
            let target = document.pointer(path.trim_start_matches('#'));
            resolve(document, target.unwrap_or_else(|| panic!("no {path}")))
        }
        None => value,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => panic!("a type {kind}"),
    }
}

/// Returns the deviations of a value from a schema.
fn faults(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let schema = resolve(document, schema);
    let mut found = Vec::new();
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(value, kind)) {
        return vec![format!("{at}: {value} is not {kinds:?}")];
    }
    if let Some(all) = schema["enum"].as_array()
        && !all.contains(value)
    {
        found.push(format!("{at}: {value} is none of {all:?}"));
    }
    for word in ["oneOf", "anyOf"] {
        if let Some(all) = schema[word].as_array() {
            let fits = |one: &&Value| faults(document, one, value, at).is_empty();
            if !all.iter().any(|one| fits(&one)) {
                found.push(format!("{at}: {value} fits none of {word}"));
            }
        }
    }
    for one in schema["allOf"].as_array().into_iter().flatten() {
        // Each schema describes only a part of the value.
        let of_the_part = faults(document, one, value, at).into_iter();
        found.extend(of_the_part.filter(|fault| !fault.ends_with("is not described")));
    }
    if let (Some(fields), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for required in schema["required"].as_array().into_iter().flatten() {
            let name = required.as_str().unwrap();
            if !fields.contains_key(name) {
                found.push(format!("{at}: no `{name}`"));
            }
        }
        for (name, field) in fields {
            match properties.get(name) {
                Some(schema) => {
                    found.extend(faults(document, schema, field, &format!("{at}.{name}")))
                }
                None => found.push(format!("{at}: `{name}` is not described")),
            }
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            found.extend(faults(
                document,
                &schema["items"],
                item,
                &format!("{at}[{number}]"),
            ));
        }
    }
    found
}

/// Checks that the document describes a response of this operation.
#[track_caller]
fn assert_described(document: &Value, method: &str, path: &str, answer: &Answer) {
    let status = answer.status.to_string();
    let responses = &document["paths"][path][method]["responses"];
    assert!(
        responses.get(&status).is_some(),
        "{method} {path} may not answer {status}: {}",
        answer.text()
    );
    let response = resolve(document, &responses[&status]);
    let schema = &response["content"]["application/json"]["schema"];
    assert!(
        !resolve(document, schema).is_null(),
        "{method} {path} {status}: no schema"
    );
    let found = faults(document, schema, &answer.json(), "$");
    assert!(found.is_empty(), "{method} {path} {status}: {found:#?}");
}

#[test]
fn p_46_the_document_has_a_version_and_every_endpoint() {
    let document = document(&Daemon::plain());
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    assert!(
        document["info"]["version"]
            .as_str()
            .unwrap()
            .starts_with("1.")
    );
    for (method, path) in ENDPOINTS {
        assert!(
            document["paths"][path][method]["responses"].is_object(),
            "no {method} {path}"
        );
    }
}

#[test]
fn openapi_describes_only_existing_operations() {
    let daemon = Daemon::plain();
    let document = document(&daemon);
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            if !["get", "post", "put", "delete", "patch"].contains(&method.as_str()) {
                continue;
            }
            let mut target = path.replace("{id}", "4711").replace("{agent}", "codex");
            if target.ends_with("/events") {
                // Endless, unless it is refused.
                target.push_str("?after=never");
            }
            let answer = daemon.send(&Request::new(&method.to_uppercase(), &target));
            assert_ne!(answer.status, 405, "{method} {path}");
            if answer.status == 404 {
                assert!(path.contains("{id}"), "{method} {path}");
            }
        }
    }
}

#[test]
fn openapi_describes_every_success_response() {
    let daemon = Daemon::plain();
    let document = document(&daemon);
    let request = "/api/hooks/permission-request";
    assert_described(
        &document,
        "post",
        request,
        &daemon.post(&json!({ "command": "ls" })),
    );
    let body = json!({
        "command": "mkdir out", "context": "shell", "agent": "codex", "session_id": "s",
        "cwd": "/srv/a", "call_id": "c",
    });
    let answer = daemon.post(&body);
    assert_described(&document, "post", request, &answer);
    let permission = answer.ok();
    assert_described(
        &document,
        "get",
        "/api/hooks/pending",
        &daemon.get("/api/hooks/pending"),
    );
    let response = json!({ "id": permission["id"], "response": "APPROVED", "remember": "always" });
    assert_described(
        &document,
        "post",
        "/api/hooks/permission-response",
        &daemon.respond_with(&response),
    );
    assert_described(
        &document,
        "post",
        "/api/hooks/decisions/{id}/executed",
        &daemon.executed(&permission["id"], &permission["secret"]),
    );
    let one = format!("/api/hooks/decisions/{}", permission["id"]);
    assert_described(
        &document,
        "get",
        "/api/hooks/decisions/{id}",
        &daemon.get(&one),
    );
    assert_described(
        &document,
        "delete",
        "/api/hooks/cleanup",
        &daemon.delete("/api/hooks/cleanup?force=true"),
    );
    for path in [
        "/api/hooks/decisions",
        "/api/hooks/stats",
        "/api/hooks/remembered",
        "/api/hooks/series",
        "/api/hooks/registered",
        "/api/console/session",
        "/health",
    ] {
        assert_described(&document, "get", path, &daemon.get(path));
    }
}

#[test]
fn openapi_describes_every_error_response() {
    let daemon = crate::support::daemon::Setup::new()
        .rate_limit(Some(4))
        .start();
    let document = document(&daemon);
    let request = "/api/hooks/permission-request";
    for body in [
        json!([]),
        json!({}),
        json!({ "command": "a".repeat(10_001) }),
    ] {
        assert_described(&document, "post", request, &daemon.post(&body));
    }
    let permission = daemon.ask("mkdir out");
    let limited = daemon.post(&json!({ "command": "ls" }));
    assert_eq!(limited.status, 429);
    assert_described(&document, "post", request, &limited);
    for query in ["classification=X", "response=X", "since=x", "limit=x"] {
        let answer = daemon.get(&format!("/api/hooks/decisions?{query}"));
        assert_eq!(answer.status, 400);
        assert_described(&document, "get", "/api/hooks/decisions", &answer);
    }
    let answer = daemon.get("/api/hooks/stats?until=x");
    assert_described(&document, "get", "/api/hooks/stats", &answer);
    for query in ["days=0", "days=1"] {
        let answer = daemon.delete(&format!("/api/hooks/cleanup?{query}"));
        assert_described(&document, "delete", "/api/hooks/cleanup", &answer);
    }
    let path = "/api/hooks/decisions/{id}";
    assert_described(
        &document,
        "get",
        path,
        &daemon.get("/api/hooks/decisions/4711"),
    );
    let path = "/api/hooks/decisions/{id}/executed";
    let wrong = daemon.executed(&permission["id"], &json!("wrong-wrong-wrong"));
    assert_eq!(wrong.status, 403);
    assert_described(&document, "post", path, &wrong);
    let path = "/api/hooks/permission-response";
    let body = json!({ "id": permission["id"], "response": "DENIED" });
    let unauthorized = daemon.send(&Request::new("POST", path).json(&body));
    assert_eq!(unauthorized.status, 401);
    assert_described(&document, "post", path, &unauthorized);
    daemon.respond(&permission["id"], "DENIED").ok();
    let twice = daemon.respond(&permission["id"], "DENIED");
    assert_eq!(twice.status, 409);
    assert_described(&document, "post", path, &twice);
    let missing = daemon.respond(&json!(4711), "DENIED");
    assert_described(&document, "post", path, &missing);
    let missing = Request::new("DELETE", "/api/hooks/remembered/4711").bearer(TOKEN);
    assert_described(
        &document,
        "delete",
        "/api/hooks/remembered/{id}",
        &daemon.send(&missing),
    );
}

/// Errors that precede routing are documented for every operation.
#[test]
fn openapi_lists_the_common_errors_of_every_operation() {
    let daemon = Daemon::plain();
    let document = document(&daemon);
    for (method, path) in ENDPOINTS {
        let answer = Request::new(&method.to_uppercase(), &path.replace("{id}", "1"));
        let answer = daemon.send(&answer.header("Origin", "http://elsewhere.test"));
        assert_eq!(answer.status, 403, "{method} {path}");
        assert_described(&document, method, path, &answer);
        let operation = &document["paths"][path][method];
        let mut refusals = vec![("403", "FORBIDDEN_ORIGIN"), ("500", "INTERNAL_ERROR")];
        if operation["requestBody"].is_object() {
            refusals.extend([("408", "BODY_TOO_SLOW"), ("413", "BODY_TOO_LARGE")]);
        }
        for (status, code) in refusals {
            let description = operation["responses"][status]["description"].as_str();
            assert!(
                description.is_some_and(|description| description.contains(code)),
                "{method} {path} {status}: {description:?}"
            );
        }
    }
}

/// Finds the documents named `openapi…json` in the repository.
fn committed(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            if name != "target" && !name.starts_with('.') {
                committed(&entry.path(), found);
            }
        } else if name.contains("openapi") && name.ends_with(".json") {
            found.push(entry.path());
        }
    }
}

#[test]
fn openapi_document_served_equals_the_committed_one() {
    let served = document(&Daemon::plain());
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    committed(root, &mut found);
    assert!(!found.is_empty(), "no document is committed");
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document, served, "{}", path.display());
    }
}
