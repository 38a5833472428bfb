//! Tests `check --semantic-url`: classification by a language model after the tables (P-07).

use std::net::TcpListener;
use std::process::{Command, Output};

use serde_json::Value;

use crate::check::endpoint::{Behavior, Endpoint};
use crate::check::{err, out, program};

const NO_HELP: &str = "the second stage failed";

const LATE: &str = "no answer within the timeout";

/// Runs a command whose endpoint responds immediately, and runs it again if the classification
/// exceeds its two seconds on a busy machine.
fn in_time(command: &mut Command) -> Output {
    for _ in 0..30 {
        let output = command.output().unwrap();
        if !err(&output).contains(LATE) {
            return output;
        }
    }
    panic!("thirty classifications timed out");
}

fn row(output: &Output) -> Value {
    serde_json::from_str(out(output)).unwrap()
}

#[test]
fn p_07_an_unknown_command_is_sent_to_the_endpoint() {
    let endpoint = Endpoint::start(Behavior::Responds);
    let output = in_time(
        program()
            .args(["check", "--json", "--context", "housekeeping"])
            .args(["--semantic-url", &endpoint.url])
            .args(["--semantic-model", "small", "frobnicate x"]),
    );

    assert_eq!(err(&output), "");
    assert_eq!(output.status.code(), Some(1));
    let row = row(&output);
    assert_eq!(row["classification"], "DELETE");
    assert_eq!(row["decision"], "REQUIRES_CONFIRMATION");
    assert_eq!(row["method"], "semantic");
    assert_eq!(row["confidence"], 0.75);
    let requests = endpoint.requests();
    assert!(!requests.is_empty());
    assert!(
        requests[0].starts_with("POST /v1/chat/completions "),
        "{requests:?}"
    );
    assert!(requests[0].contains("frobnicate x"), "{requests:?}");
    assert!(requests[0].contains("housekeeping"), "{requests:?}");
    assert!(requests[0].contains(r#""model":"small""#), "{requests:?}");
    assert!(
        !requests[0].to_lowercase().contains("authorization"),
        "{requests:?}"
    );
}

#[test]
fn p_07_endpoint_model_and_key_are_read_from_the_environment() {
    let endpoint = Endpoint::start(Behavior::Responds);
    let output = in_time(
        program()
            .args(["check", "--json", "frobnicate x"])
            .env("HOOKS_GUARD_SEMANTIC_URL", &endpoint.url)
            .env("HOOKS_GUARD_SEMANTIC_MODEL", "of-the-environment")
            .env("HOOKS_GUARD_SEMANTIC_KEY", "open-sesame"),
    );

    assert_eq!(row(&output)["method"], "semantic");
    let requests = endpoint.requests();
    assert!(requests[0].contains("of-the-environment"), "{requests:?}");
    assert!(requests[0].contains("Bearer open-sesame"), "{requests:?}");
}

#[test]
fn a_model_variable_without_an_endpoint_is_ignored() {
    let output = program()
        .args(["check", "--json", "frobnicate x"])
        .env("HOOKS_GUARD_SEMANTIC_MODEL", "of-the-environment")
        .output()
        .unwrap();
    assert_eq!(err(&output), "");
    assert_eq!(row(&output)["method"], "fallback");
}

#[test]
fn p_07_a_known_command_is_not_sent_to_the_endpoint() {
    let endpoint = Endpoint::start(Behavior::Responds);
    let output = program()
        .args(["check", "--json", "ls -la"])
        .args(["--semantic-url", &endpoint.url, "--semantic-model", "small"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(row(&output)["classification"], "READ");
    assert!(endpoint.requests().is_empty());
}

/// Asserts that two commands keep the class of the tables if the endpoint fails, and that the
/// failure is reported once. Returns stderr.
fn assert_class_of_the_tables(url: &str, more: &[&str]) -> String {
    let commands = ["frobnicate x", "frobnicate y"];
    let tables_only = program()
        .args(["check", "--json"])
        .args(commands)
        .output()
        .unwrap();
    let output = program()
        .args([
            "check",
            "--json",
            "--semantic-url",
            url,
            "--semantic-model",
            "small",
        ])
        .args(more)
        .args(commands)
        .output()
        .unwrap();
    let late = err(&output).contains(LATE);
    let expected = match late {
        // P-08.
        true => r#""confidence":0.0,"method":"fallback","reasoning":"Classification timed out;"#,
        false => r#""confidence":0.5,"method":"fallback""#,
    };
    assert_eq!(
        out(&output).matches(expected).count(),
        2,
        "{}",
        out(&output)
    );
    if !late {
        assert_eq!(out(&output), out(&tables_only));
    }
    assert_eq!(out(&output).lines().count(), 2);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(err(&output).matches(NO_HELP).count(), 1, "{}", err(&output));
    err(&output).to_owned()
}

#[test]
fn p_07_an_unreachable_endpoint_keeps_the_class_of_the_tables() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let stderr = assert_class_of_the_tables(&url, &[]);
    assert!(stderr.contains("no answer: "), "{stderr}");
}

#[test]
fn p_07_a_failing_endpoint_keeps_the_class_of_the_tables() {
    let endpoint = Endpoint::start(Behavior::Fails(503));
    let mut stderr = assert_class_of_the_tables(&endpoint.url, &[]);
    // On a busy machine the response may arrive after the timeout.
    for _ in 0..30 {
        if stderr.contains(LATE) {
            stderr = assert_class_of_the_tables(&endpoint.url, &[]);
        }
    }
    assert!(stderr.contains("status 503"), "{stderr}");
    assert!(endpoint.requests().len() >= 2);
}

#[test]
fn p_08_an_endpoint_that_never_responds_times_out() {
    let endpoint = Endpoint::start(Behavior::Hangs);
    for timeout in ["1", "2000"] {
        let stderr = assert_class_of_the_tables(&endpoint.url, &["--timeout", timeout]);
        assert!(stderr.contains("no answer within the timeout"), "{stderr}");
    }
}

#[test]
fn invalid_endpoint_options_are_usage_errors() {
    let url = |url: &'static str| vec!["--semantic-url", url, "--semantic-model", "small"];
    let mistakes = [
        (url("llm"), "not a URL"),
        (url("http://llm.example/v1"), "only for this machine"),
        (
            vec!["--semantic-url", "http://localhost/v1"],
            "--semantic-model",
        ),
        (vec!["--semantic-model", "small"], "--semantic-url"),
        (vec!["--timeout", "5"], "--semantic-url"),
        (vec!["--timeout", "2001"], "2001"),
        (vec!["--timeout", "0"], "0"),
    ];
    for (options, expected) in mistakes {
        let output = program()
            .args(["check", "ls"])
            .args(&options)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(
            err(&output).contains(expected),
            "{options:?}: {}",
            err(&output)
        );
        assert_eq!(out(&output), "");
    }
}
