//! Property test: after any sequence of operations, the trail returns what a list in memory
//! returns.

use std::time::Duration;

use hooks_guard::audit::{AuditStore, Execution, Filter, Page, Period, UserResponse};
use hooks_guard::classify::Crud;
use jiff::Timestamp;
use proptest::prelude::*;

use crate::kit::{assert_intact, decision, minute, new_answer, run};

const CLASSES: [Crud; 4] = [Crud::Read, Crud::Create, Crud::Update, Crud::Delete];
const RESPONSES: [UserResponse; 3] = [
    UserResponse::Approved,
    UserResponse::Denied,
    UserResponse::Timeout,
];
const COMMANDS: [&str; 4] = ["git Commit", "rm 100%", "echo Ä_ä", "make"];

#[derive(Clone, Debug)]
enum Step {
    Record {
        class: usize,
        command: usize,
        minute: i64,
        ms: u64,
        confidence: f64,
        agent: Option<u8>,
        denied: bool,
        deadline: Option<i64>,
    },
    Answer {
        id: i64,
        response: usize,
        minute: i64,
    },
    Executed {
        id: i64,
    },
    Expire {
        minute: i64,
    },
    Cleanup {
        minute: i64,
    },
}

/// Expected state of a record.
#[derive(Clone, Debug)]
struct Known {
    id: i64,
    class: Crud,
    command: &'static str,
    at: Timestamp,
    ms: u64,
    confidence: f64,
    agent: Option<String>,
    response: Option<UserResponse>,
    deadline: Option<Timestamp>,
    executed: bool,
}

impl Known {
    /// Returns `true` if the deadline has passed, if the question is from the future by more than
    /// clocks may differ (the clock was set back), or if it never had a deadline.
    fn is_over(&self, now: Timestamp) -> bool {
        let minute = Duration::from_secs(60);
        self.deadline.is_some_and(|deadline| {
            deadline <= now || self.at > now + minute || deadline <= self.at
        })
    }

    fn matches(&self, filter: &Filter) -> bool {
        let text = |text: &str| text.to_uppercase().to_lowercase();
        filter
            .classification
            .is_none_or(|class| class == self.class)
            && filter
                .response
                .is_none_or(|response| Some(response) == self.response)
            && filter.since.is_none_or(|since| self.at > since)
            && filter.until.is_none_or(|until| self.at < until)
            && filter
                .agent
                .as_ref()
                .is_none_or(|agent| Some(agent) == self.agent.as_ref())
            && filter
                .command
                .as_ref()
                .is_none_or(|part| text(self.command).contains(&text(part)))
    }
}

/// Three days, so that a period contains whole hours and days.
fn minutes() -> impl Strategy<Value = i64> {
    prop_oneof![0..4320_i64, (0..72_i64).prop_map(|hour| hour * 60)]
}

fn steps() -> impl Strategy<Value = Step> {
    let record = (
        0..4_usize,
        0..4_usize,
        minutes(),
        prop_oneof![0..4_u64, 0..3000_u64],
        prop_oneof![Just(0.8), Just(0.9), 0.0..=1.0],
        prop::option::of(0..2_u8),
        prop::bool::weighted(0.1),
        prop::option::of(minutes()),
    )
        .prop_map(
            |(class, command, minute, ms, confidence, agent, denied, deadline)| Step::Record {
                class,
                command,
                minute,
                ms,
                confidence,
                agent,
                denied: denied && class > 0,
                deadline,
            },
        );
    prop_oneof![
        8 => record,
        4 => (1..30_i64, 0..3_usize, minutes())
            .prop_map(|(id, response, minute)| Step::Answer { id, response, minute }),
        1 => (1..30_i64).prop_map(|id| Step::Executed { id }),
        1 => minutes().prop_map(|minute| Step::Expire { minute }),
        1 => (0..2000_i64).prop_map(|minute| Step::Cleanup { minute }),
    ]
}

fn filters() -> impl Strategy<Value = Filter> {
    (
        prop::option::of(0..4_usize),
        prop::option::of(0..3_usize),
        prop::option::of(minutes()),
        prop::option::of(minutes()),
        prop::option::of(prop::sample::select(vec!["", "M", "00%", "_Ä", "zzz", "C"])),
        prop::option::weighted(0.3, 0..2_u8),
    )
        .prop_map(|(class, response, since, until, command, agent)| Filter {
            classification: class.map(|class| CLASSES[class]),
            response: response.map(|response| RESPONSES[response]),
            since: since.map(minute),
            until: until.map(minute),
            command: command.map(str::to_owned),
            agent: agent.map(|agent| format!("agent{agent}")),
            ..Filter::default()
        })
}

