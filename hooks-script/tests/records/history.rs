//! History: one record per run, without the input of the hook (`S-20`).

use std::num::NonZeroUsize;
use std::time::Duration;

use hooks_script::{
    AnonymizerKey, ContextData, ContextKey, Field, Limits, Manifest, OutcomeKind, PublicFields,
    RunContext, RunHistory, RunOutcome, RunQuery, RunRecord, Scope, ScriptEngine, ScriptStack,
    Stage,
};
use jiff::Timestamp;
use serde_json::{Map, json};

use crate::{HOOK, Stores};

const KEY: &[u8] = b"a key of the host, by chance";

fn engine() -> ScriptEngine {
    let fields = PublicFields::new().user([Field::text("id"), Field::text("name")]);
    ScriptEngine::builder()
        .public_fields(fields)
        .build()
        .unwrap()
}

/// Runs this code and returns the record.
async fn run(engine: &ScriptEngine, stage: Stage, code: &str) -> RunRecord {
    let hook = crate::hook(engine, code);
    let (message, data) = (Map::new(), ContextData::new());
    let run = hook.run(stage, &message, &data).await;
    RunRecord::of(&hook, stage, &run, &message, &data).action("message.send")
}

#[tokio::test]
async fn s_20_a_record_contains_hook_scope_outcome_fuel_and_memory() {
    let engine = engine();
    for history in Stores::new().await.histories {
        let code =
            "export default () => { throw new (class Spam extends HookStopException {})('no'); }";
        let record = run(&engine, Stage::Pre, code)
            .await
            .scope(Scope::user("u").in_guild("g").in_channel("c"));
        let kept = history.record(record.clone()).await.unwrap();
        let found = history.query(&RunQuery::new()).await.unwrap();
        assert_eq!(found.next, None);
        let [found] = &found.records[..] else {
            panic!("{found:?}")
        };
        assert_eq!(found.id, kept.id);
        assert_eq!(
            (&*found.source, &*found.name, &*found.action),
            (HOOK, "Hook", "message.send")
        );
        assert_eq!(found.version, **crate::hook(&engine, code).code_hash());
        assert_eq!(found.scope, Scope::user("u").in_guild("g").in_channel("c"));
        assert_eq!(found.stage, Stage::Pre);
        assert_eq!(
            (found.fuel, found.memory_bytes),
            (record.fuel, record.memory_bytes)
        );
        assert!(found.fuel > 0 && found.memory_bytes > 0);
        assert_eq!(found.duration.as_micros(), record.duration.as_micros());
        assert_eq!(found.time.as_microsecond(), record.time.as_microsecond());
        let RunOutcome::Stopped {
            class,
            message,
            trace,
        } = &found.outcome
        else {
            panic!("{found:?}")
        };
        // `S-19`.
        assert_eq!((&**class, &**message), ("Spam", "no"));
        assert!(!trace.is_empty());
    }
}

