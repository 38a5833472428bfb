//! The clients in the API's specification, unchanged except for the port, with `curl`, `jq` and
//! `node`.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::semantic::with_model;
use crate::support::daemon::{Daemon, Setup};
use crate::support::has;

/// Starts a daemon with a trail in which each client finds something.
fn trail() -> Daemon {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    let permission = daemon.ask("git commit -m 'Fix'");
    daemon.respond(&permission["id"], "APPROVED").ok();
    daemon
        .executed(&permission["id"], &permission["secret"])
        .ok();
    let permission = daemon.ask("rm old.txt");
    daemon.respond(&permission["id"], "DENIED").ok();
    daemon
}

/// Runs a script of the specification and returns the JSON values that it prints.
#[track_caller]
fn bash(daemon: &Daemon, script: &str) -> Option<Vec<Value>> {
    if !(has("bash") && has("curl") && has("jq")) {
        return None;
    }
    let script = script.replace("localhost:3000", &format!("localhost:{}", daemon.port));
    let path = daemon.setup().folder().join("operator/client.sh");
    fs::write(&path, format!("set -euo pipefail\n{script}\n")).unwrap();
    let output = Command::new("bash").arg(&path).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    Some(values.map(Result::unwrap).collect())
}

#[test]
fn seed_bash_all_decisions_since_the_last_hour() {
    let script = r#"
# Get last hour in ISO8601 format
SINCE=$(date -u -d "1 hour ago" +%Y-%m-%dT%H:%M:%SZ)

# Query decisions
curl -s "http://localhost:3000/api/hooks/decisions?since=$SINCE" | jq '.decisions[] | {command, classification, user_response}'
"#;
    let daemon = trail();
    let Some(found) = bash(&daemon, script) else {
        return;
    };
    assert_eq!(
        found,
        [
            serde_json::json!({ "command": "rm old.txt", "classification": "DELETE", "user_response": "DENIED" }),
            serde_json::json!({ "command": "git commit -m 'Fix'", "classification": "UPDATE", "user_response": "APPROVED" }),
            serde_json::json!({ "command": "ls", "classification": "READ", "user_response": null }),
        ]
    );
}

#[test]
fn seed_bash_all_denied_delete_operations() {
    let script = r#"curl -s "http://localhost:3000/api/hooks/decisions?classification=DELETE&response=DENIED" | jq '.decisions[] | {timestamp, command}'"#;
    let daemon = trail();
    let Some(found) = bash(&daemon, script) else {
        return;
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["command"], "rm old.txt");
    crate::support::instant(&found[0]["timestamp"]);
}

#[test]
fn seed_bash_classification_performance() {
    let script = r#"curl -s "http://localhost:3000/api/hooks/stats" | jq '.performance | {avg: .avg_response_time_ms, p95: .p95_response_time_ms, p99: .p99_response_time_ms}'"#;
    let daemon = trail();
    let Some(found) = bash(&daemon, script) else {
        return;
    };
    for field in ["avg", "p95", "p99"] {
        assert!(found[0][field].is_number(), "{found:?}");
    }
}

#[test]
fn seed_bash_all_executions_of_today() {
    // The first day of the specification instead of today.
    let script = r#"curl -s "http://localhost:3000/api/hooks/decisions?since=2025-11-17T00:00:00Z" | \
  jq '.decisions[] | select(.execution_happened == true) | {command, timestamp, classification}'"#;
    let daemon = trail();
    let Some(found) = bash(&daemon, script) else {
        return;
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["command"], "git commit -m 'Fix'");
    assert_eq!(found[0]["classification"], "UPDATE");
}

#[test]
fn seed_bash_health_of_the_hooks() {
    let script = "curl http://localhost:3000/health | jq '.hooks'";
    let daemon = trail();
    let Some(found) = bash(&daemon, script) else {
        return;
    };
    assert_eq!(found[0]["enabled"], true);
    assert_eq!(found[0]["classifier_available"], true);
}

#[test]
fn seed_bash_every_request_of_the_specification() {
    let daemon = trail();
    for (target, field) in [
        ("decisions", "pagination"),
        ("decisions?limit=20&offset=40", "pagination"),
        ("decisions?classification=CREATE", "decisions"),
        ("decisions?response=DENIED", "decisions"),
        ("decisions?since=2025-11-17T09:30:00Z", "decisions"),
        ("decisions?command_filter=git&limit=100", "decisions"),
        (
            "decisions?classification=DELETE&response=APPROVED&since=2025-11-17T00:00:00Z&limit=50",
            "decisions",
        ),
        ("stats", "performance"),
        ("stats?since=2025-11-17T00:00:00Z", "performance"),
        (
            "stats?since=2025-11-15T00:00:00Z&until=2025-11-17T23:59:59Z",
            "performance",
        ),
    ] {
        let script = format!("curl -sSf 'http://localhost:3000/api/hooks/{target}'");
        let Some(found) = bash(&daemon, &script) else {
            return;
        };
        assert!(
            found[0][field].is_object() || found[0][field].is_array(),
            "{target}"
        );
    }
    // `-d` does not send a JSON content type.
    let body = r#"{"command": "git commit -m '\''Fix bug in parser'\''"}"#;
    let script =
        format!("curl -sSf -d '{body}' http://localhost:3000/api/hooks/permission-request");
    let found = bash(&daemon, &script).unwrap();
    assert_eq!(found[0]["classification"], "UPDATE");
    let script = "curl -sSf -X DELETE 'http://localhost:3000/api/hooks/cleanup?days=7&force=true'";
    assert_eq!(bash(&daemon, script).unwrap()[0]["deleted"], 0);
    for target in ["cleanup", "cleanup?days=7"] {
        let script = format!("curl -s -X DELETE 'http://localhost:3000/api/hooks/{target}'");
        let found = bash(&daemon, &script).unwrap();
        assert_eq!(found[0]["code"], "REQUIRES_CONFIRMATION");
    }
}

