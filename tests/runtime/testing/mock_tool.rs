//! `MockTool`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use hooks_runtime::testing::MockTool;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::kit::map;

fn failure_message(check: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(check)).expect_err("it does not hold");
    *payload.downcast::<String>().expect("a message")
}

#[tokio::test]
async fn e_160_a_mock_tool_returns_the_configured_result() {
    let input = map(json!({"command": "ls"}));
    assert_eq!(
        MockTool::new("bash").call(&input).await.unwrap(),
        Value::Null
    );
    let tool = MockTool::new("bash").returning(json!({"stdout": "a"}));
    assert_eq!(tool.name(), "bash");
    for _ in 0..2 {
        assert_eq!(tool.call(&input).await.unwrap(), json!({"stdout": "a"}));
    }
    let broken = MockTool::new("bash").failing("disk full");
    assert_eq!(broken.call(()).await.unwrap_err().to_string(), "disk full");
    let adds = MockTool::new("adds").with(|input| match input["a"].as_i64() {
        Some(a) => Ok(json!(a + 1)),
        None => Err(std::io::Error::other("no number").into()),
    });
    assert_eq!(adds.call(json!({"a": 1})).await.unwrap(), 2);
    let error = adds.call(json!({"a": "x"})).await.unwrap_err();
    assert!(error.downcast_ref::<std::io::Error>().is_some());
    assert_eq!(broken.calls(), [Value::Null]);
    assert_eq!(adds.calls(), [json!({"a": 1}), json!({"a": "x"})]);
}

#[tokio::test]
async fn e_160_a_mock_tool_records_its_calls() {
    let tool = MockTool::new("bash");
    tool.assert_not_called();
    let message = failure_message(|| tool.assert_called_with(json!({})));
    assert!(message.ends_with("it was not called at all"), "{message}");
    tool.clone()
        .call(json!({"command": "a\u{1b}"}))
        .await
        .unwrap();
    tool.call(map(json!({"command": "b"}))).await.unwrap();
    tool.assert_called_with(json!({"command": "b"}));
    tool.assert_called_with(map(json!({"command": "a\u{1b}"})));
    tool.assert_called_times(2);
    let message = failure_message(|| tool.assert_called_with(json!({"command": "c"})));
    assert!(message.contains(r#"not called with {"command":"c"}; it was called with {"command":"a\u001b"}, {"command":"b"}"#), "{message}");
    let message = failure_message(|| tool.assert_not_called());
    assert!(message.contains("called 2 times, not 0"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn e_160_a_slow_mock_tool_waits_and_records_dropped_calls() {
    let tool = MockTool::new("slow")
        .returning(1)
        .after(Duration::from_secs(60));
    let began = Instant::now();
    assert_eq!(tool.call(()).await.unwrap(), 1);
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    assert!(
        timeout(Duration::from_secs(59), tool.call(()))
            .await
            .is_err()
    );
    tool.assert_called_times(2);
}

#[test]
fn e_160_a_slow_mock_tool_works_without_a_runtime() {
    let tool = MockTool::new("slow")
        .returning("done")
        .after(Duration::from_millis(5));
    assert_eq!(futures::executor::block_on(tool.call(())).unwrap(), "done");
}
