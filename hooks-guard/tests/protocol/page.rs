//! Tests the page about agents: its tables say what the descriptions of the agents and the results
//! of the agents' lab say.

use std::collections::BTreeMap;

use hooks_guard::protocol::{Agent, FailureReaction};
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/agents.md");
const RESULTS: &str = include_str!("../../../contrib/agents-lab/results.json");

/// Returns the cells of each row of the table that has this text in its header.
fn rows(header: &str) -> Vec<Vec<String>> {
    let mut lines = PAGE.lines().skip_while(|line| !line.contains(header));
    assert!(lines.next().is_some(), "no table has {header}");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let row = row.trim_matches('|').replace("\\|", "¦");
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells).collect()
}

/// A result of the lab.
struct LabResult {
    agent: Agent,
    client: String,
    version: String,
    check: String,
    says: String,
    result: String,
}

fn results() -> Vec<LabResult> {
    let results: Vec<Value> = serde_json::from_str(RESULTS).unwrap();
    let text = |one: &Value, field: &str| one[field].as_str().unwrap().to_owned();
    let read = |one: &Value| LabResult {
        agent: text(one, "agent").parse().unwrap(),
        client: text(one, "client"),
        version: text(one, "version"),
        check: text(one, "check"),
        says: text(one, "says"),
        result: text(one, "result"),
    };
    results.iter().map(read).collect()
}

/// The failures of a hook that the installed command sees.
const FAILURES: [&str; 6] = [
    "exit-1",
    "exit-101",
    "killed",
    "missing",
    "cut-short",
    "output-full",
];

/// Returns the weakest result of these checks of a client, as the page shows it.
fn cell(results: &[LabResult], client: &str, checks: &[&str], says: &str) -> &'static str {
    let is_one = |one: &&LabResult| {
        one.client == client && checks.contains(&one.check.as_str()) && one.says.contains(says)
    };
    let found: Vec<_> = results.iter().filter(is_one).collect();
    if found.is_empty() {
        "not tested"
    } else if found.iter().any(|one| one.result == "BAD") {
        "**wrong**"
    } else if found.iter().any(|one| one.result == "open") {
        "**runs**"
    } else if checks.contains(&"approved") {
        "runs"
    } else {
        "denied"
    }
}

#[test]
fn the_page_lists_every_agent_with_its_tested_versions() {
    let rows = rows("| Tested client version |");
    for agent in Agent::ALL {
        let name = format!("`{agent}`");
        let is_of_agent = |row: &&Vec<String>| row[1].split(", ").any(|part| part == name);
        let row = rows.iter().find(is_of_agent);
        let row = row.unwrap_or_else(|| panic!("{agent} is missing on the page"));
        assert!(row[0].starts_with(agent.title()), "{agent}: {row:?}");
        for alias in agent.aliases() {
            assert!(row[1].contains(&format!("`{alias}`")), "{agent}: {row:?}");
        }
        let versions = match agent.tested_versions() {
            [] => "none".to_owned(),
            versions => versions.join(", "),
        };
        assert_eq!(row[3], versions, "{agent}");
    }
}

#[test]
fn the_table_of_the_page_is_that_of_the_lab() {
    let results = results();
    let rows = rows("| Deletion, not approved |");
    let mut clients: Vec<_> = results
        .iter()
        .map(|one| (&one.client, &one.version))
        .collect();
    clients.dedup();
    assert_eq!(rows.len(), clients.len(), "{rows:?}");
    for (row, (client, version)) in rows.iter().zip(clients) {
        let of = |checks: &[&str], says: &str| cell(&results, client, checks, says);
        let wanted = [
            version.as_str(),
            of(&["commands"], "a delete does not run"),
            of(&["approved"], ""),
            of(&["denied"], "it does not run"),
            of(&["no-answer"], ""),
            of(&FAILURES, ""),
            of(&["late"], ""),
            of(&["garbage"], ""),
        ];
        assert_eq!(row[1..], wanted, "{client}: run `lab.mjs --table`");
    }
}

/// The lab stops each client at a deletion, and its results are those that the guard expects.
#[test]
fn the_descriptions_agree_with_the_lab() {
    let results = results();
    for one in &results {
        let LabResult { client, says, .. } = one;
        assert_ne!(one.result, "BAD", "{client}: {says}");
        let tested = one.agent.tested_versions();
        assert!(
            tested.contains(&one.version.as_str()),
            "{client} {}",
            one.version
        );
    }
    let newest: BTreeMap<_, _> = results
        .iter()
        .filter(|one| one.agent.tested_versions()[0] == one.version)
        .map(|one| (one.agent, one.client.as_str()))
        .collect();
    for agent in Agent::ALL {
        let rules = agent.failure_rules();
        let expected = [rules.failed, rules.late, rules.invalid_output];
        let Some(client) = newest.get(&agent) else {
            let is_tested = !agent.tested_versions().is_empty();
            assert!(!is_tested, "{agent} has no results of the lab");
            assert_eq!(expected, [FailureReaction::Unknown; 3], "{agent}");
            continue;
        };
        assert_eq!(cell(&results, client, &["commands"], "a delete"), "denied");
        assert_eq!(cell(&results, client, &["approved"], ""), "runs");
        let seen = [&FAILURES[..], &["late"], &["garbage"]];
        for (checks, expected) in seen.into_iter().zip(expected) {
            let wanted = match expected {
                FailureReaction::Denies => "denied",
                FailureReaction::Continues => "**runs**",
                FailureReaction::Unknown => "not tested",
            };
            assert_eq!(
                cell(&results, client, checks, ""),
                wanted,
                "{agent}: {checks:?}"
            );
        }
    }
}