/// Records of completed hooks are stored even if the client disconnects.
#[tokio::test]
async fn s_20_a_dropped_run_still_records_its_completed_hooks() {
    let engine = ScriptEngine::builder()
        .limits(Limits {
            fuel: u64::MAX / 4,
            wall: Duration::from_secs(600),
            ..Limits::default()
        })
        .build()
        .unwrap();
    let hook = |code| crate::hook(&engine, code);
    for history in Stores::new().await.histories {
        let stack = ScriptStack::builder()
            .fuel(u64::MAX)
            .wall(Duration::from_secs(1200))
            .history(history.clone())
            .build();
        stack.insert(
            "fails",
            hook("export default () => { throw new Error('oh'); }"),
        );
        stack.insert("endless", hook("export default () => { for (;;) {} }"));
        stack.insert(
            "behind",
            hook("export default ({ in: m }) => ({ out: m });"),
        );
        let (occasion, data) = (RunContext::new().action("message.send"), ContextData::new());
        let has_failed = async {
            while stack.hooks(None)[0].failures == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            run = stack.run_pre_on(&occasion, Map::new(), &data) => panic!("{run:?}"),
            () = has_failed => {}
        }

        // The records are written in the background.
        let found = loop {
            let found = history.query(&RunQuery::new()).await.unwrap().records;
            if found.len() > 1 {
                break found;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let [endless, fails] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(fails.outcome.class(), Some("Error"));
        assert_eq!(endless.outcome.kind(), OutcomeKind::Skipped);
        assert_eq!(endless.action, "message.send");
        assert_eq!(history.summary().len(), 2);
        history.forget_before(Timestamp::MAX).await.unwrap();
    }
}

#[tokio::test]
async fn s_20_times_are_stored_and_compared_in_microseconds() {
    let engine = engine();
    for history in Stores::new().await.histories {
        for time in [
            Timestamp::MIN,
            Timestamp::from_nanosecond(1_700_000_000_123_456_789).unwrap(),
            Timestamp::MAX,
        ] {
            let record = run(
                &engine,
                Stage::Pre,
                "export default ({ in: m }) => ({ out: m });",
            )
            .await;
            let kept = history.record(record.at(time)).await.unwrap();
            assert_eq!(kept.time.as_microsecond(), time.as_microsecond());
            let page = history.query(&RunQuery::new().from(time).limit(1)).await;
            assert_eq!(page.unwrap().records, [kept]);
            let before = history.query(&RunQuery::new().until(time)).await.unwrap();
            assert!(before.records.is_empty(), "{before:?}");
            assert_eq!(history.forget_before(time).await.unwrap(), 0);
            // Upper bound of this record, lower bound of the next.
            let later = Timestamp::from_microsecond(time.as_microsecond() + 1);
            if let Ok(later) = later {
                assert_eq!(history.forget_before(later).await.unwrap(), 1);
            }
        }
    }
}

/// Message texts cannot change the category that the author chose; a class name built from the
/// message is not kept.
#[tokio::test]
async fn s_19_a_message_cannot_change_the_recorded_class() {
    let engine = engine();
    let class = "ProfanityFilterLevel2Block";
    let throws = |code: &str| {
        let code = format!("export default ({{ in: m }}) => {{ {code} }};");
        crate::hook(&engine, &code)
    };
    let named = throws(&format!(
        "throw new (class {class} extends HookStopException {{}})('no');"
    ));
    let engines = throws("null.x;");
    let made = throws(
        "class E extends HookStopException {}; Object.defineProperty(E, 'name', { value: m.text }); throw new E('no');",
    );
    let data = ContextData::new();
    for history in Stores::new().await.histories {
        for (hook, text, kept) in [
            (&named, class, class),
            (&named, "ProfanityFilter and TypeError", class),
            (&engines, "ProfanityFilter and TypeError", "TypeError"),
            (&made, class, "[input]"),
        ] {
            let message = json!({ "text": text }).as_object().cloned().unwrap();
            let run = hook.run_pre(&message, &data).await;
            let record = RunRecord::of(hook, Stage::Pre, &run, &message, &data);
            let record = history.record(record).await.unwrap();
            assert_eq!(record.outcome.class(), Some(kept), "{text}");
        }
    }
}

#[tokio::test]
async fn s_20_every_kind_of_outcome_is_recorded() {
    let engine = engine();
    let limited = ScriptEngine::builder()
        .limits(Limits {
            fuel: 2_000_000,
            ..Limits::default()
        })
        .build()
        .unwrap();
    for history in Stores::new().await.histories {
        let looping = crate::hook(&limited, "export default () => { for (;;) {} }");
        for record in [
            run(
                &engine,
                Stage::Pre,
                "export default ({ in: m }) => ({ out: m });",
            )
            .await,
            run(
                &engine,
                Stage::Post,
                "export default () => { throw new HookStopException('noted'); }",
            )
            .await,
            run(
                &engine,
                Stage::Pre,
                "export default () => { throw new TypeError('oh'); }",
            )
            .await,
            run(&engine, Stage::Pre, "export default () => 1;").await,
            run(&limited, Stage::Pre, "export default () => { for (;;) {} }").await,
            RunRecord::skipped(&looping, Stage::Pre, "disabled after 5 failures"),
        ] {
            history.record(record).await.unwrap();
        }
        let page = history.query(&RunQuery::new()).await.unwrap();
        let kinds: Vec<_> = page
            .records
            .iter()
            .rev()
            .map(|record| record.outcome.kind())
            .collect();
        let failure = OutcomeKind::Failure;
        assert_eq!(
            kinds,
            [
                OutcomeKind::Success,
                OutcomeKind::Stopped,
                failure,
                failure,
                failure,
                OutcomeKind::Skipped
            ]
        );
        let failures = history
            .query(&RunQuery::new().outcome(failure))
            .await
            .unwrap();
        let failures: Vec<_> = failures
            .records
            .iter()
            .map(|record| match &record.outcome {
                RunOutcome::Failure { kind, class, .. } => (&**kind, &**class),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            failures,
            [
                ("fuel", "fuel"),
                ("bad_return", "bad_return"),
                ("thrown", "TypeError")
            ]
        );
        let skipped = RunOutcome::Skipped {
            reason: "disabled after 5 failures".to_owned(),
        };
        assert_eq!(page.records[0].outcome, skipped);
        assert_eq!(page.records[4].stage, Stage::Post);
    }
}

/// Secrets in the message, in visible and invisible data, in the output, the console lines and the
/// exceptions of a hook: none is in a record or in the files of the database.
#[tokio::test]
async fn s_20_records_contain_no_input_of_a_hook() {
    let secrets = [
        "Xylophone meets Quagmire",
        "Wombat-of-Data",
        "Hidden-Jackdaw",
        "Qx7z",
    ];
    let message = json!({"text": secrets[0], "tag": secrets[3], "deep": [{"text": secrets[0]}]});
    let message = message.as_object().unwrap();
    let user = json!({"id": "u-1", "name": secrets[1], "private": secrets[2]});
    let data = ContextData::new().set(ContextKey::User, &user).unwrap();
    let engine = engine();
    let manifest = || Manifest::new(HOOK, "Hook", [ContextKey::User]).unwrap();
    let stores = Stores::new().await;
    for history in &stores.histories {
        for end in [
            "return { out: m };",
            "return JSON.stringify([m, user]);",
            "return { out: m.text };",
            "return m;",
            "throw new HookStopException(m.text + m.tag + user.name);",
            "throw new Error(JSON.stringify([m, user]));",
            "throw new Error('blocked: ' + m.text.toUpperCase() + ' ' + m.text.slice(0, 9));",
            "throw m.text;",
            "throw m;",
            "throw { toString() { return m.text; }, message: m.text, name: m.tag };",
            "const e = new Error('x'); e.name = m.text; e.stack = user.name + m.tag; throw e;",
            "class E extends HookStopException {}; Object.defineProperty(E, 'name', { value: m.text }); throw new E(m.tag);",
            "throw new Error(m.text.repeat(1000));",
        ] {
            let code = format!(
                "export default ({{ in: m, data: {{ user }} }}) => {{ console.log(m, user, m.text); console.error(m.text); {end} }}"
            );
            let hook = engine.register(manifest(), &code).unwrap();
            for stage in [Stage::Pre, Stage::Post] {
                let run = hook.run(stage, message, &data).await;
                assert_eq!(run.console.len(), 2);
                let record =
                    RunRecord::of(&hook, stage, &run, message, &data).action("message.send");
                history.record(record).await.unwrap();
            }
        }
        let page = history.query(&RunQuery::new()).await.unwrap();
        assert_eq!(page.records.len(), 26);
        let records = serde_json::to_string(&page.records).unwrap().to_lowercase();
        for secret in secrets {
            assert!(
                !records.contains(&secret.to_lowercase()),
                "{history:?} {secret}: {records}"
            );
        }
        // Control: the marks show that the test did throw secrets.
        assert!(records.contains("[input]"));
        assert!(records.contains("blocked: [input]"));
        assert!(!records.contains("xylophone"));
    }
    #[cfg(feature = "sqlite")]
    {
        let bytes = stores.bytes();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|bytes| bytes.eq_ignore_ascii_case(text.as_bytes()))
        };
        assert!(has("blocked: [input]"), "the records are in these files");
        assert!(secrets.iter().all(|secret| !has(secret)));
        assert!(!has("xylophone") && !has("jackdaw"));
    }
}

#[tokio::test]
async fn s_20_texts_of_a_hook_are_masked_and_truncated() {
    let engine = engine();
    let long =
        "export default () => { throw new Error('🦀é'.repeat(3000) + ' mail ada@example.org'); }";
    let mail =
        "export default () => { throw new Error('mail ada@example.org or call 0123 456 789'); }";
    for history in Stores::new().await.histories {
        let history = history.text_chars(50);
        let outcome = history
            .record(run(&engine, Stage::Pre, long).await)
            .await
            .unwrap()
            .outcome;
        let RunOutcome::Failure { message, trace, .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(message.chars().count(), 50);
        assert!(message.starts_with("🦀é") && message.ends_with('…'));
        assert!(trace.chars().count() <= 50);

        let outcome = history
            .record(run(&engine, Stage::Pre, mail).await)
            .await
            .unwrap()
            .outcome;
        let RunOutcome::Failure { message, .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(message, "mail [e-mail] or call [number]");

        let own = history
            .clone()
            .masker(|text| text.replace("call", "[call]"));
        let outcome = own
            .record(run(&engine, Stage::Pre, mail).await)
            .await
            .unwrap()
            .outcome;
        let RunOutcome::Failure { message, .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(message, "mail ada@example.org or [call] 0123 456 789");

        let none = history.clone().text_chars(0);
        let outcome = none
            .record(run(&engine, Stage::Pre, mail).await)
            .await
            .unwrap()
            .outcome;
        let RunOutcome::Failure {
            class,
            message,
            trace,
            ..
        } = outcome
        else {
            panic!("{outcome:?}")
        };
        assert_eq!((&*class, &*message, &*trace), ("Error", "", ""));
    }
}

#[tokio::test]
async fn s_20_texts_of_the_host_are_recorded_unchanged() {
    let limited = |limits| ScriptEngine::builder().limits(limits).build().unwrap();
    let fuel = limited(Limits {
        fuel: 2_000_000,
        ..Limits::default()
    });
    let input = limited(Limits {
        input: 20,
        ..Limits::default()
    });
    let loops = "export default () => { for (;;) {} }";
    let message = serde_json::json!({ "text": "exceeded its fuel limit of the text" });
    let message = message.as_object().unwrap();
    for history in Stores::new().await.histories {
        let history = history.text_chars(0);
        let kept = async |engine: &ScriptEngine| {
            let hook = crate::hook(engine, loops);
            let data = ContextData::new();
            let run = hook.run_pre(message, &data).await;
            let record = RunRecord::of(&hook, Stage::Pre, &run, message, &data);
            history.record(record).await.unwrap().outcome
        };
        let RunOutcome::Failure { message, .. } = kept(&fuel).await else {
            panic!("it loops");
        };
        assert_eq!(message, "exceeded its fuel limit of 2000000");
        let RunOutcome::Skipped { reason } = kept(&input).await else {
            panic!("it did not run");
        };
        assert!(reason.starts_with("the context has "), "{reason}");

        let hook = crate::hook(&fuel, loops);
        let skipped = RunRecord::skipped(&hook, Stage::Pre, "ticket 12345678");
        let reason = "ticket 12345678".to_owned();
        let kept = history.record(skipped).await.unwrap().outcome;
        assert_eq!(kept, RunOutcome::Skipped { reason });
    }
}

#[tokio::test]
async fn s_20_ids_can_be_anonymised() {
    let engine = engine();
    let code = "export default () => { throw new Error('user-marta is muted in guild-north'); }";
    let stores = Stores::new().await;
    for history in &stores.histories {
        let history = history.clone().anonymize(AnonymizerKey::new(KEY).unwrap());
        let scope = Scope::user("user-marta")
            .in_guild("guild-north")
            .in_channel("user-marta");
        let one = history
            .record(run(&engine, Stage::Pre, code).await.scope(scope.clone()))
            .await
            .unwrap();
        let two = history
            .record(run(&engine, Stage::Pre, code).await.scope(scope))
            .await
            .unwrap();
        assert_eq!(one.scope, two.scope, "the same id has the same hash");
        let [user, guild] = [&one.scope.user, &one.scope.guild].map(|id| id.as_ref().unwrap());
        let RunOutcome::Failure { message, .. } = &one.outcome else {
            panic!("{one:?}")
        };
        assert_eq!(*message, format!("{user} is muted in {guild}"));
        assert_ne!(
            one.scope.user, one.scope.channel,
            "the hash depends on the kind of id"
        );
        let found = history.query(&RunQuery::new()).await.unwrap();
        let text = serde_json::to_string(&found.records).unwrap();
        assert!(
            !text.contains("marta") && !text.contains("guild-north"),
            "{text}"
        );

        let other = AnonymizerKey::new(b"another key of the host").unwrap();
        assert_ne!(
            other.hash("user", "user-marta"),
            *one.scope.user.as_ref().unwrap()
        );
    }
    assert!(AnonymizerKey::new(b"short").is_err());
    assert!(!format!("{:?}", AnonymizerKey::new(KEY).unwrap()).contains("key of the host"));
    #[cfg(feature = "sqlite")]
    {
        let bytes = stores.bytes();
        assert!(!bytes.windows(10).any(|bytes| bytes == b"user-marta"));
    }
}

/// HMAC-SHA256 of `user`, a zero byte and `u-1`, computed by another program.
#[test]
fn s_20_the_hash_of_an_id_is_hmac_sha256() {
    assert_eq!(
        AnonymizerKey::new(KEY).unwrap().hash("user", "u-1"),
        "anon-1c40a5aaa0413ef8d1df09435a609aca"
    );
}

#[tokio::test]
async fn s_20_queries_return_pages_of_records_newest_first() {
    let engine = engine();
    let success = run(&engine, Stage::Pre, "export default () => ({ out: {} });").await;
    let failure = run(&engine, Stage::Pre, "export default () => { throw 1; }").await;
    let time = |second| Timestamp::from_second(second).unwrap();
    for history in Stores::new().await.histories {
        for second in 0..25 {
            let record = if second % 5 == 0 { &failure } else { &success };
            let action = if second % 2 == 0 { "even" } else { "odd" };
            history
                .record(record.clone().at(time(second)).action(action))
                .await
                .unwrap();
        }
        let all = async |query: RunQuery| {
            let (mut query, mut seconds) = (query.limit(4), Vec::new());
            loop {
                let page = history.query(&query).await.unwrap();
                assert!(page.records.len() <= 4);
                seconds.extend(page.records.iter().map(|record| record.time.as_second()));
                match page.next {
                    Some(next) => query = query.before(next),
                    None => return seconds,
                }
            }
        };
        assert_eq!(
            all(RunQuery::new()).await,
            (0..25).rev().collect::<Vec<_>>()
        );
        assert_eq!(
            all(RunQuery::new().outcome(OutcomeKind::Failure)).await,
            [20, 15, 10, 5, 0]
        );
        assert_eq!(
            all(RunQuery::new().outcome(OutcomeKind::Failure).action("odd")).await,
            [15, 5]
        );
        assert_eq!(
            all(RunQuery::new().from(time(20)).until(time(23))).await,
            [22, 21, 20]
        );
        assert_eq!(all(RunQuery::new().hook(HOOK).from(time(24))).await, [24]);
        assert_eq!(
            all(RunQuery::new().hook("https://example.org/other.js")).await,
            [0; 0]
        );
        assert_eq!(
            all(RunQuery::new().action("'; DROP TABLE runs; --")).await,
            [0; 0]
        );

        assert_eq!(history.forget_before(time(20)).await.unwrap(), 20);
        assert_eq!(all(RunQuery::new()).await, [24, 23, 22, 21, 20]);
    }
}

#[tokio::test]
async fn s_20_an_in_memory_history_evicts_the_oldest_records() {
    let engine = engine();
    let record = run(&engine, Stage::Pre, "export default () => ({ out: {} });").await;
    let history = RunHistory::in_memory(NonZeroUsize::new(3).unwrap());
    for _ in 0..10 {
        history.record(record.clone()).await.unwrap();
    }
    let found = history.query(&RunQuery::new()).await.unwrap();
    assert_eq!(
        found
            .records
            .iter()
            .map(|record| record.id)
            .collect::<Vec<_>>(),
        [10, 9, 8]
    );
}

#[tokio::test]
async fn s_20_runs_are_counted_by_hook_outcome_and_class() {
    let engine = engine();
    for history in Stores::new().await.histories {
        for (code, times) in [
            ("export default () => ({ out: {} });", 3),
            ("export default () => { throw new TypeError('a'); }", 2),
            ("export default () => { throw new RangeError('a'); }", 1),
            (
                "export default () => { throw new (class Spam extends HookStopException {})('a'); }",
                1,
            ),
        ] {
            for _ in 0..times {
                history
                    .record(run(&engine, Stage::Pre, code).await)
                    .await
                    .unwrap();
            }
        }
        let skipped = RunRecord::skipped(
            &crate::hook(&engine, "export default () => {};"),
            Stage::Pre,
            "budget",
        );
        history.clone().record(skipped).await.unwrap();
        let summary = history.summary();
        let groups: Vec<_> = summary
            .iter()
            .map(|group| (group.outcome, &*group.class, group.runs))
            .collect();
        assert_eq!(
            groups,
            [
                (OutcomeKind::Success, "", 3),
                (OutcomeKind::Stopped, "Spam", 1),
                (OutcomeKind::Failure, "RangeError", 1),
                (OutcomeKind::Failure, "TypeError", 2),
                (OutcomeKind::Skipped, "", 1),
            ]
        );
        for group in &summary {
            assert_eq!(group.source, HOOK);
            let runs = if group.outcome == OutcomeKind::Skipped {
                0
            } else {
                group.runs
            };
            assert_eq!(group.duration_us.counts.iter().sum::<u64>(), runs);
            assert_eq!(group.fuel.counts.iter().sum::<u64>(), runs);
            assert_eq!(group.fuel.sum > 0, runs > 0);
        }
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s_20_a_failing_history_returns_errors_and_still_counts_runs() {
    let engine = engine();
    let stores = Stores::new().await;
    let history = RunHistory::sqlite(&stores.database);
    let record = run(&engine, Stage::Pre, "export default () => ({ out: {} });").await;
    stores.database.close().await;
    assert!(history.record(record).await.is_err());
    assert_eq!(history.summary()[0].runs, 1);
    assert!(history.query(&RunQuery::new()).await.is_err());
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn s_20_a_history_persists_after_the_database_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    let engine = engine();
    for round in 1..=3 {
        let database = hooks_script::Database::open(&path).await.unwrap();
        let history = RunHistory::sqlite(&database);
        let record = run(&engine, Stage::Pre, "export default () => ({ out: {} });").await;
        history.record(record).await.unwrap();
        let found = history.query(&RunQuery::new()).await.unwrap().records;
        assert_eq!(found.len(), round);
        assert!(found.iter().all(|record| !record.duration.is_zero()));
        database.close().await;
    }
}