const WITH_RETRY: &str = r#"
async function classifyWithRetry(command, maxRetries = 3) {
  for (let i = 0; i < maxRetries; i++) {
    try {
      const response = await fetch('http://localhost:3000/api/hooks/permission-request', {
        method: 'POST',
        body: JSON.stringify({ command })
      });

      if (response.status === 429) {
        const retryAfter = response.headers.get('retry-after');
        await sleep((parseInt(retryAfter) || 60) * 1000);
        continue;
      }

      return await response.json();
    } catch (error) {
      if (i === maxRetries - 1) throw error;
      await sleep(1000 * Math.pow(2, i));
    }
  }
}
"#;

const WITH_FALLBACK: &str = r#"
async function classifyWithFallback(command) {
  try {
    const response = await fetch('http://localhost:3000/api/hooks/permission-request', {
      method: 'POST',
      body: JSON.stringify({ command }),
      signal: AbortSignal.timeout(5000)
    });

    const data = await response.json();

    // Check if classifier itself timed out
    if (data.classification_method === 'fallback') {
      console.warn('Classifier timed out, using safe default');
    }

    return data;
  } catch (error) {
    if (error.name === 'AbortError') {
      console.error('Request timed out, daemon may not be responsive');
      // Fall back to manual confirmation
      return { decision: 'REQUIRES_CONFIRMATION', classification: 'UNKNOWN' };
    }
    throw error;
  }
}
"#;

/// Runs a function of the specification and its caller; returns the printed JSON, and the warnings.
#[track_caller]
fn node(daemon: &Daemon, function: &str, call: &str) -> Option<(Value, String)> {
    if !has("node") {
        return None;
    }
    let script = function.replace("localhost:3000", &format!("localhost:{}", daemon.port));
    // `sleep` is not in the specification. Here it records its argument and does not wait.
    let script = format!(
        "const slept = [];\nconst sleep = async (ms) => {{ slept.push(ms); }};\n{script}\n\
         (async () => {{ console.log(JSON.stringify({{ data: await ({call}), slept }})); }})();\n"
    );
    let path = daemon.setup().folder().join("operator/client.js");
    fs::write(&path, script).unwrap();
    let output = Command::new("node").arg(&path).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    Some((serde_json::from_slice(&output.stdout).unwrap(), stderr))
}

#[test]
fn seed_javascript_with_retry() {
    let daemon = Daemon::plain();
    for (command, decision) in [
        ("ls", "AUTO_ALLOWED"),
        ("mkdir out", "REQUIRES_CONFIRMATION"),
    ] {
        let call = format!("classifyWithRetry('{command}')");
        let Some((result, _)) = node(&daemon, WITH_RETRY, &call) else {
            return;
        };
        assert_eq!(result["data"]["decision"], decision, "{result}");
        assert_eq!(result["slept"], serde_json::json!([]));
    }
}

#[test]
fn seed_javascript_with_retry_uses_the_retry_after_header() {
    let daemon = Setup::new().rate_limit(Some(1)).start();
    daemon.ask("ls");
    // A second later, to distinguish it from the client's default of 60 seconds without a header.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let Some((result, _)) = node(&daemon, WITH_RETRY, "classifyWithRetry('ls')") else {
        return;
    };
    assert!(result.get("data").is_none(), "{result}");
    let slept = result["slept"].as_array().unwrap();
    assert_eq!(slept.len(), 3, "{result}");
    for time in slept {
        let time = time.as_u64().unwrap();
        assert!((1_000..60_000).contains(&time), "{result}");
    }
}

#[test]
fn seed_javascript_with_fallback() {
    let daemon = Daemon::plain();
    let Some((result, warned)) = node(&daemon, WITH_FALLBACK, "classifyWithFallback('mkdir out')")
    else {
        return;
    };
    assert_eq!(result["data"]["classification"], "CREATE");
    assert_eq!(warned, "");

    let daemon = with_model(None, 2_000).start();
    let call = "classifyWithFallback('frobnicate-zq --x')";
    let (result, warned) = node(&daemon, WITH_FALLBACK, call).unwrap();
    assert_eq!(
        result["data"]["classification_method"], "fallback",
        "{result}"
    );
    assert_eq!(result["data"]["decision"], "REQUIRES_CONFIRMATION");
    assert!(
        warned.contains("Classifier timed out, using safe default"),
        "{warned}"
    );
}
