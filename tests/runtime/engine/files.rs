//! Files of an engine: checks for writing, and content of other files.

use hooks_runtime::engine::{Concurrency, EngineError, Lesson, content_hash};
use hooks_runtime::phases::PostFn;
use hooks_runtime::{HookEngine, ResponseAction, ToolResult};

use super::{Bench, assert_denied, read, write};
use crate::kit::plain;

/// The files that hooks write to.
const FILES: [&str; 7] = [
    "mutations.jsonl",
    "agent_trace.jsonl",
    "trace.jsonl",
    "verification_failures.jsonl",
    "intent_progress.jsonl",
    "scope_drift.jsonl",
    "lessons.jsonl",
];

#[tokio::test]
async fn r_31_an_unwritable_log_file_makes_the_engine_unhealthy() {
    for file in FILES {
        let bench = Bench::new().ready();
        let file = bench.path(".orchestration").join(file);
        std::fs::write(&file, "").unwrap();
        assert!(bench.ask(&write("src/a")).await.is_continue());
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        let denied = bench.ask(&write("src/b")).await;
        assert_denied(&denied, ResponseAction::Deny, "Fail-Safe");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn r_31_a_fifo_as_log_file_makes_the_engine_unhealthy_without_blocking() {
    let bench = Bench::new().ready();
    super::scope::fifo(&bench.path(".orchestration/trace.jsonl"));
    let denied = bench.ask(&write("src/a")).await;
    assert_denied(&denied, ResponseAction::Deny, "Fail-Safe");
    bench
        .post(&ToolResult::of(write("src/a")).succeeded("ok"))
        .await;
    assert_eq!(bench.lines("mutations.jsonl").len(), 1);
}

#[cfg(unix)]
#[tokio::test]
async fn r_27_a_fifo_in_the_workspace_is_not_read() {
    let bench = Bench::new().ready();
    bench.put("src/a", "a");
    let seen = ToolResult::of(read("src/a")).succeeded("a");
    bench.post(&seen).await;
    std::fs::remove_file(bench.path("src/a")).unwrap();
    super::scope::fifo(&bench.path("src/a"));
    bench.post(&seen).await;
    let error = bench.pre(&write("src/a")).await.unwrap_err();
    assert_eq!(error.hook(), Some("concurrency"));
}

#[tokio::test]
async fn r_27_a_file_above_the_size_limit_is_not_read() {
    let bench = Bench::new().ready();
    let strict = Concurrency::new(bench.engine.context()).require_read(true);
    bench.engine.registry().register_pre(strict, plain());
    let file = std::fs::File::create(bench.path("src/large")).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    let large = ToolResult::of(read("src/large")).succeeded("the first ten lines");
    bench.post(&large).await;
    assert_eq!(bench.engine.session().baseline("src/large"), None);
    let error = bench.pre(&write("src/large")).await.unwrap_err();
    assert_eq!(error.hook(), Some("concurrency"));
}

#[tokio::test]
async fn r_26_all_post_hooks_see_the_same_content_of_a_file() {
    let bench = Bench::new();
    bench.put("src/a", "left");
    // Another process writes while the hooks run.
    let file = bench.path("src/a");
    let meanwhile = PostFn::new(
        "read-file-baseline",
        move |_: &ToolResult, _: Option<&str>| std::fs::write(&file, "theirs").unwrap(),
    );
    bench.engine.registry().register_post(meanwhile, plain());
    let result = ToolResult::of(write("src/a")).succeeded("ok");
    bench.post(&result).await;
    let left = content_hash("left");
    assert_eq!(bench.lines("mutations.jsonl")[0]["content_hash"], left);
    let trace = bench.lines("agent_trace.jsonl");
    assert_eq!(trace[0]["files"][0]["content_hash"], left);
    assert_eq!(bench.engine.session().baseline("src/a"), Some(left));

    // The next result is a separate one, even if it is equal.
    let task = bench.engine.post_tool_use_detached(result, None);
    task.await.unwrap();
    let theirs = content_hash("theirs");
    assert_eq!(bench.lines("mutations.jsonl")[1]["content_hash"], theirs);
}

#[tokio::test]
async fn r_26_the_hash_of_long_reported_content_covers_all_of_it() {
    let bench = Bench::new();
    let long = "ä".repeat(200_000);
    let result = ToolResult::of(write("src/a")).succeeded("ok");
    bench.post(&result.file("src/a", &*long)).await;
    let line = &bench.lines("mutations.jsonl")[0];
    assert_eq!(line["content_hash"], content_hash(&long));
    assert_eq!(line["bytes"], 400_000);
}

#[tokio::test]
async fn r_26_only_the_newest_256_unwritten_lessons_are_kept() {
    let bench = Bench::new();
    let session = bench.engine.session();
    let learn = |n: u32| session.learn(Lesson::new("k", None, n.to_string(), "l"));
    let file = bench.path(".orchestration/lessons.jsonl");
    std::fs::create_dir(&file).unwrap();
    (0..200).for_each(learn);
    let result = ToolResult::of(read("src/a")).succeeded("ok");
    bench.post(&result).await;
    (200..300).for_each(learn);
    bench.post(&result).await;
    std::fs::remove_dir(&file).unwrap();
    bench.post(&result).await;
    let lessons = bench.lines("lessons.jsonl");
    let subjects: Vec<_> = lessons.iter().map(|lesson| &lesson["subject"]).collect();
    assert_eq!(subjects.len(), 256);
    assert_eq!((subjects[0], subjects[255]), (&"44".into(), &"299".into()));
}

#[test]
fn r_28_a_storage_folder_that_contains_the_workspace_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    for storage in [".", "sub/..", ".."] {
        std::fs::create_dir_all(workspace.join("sub")).unwrap();
        let builder = HookEngine::builder().workspace(&workspace).storage(storage);
        let error = builder.build().unwrap_err();
        assert!(
            matches!(error, EngineError::StorageHoldsWorkspace(_)),
            "{storage}: {error}"
        );
    }
}
