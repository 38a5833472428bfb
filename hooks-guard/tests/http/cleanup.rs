//! `DELETE /api/hooks/cleanup` (P-40 … P-42).

use serde_json::Value;

use crate::support::client::Request;
use crate::support::daemon::{Daemon, Setup};
use crate::support::{ShiftedClock, instant};

const DAY: i64 = 24 * 3_600;

fn total(daemon: &Daemon) -> Value {
    daemon.get("/api/hooks/decisions").ok()["pagination"]["total"].clone()
}

fn listed(daemon: &Daemon) -> Vec<String> {
    let body = daemon.get("/api/hooks/decisions?limit=1000").ok();
    let records = body["decisions"].as_array().unwrap().iter();
    records
        .map(|it| it["command"].as_str().unwrap().to_owned())
        .collect()
}

/// Starts a daemon with records that are 400, 31, 29, 2 and 0 days old.
fn with_old_records(config: &str) -> Option<Daemon> {
    let clock = ShiftedClock::new()?;
    let mut daemon = clock.on(Setup::new().config(config)).start();
    for days in [400, 31, 29, 2] {
        clock.shift(-days * DAY);
        let permission = daemon.ask(&format!("mkdir {days}-days"));
        daemon.respond(&permission["id"], "DENIED").ok();
    }
    clock.shift(0);
    daemon.ask("mkdir new");
    // Restart without the shifted clock, which is dropped with this function.
    daemon = daemon.restart(|mut setup| {
        for (name, _) in clock.environment() {
            setup.forget_environment(name);
        }
        setup
    });
    Some(daemon)
}

#[test]
fn p_40_invalid_days_are_an_error_before_any_deletion() {
    let daemon = Daemon::plain();
    daemon.ask("ls");
    for days in [
        "0",
        "366",
        "-1",
        "1.5",
        "many",
        "",
        "99999999999999999999",
        "0x10",
    ] {
        for force in ["", "&force=true"] {
            let body = daemon
                .delete(&format!("/api/hooks/cleanup?days={days}{force}"))
                .error(400, "INVALID_DAYS");
            assert_eq!(
                body["error"],
                "Invalid days parameter: must be between 1 and 365"
            );
        }
    }
    for days in [1, 365] {
        daemon
            .delete(&format!("/api/hooks/cleanup?days={days}&force=true"))
            .ok();
    }
    assert_eq!(total(&daemon), 1);
}

#[test]
fn p_41_without_force_nothing_is_deleted() {
    let Some(daemon) = with_old_records("") else {
        return;
    };
    for query in ["", "?days=1", "?force=false", "?days=1&force=false"] {
        let body = daemon
            .delete(&format!("/api/hooks/cleanup{query}"))
            .error(403, "REQUIRES_CONFIRMATION");
        assert_eq!(
            body["error"],
            "Cleanup requires confirmation. Add ?force=true to proceed."
        );
    }
    assert_eq!(total(&daemon), 5);
}

#[test]
fn p_41_only_the_delete_method_deletes() {
    let Some(daemon) = with_old_records("") else {
        return;
    };
    for method in ["GET", "POST", "PUT"] {
        daemon
            .send(&Request::new(
                method,
                "/api/hooks/cleanup?days=1&force=true",
            ))
            .error(405, "METHOD_NOT_ALLOWED");
    }
    assert_eq!(total(&daemon), 5);
}

#[test]
fn p_42_older_records_are_deleted() {
    let Some(daemon) = with_old_records("") else {
        return;
    };
    let body = daemon.delete("/api/hooks/cleanup?force=true").ok();
    assert_eq!(body["deleted"], 2, "{body}");
    assert_eq!(body["remaining"], 3, "{body}");
    assert!(body["freed_bytes"].as_u64().unwrap() > 0, "{body}");
    assert!(body["duration_ms"].is_u64(), "{body}");
    instant(&body["timestamp"]);
    assert_eq!(
        listed(&daemon),
        ["mkdir new", "mkdir 2-days", "mkdir 29-days"]
    );

    let body = daemon.delete("/api/hooks/cleanup?days=7&force=true").ok();
    assert_eq!(body["deleted"], 1, "{body}");
    assert_eq!(body["remaining"], 2, "{body}");
    assert_eq!(listed(&daemon), ["mkdir new", "mkdir 2-days"]);

    let body = daemon.delete("/api/hooks/cleanup?days=7&force=true").ok();
    assert_eq!(body["deleted"], 0, "{body}");
    assert_eq!(body["remaining"], 2, "{body}");
    assert_eq!(total(&daemon), 2);
}

#[test]
fn p_42_statistics_exclude_deleted_records() {
    let Some(daemon) = with_old_records("") else {
        return;
    };
    daemon.delete("/api/hooks/cleanup?force=true").ok();
    let stats = daemon.get("/api/hooks/stats").ok();
    assert_eq!(stats["total_decisions"], 3, "{stats}");
    assert_eq!(stats["classifications"]["create"], 3, "{stats}");
    assert_eq!(stats["user_responses"]["denied"], 2, "{stats}");
    let hours = stats["period"]["duration_hours"].as_f64().unwrap();
    assert!((hours - 29.0 * 24.0).abs() <= 1.0, "{stats}");
}

#[test]
fn p_42_ids_are_not_reused() {
    let Some(daemon) = with_old_records("") else {
        return;
    };
    let newest = daemon.get("/api/hooks/decisions?limit=1").ok()["decisions"][0]["id"].as_i64();
    daemon.delete("/api/hooks/cleanup?days=1&force=true").ok();
    assert!(daemon.ask("ls")["id"].as_i64() > newest);
    let daemon = daemon.restart(|setup| setup);
    assert!(daemon.ask("ls")["id"].as_i64() > newest);
}

#[test]
fn p_45_cleanup_may_be_restricted_to_the_operator() {
    let Some(daemon) = with_old_records("cleanup = \"operator\"") else {
        return;
    };
    let target = "/api/hooks/cleanup?days=1&force=true";
    daemon.delete(target).error(401, "OPERATOR_TOKEN_REQUIRED");
    let wrong = Request::new("DELETE", target).bearer("not-the-operators-token");
    daemon.send(&wrong).error(401, "OPERATOR_TOKEN_REQUIRED");
    assert_eq!(total(&daemon), 5);
    let body = daemon.as_operator("DELETE", target).ok();
    assert_eq!(body["deleted"], 4);
}

#[test]
fn p_45_cleanup_may_be_disabled() {
    let Some(daemon) = with_old_records("cleanup = \"off\"") else {
        return;
    };
    let target = "/api/hooks/cleanup?days=1&force=true";
    daemon.delete(target).error(403, "CLEANUP_IS_OFF");
    daemon
        .as_operator("DELETE", target)
        .error(403, "CLEANUP_IS_OFF");
    assert_eq!(total(&daemon), 5);
}