async fn apply(trail: &AuditStore, model: &mut Vec<Known>, given: &mut i64, step: Step) {
    match step {
        Step::Record {
            class,
            command,
            minute: at,
            ms,
            confidence,
            agent,
            denied,
            deadline,
        } => {
            let mut new = decision(COMMANDS[command], CLASSES[class], minute(at));
            new.response_time = Duration::from_micros(ms * 1000 + 999);
            new.permission.confidence = confidence;
            new.permission.denied = denied;
            new.request.agent = agent.map(|agent| format!("agent{agent}"));
            new.deadline = deadline.map(minute);
            let known = Known {
                id: *given + 1,
                class: CLASSES[class],
                command: COMMANDS[command],
                at: minute(at),
                ms,
                confidence,
                agent: new.request.agent.clone(),
                response: denied.then_some(UserResponse::Denied),
                deadline: new.deadline,
                executed: false,
            };
            assert_eq!(trail.record(new).await.expect("recorded"), known.id);
            *given += 1;
            model.push(known);
        }
        Step::Answer {
            id,
            response,
            minute: at,
        } => {
            let answer = new_answer(RESPONSES[response], minute(at));
            trail.answer(id, answer).await.expect("answered");
            if let Some(known) = model.iter_mut().find(|known| known.id == id)
                && known.class != Crud::Read
                && known.response.is_none()
            {
                let late = known.is_over(minute(at));
                known.response = Some(match late {
                    true => UserResponse::Timeout,
                    false => RESPONSES[response],
                });
            }
        }
        Step::Executed { id } => {
            let ran = Execution {
                exit_status: None,
                at: minute(0),
            };
            trail
                .record_execution(id, "secret", ran)
                .await
                .expect("reported");
            if let Some(known) = model.iter_mut().find(|known| known.id == id) {
                known.executed = true;
            }
        }
        Step::Expire { minute: now } => {
            let mut expired = Vec::new();
            for known in model.iter_mut() {
                if known.class != Crud::Read
                    && known.response.is_none()
                    && known.is_over(minute(now))
                {
                    known.response = Some(UserResponse::Timeout);
                    expired.push(known.id);
                }
            }
            assert_eq!(trail.expire(minute(now)).await.expect("expired"), expired);
        }
        Step::Cleanup { minute: old } => {
            let done = trail.cleanup(minute(old), "test").await.expect("cleaned");
            let before = model.len();
            model.retain(|known| known.at >= minute(old));
            assert_eq!(done.deleted, (before - model.len()) as u64);
            assert_eq!(done.remaining, model.len() as u64);
        }
    }
}

async fn assert_same_listing(trail: &AuditStore, model: &[Known], filter: &Filter, page: Page) {
    let mut want: Vec<&Known> = model.iter().filter(|known| known.matches(filter)).collect();
    want.sort_by_key(|known| std::cmp::Reverse((known.at, known.id)));
    let found = trail.decisions(filter, page).await.expect("a listing");
    assert_eq!(found.total, want.len() as u64, "{filter:?}");
    let shown: Vec<_> = found
        .records
        .iter()
        .map(|r| {
            (
                r.id,
                r.user_response,
                r.execution_happened,
                r.response_time_ms,
            )
        })
        .collect();
    let want: Vec<_> = want
        .iter()
        .skip(page.offset as usize)
        .take(page.limit as usize)
        .map(|known| (known.id, known.response, known.executed, known.ms))
        .collect();
    assert_eq!(shown, want, "{filter:?}");
}

async fn assert_same_stats(trail: &AuditStore, model: &[Known], filter: &Filter) {
    let period = Period {
        since: filter.since,
        until: filter.until,
    };
    let of_period = Filter {
        since: filter.since,
        until: filter.until,
        ..Filter::default()
    };
    let known: Vec<&Known> = model
        .iter()
        .filter(|known| known.matches(&of_period))
        .collect();
    let stats = trail.stats(&period).await.expect("counted");
    let count =
        |test: &dyn Fn(&Known) -> bool| known.iter().filter(|known| test(known)).count() as u64;
    assert_eq!(stats.total_decisions, known.len() as u64);
    assert_eq!(
        stats.classifications.read,
        count(&|k| k.class == Crud::Read)
    );
    assert_eq!(
        stats.classifications.delete,
        count(&|k| k.class == Crud::Delete)
    );
    let response = |response| count(&move |k| k.response == Some(response));
    assert_eq!(
        stats.user_responses.approved,
        response(UserResponse::Approved)
    );
    assert_eq!(stats.user_responses.denied, response(UserResponse::Denied));
    assert_eq!(
        stats.user_responses.expired,
        response(UserResponse::Timeout)
    );
    assert_eq!(
        stats.confidence.high_confidence_count,
        count(&|k| k.confidence >= 0.9)
    );
    assert_eq!(
        stats.confidence.low_confidence_count,
        count(&|k| k.confidence < 0.8)
    );
    let mut times: Vec<u64> = known.iter().map(|known| known.ms).collect();
    times.sort_unstable();
    // Nearest rank, by its definition.
    let rank = |percent: f64| match times.len() {
        0 => 0,
        n => times[((n as f64 * percent / 100.0).ceil() as usize).max(1) - 1],
    };
    let shown = stats.performance;
    assert_eq!(shown.p50_response_time_ms, rank(50.0));
    assert_eq!(shown.p95_response_time_ms, rank(95.0));
    assert_eq!(shown.p99_response_time_ms, rank(99.0));
    assert_eq!(
        shown.min_response_time_ms,
        times.first().copied().unwrap_or(0)
    );
    assert_eq!(
        shown.max_response_time_ms,
        times.last().copied().unwrap_or(0)
    );
    let n = known.len().max(1) as f64;
    let average = times.iter().sum::<u64>() as f64 / n;
    assert!((shown.avg_response_time_ms - average).abs() < 1e-6);
    let sure = known.iter().map(|known| known.confidence).sum::<f64>() / n;
    assert!((stats.confidence.avg_confidence - sure).abs() < 1e-8);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn p_20_to_p_42_the_trail_behaves_like_a_list(
        steps in prop::collection::vec(steps(), 1..60),
        asked in prop::collection::vec((filters(), 0..5_u64, 1..20_u64), 6),
    ) {
        run(async {
            let trail = AuditStore::open("sqlite::memory:").await.expect("a trail");
            let mut model = Vec::new();
            let mut given = 0;
            for step in steps {
                apply(&trail, &mut model, &mut given, step).await;
            }
            for (filter, offset, limit) in &asked {
                let page = Page { limit: *limit, offset: *offset };
                assert_same_listing(&trail, &model, filter, page).await;
                assert_same_stats(&trail, &model, filter).await;
            }
            assert_same_stats(&trail, &model, &Filter::default()).await;
            assert_intact(&trail).await;
        });
    }
}
