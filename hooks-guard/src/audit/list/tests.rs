//! Tests of text searches: the records do not depend on how the search is cut into pieces.

use jiff::{SignedDuration, Timestamp};

use super::filter::{Filter, FilterArgs, Page};
use super::search::{Partition, list};
use crate::audit::record::{AuditRecord, NewDecision};
use crate::audit::store::AuditStore;
use crate::classify::Crud;
use crate::request::PermissionRequest;

const DECISIONS: i64 = 300;

/// Returns a decision. Times do not follow the ids, and some times are equal.
fn decision(n: i64) -> NewDecision {
    let command = match n % 7 {
        0 => format!("git Status {n}"),
        1 => format!("echo 100%_{n} {}", "long ".repeat(300)),
        _ => format!("ls {n}"),
    };
    let mut request = PermissionRequest::new(command);
    request.agent = Some(["codex", "gemini"][usize::from(n % 3 == 0)].to_owned());
    let mut decision = NewDecision::sample(request);
    let permission = &mut decision.permission;
    permission.classification = [Crud::Read, Crud::Update][usize::from(n % 5 == 0)];
    permission.timestamp += SignedDuration::from_secs(n * 37 % 101 + n / 3);
    decision
}

fn found(filter: &Filter, record: &AuditRecord) -> bool {
    let text = filter.command.as_deref().unwrap_or("").to_lowercase();
    record.command.to_lowercase().contains(&text)
        && filter
            .classification
            .is_none_or(|class| class == record.classification)
        && (filter.agent.is_none() || filter.agent == record.agent)
        && filter.since.is_none_or(|since| record.timestamp > since)
        && filter.until.is_none_or(|until| record.timestamp < until)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p_24_a_partitioned_search_finds_the_same_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trail.db").display().to_string();
    let trail = AuditStore::open(&path).await.expect("a trail");
    for n in 0..DECISIONS {
        trail.record(decision(n)).await.expect("recorded");
    }
    let backend = &trail.inner.backend;
    let everything = Page {
        limit: 10_000,
        offset: 0,
    };
    let all = trail.decisions(&Filter::default(), everything).await;
    let all = all.expect("found").records;
    assert_eq!(all.len() as i64, DECISIONS);
    let second = |seconds| Some(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds));
    let long = format!("{}long", "long ".repeat(250));
    let filters = [
        "s",
        "GIT st",
        "%_",
        "100%_1",
        "nowhere",
        "_",
        &long,
        "long  long",
    ]
    .into_iter()
    .flat_map(|text| {
        let plain = Filter {
            command: Some(text.to_owned()),
            ..Filter::default()
        };
        let class = Filter {
            classification: Some(Crud::Update),
            ..plain.clone()
        };
        let agent = Filter {
            agent: Some("gemini".to_owned()),
            ..plain.clone()
        };
        let period = Filter {
            since: second(40),
            until: second(90),
            ..plain.clone()
        };
        [plain, class, agent, period]
    });
    for filter in filters {
        let expected: Vec<_> = all.iter().filter(|record| found(&filter, record)).collect();
        let bound = FilterArgs::from(&filter);
        for (pieces, few) in [(1, 0), (2, 0), (7, 0), (64, 0), (7, 10_000)] {
            for (limit, offset) in [(50, 0), (3, 5), (1, 43), (7, 290), (0, 0), (1000, 0)] {
                let page = Page { limit, offset };
                let cut = Partition { pieces, few };
                let text = bound.text.as_deref().expect("a text");
                let listing = list(backend, &bound, text, page, cut).await.expect("found");
                assert_eq!(listing.total, expected.len() as u64, "{filter:?}");
                let wanted = expected.iter().skip(offset as usize).take(limit as usize);
                let wanted: Vec<_> = wanted.map(|record| record.id).collect();
                let given: Vec<_> = listing.records.iter().map(|record| record.id).collect();
                assert_eq!(given, wanted, "{filter:?}, {pieces} pieces, {page:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partitioned_search_is_consistent_during_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trail.db").display().to_string();
    let trail = AuditStore::open(&path).await.expect("a trail");
    let writing = tokio::spawn({
        let trail = trail.clone();
        async move {
            for n in 0..DECISIONS {
                trail.record(decision(n)).await.expect("recorded");
            }
        }
    });
    let backend = &trail.inner.backend;
    let filter = Filter {
        command: Some("s".to_owned()),
        ..Filter::default()
    };
    let bound = FilterArgs::from(&filter);
    let (cut, page) = (
        Partition { pieces: 9, few: 0 },
        Page {
            limit: 1000,
            offset: 0,
        },
    );
    while !writing.is_finished() {
        let listing = list(backend, &bound, "s", page, cut).await.expect("found");
        let mut ids: Vec<_> = listing.records.iter().map(|record| record.id).collect();
        ids.sort_unstable();
        let last = ids.last().copied().unwrap_or(0);
        let there = (0..last).filter(|n| decision(*n).request.command.contains('s'));
        assert_eq!(ids.len(), there.count(), "none before the last is missing");
        assert_eq!(listing.total, ids.len() as u64);
    }
    writing.await.expect("written");
}
