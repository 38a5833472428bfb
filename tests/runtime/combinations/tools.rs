//! Tool sets.

use super::*;

#[tokio::test]
async fn the_engine_and_a_tool_runner_know_the_names_of_tools() {
    let engine = hooks_runtime::HookEngine::new();
    let hooks = engine.registry();
    let log = Log::new();
    for phase in [Phase::Pre, Phase::Post] {
        for hook in hooks.registered_hooks(phase) {
            hooks.deregister(phase, &hook.id);
        }
    }
    hooks.register_pre(
        PreFn::new("closed", |_: &hooks_runtime::ToolRequest| {
            HookResponse::new(ResponseAction::Deny)
        }),
        plain().tools(["write_*"]),
    );
    let lines = log.clone();
    hooks.register_post(
        PostFn::new(
            "log",
            move |result: &hooks_runtime::ToolResult, _: Option<&str>| {
                lines.add(&result.request.tool);
            },
        ),
        plain().tools(["read_*"]),
    );
    for tool in ["write_file", "read_file"] {
        let request = hooks_runtime::ToolRequest::new(tool);
        let response = engine.pre_tool_use(&request).await.unwrap();
        assert_eq!(response.is_continue(), tool == "read_file");
        engine
            .post_tool_use(&hooks_runtime::ToolResult::of(request), None)
            .await;
    }
    assert_eq!(log.take(), ["read_file"]);

    let runner = ToolRunner::<WebTools, _>::new(Web(log, AtomicU32::new(1)));
    for (pattern, text) in [("fet??", "[1]"), ("other", "[2]")] {
        runner.results().register(
            TransformFn::new(
                pattern,
                move |result: TransformInput<'_, ToolCallOutput>| {
                    let output = format!("{}{text}", result.current().output.as_str().unwrap());
                    Transformed::changed(result.current().with_output(output))
                },
            ),
            plain().tools([pattern]),
        );
    }
    assert_eq!(runner.execute(fetch("/")).await.unwrap(), "secret of /[1]");
}

#[tokio::test]
async fn a_result_hook_runs_if_the_function_for_the_name_of_its_tool_panics() {
    let runner = ToolRunner::<WebTools, _>::new(Web(Log::new(), AtomicU32::new(1)));
    let results = runner.results();
    results.set_tool_name(|_| panic!("no name"));
    let withhold = |_: TransformInput<'_, ToolCallOutput>| Transformed::denied("a key");
    results.register(
        TransformFn::new("withhold", withhold),
        plain().tools(["other"]),
    );
    let (result, lines) = capture_logs(runner.execute(fetch("/"))).await;
    let error = result.unwrap_err();
    assert!(matches!(error, ToolError::Withheld { .. }), "{error}");
    assert!(
        has_line(&lines, "WARN", &["hook=withhold", "no name"]),
        "{lines:?}"
    );
}

#[derive(Deserialize)]
struct Fetch {
    url: String,
}

#[derive(ToolSet)]
enum WebTools {
    #[tool(output = String, hook = FetchPageHook)]
    Fetch(Fetch),
}

struct Web(Log, AtomicU32);

impl ExecuteTool<Fetch, String> for Web {
    async fn execute(&self, input: Fetch, _: ToolCallContext) -> Result<String, ToolFailure> {
        self.0.add(format!("fetch {}", input.url));
        yield_once().await;
        match (self.1.fetch_add(1, Ordering::Relaxed), &*input.url) {
            (0, _) => Err("busy".into()),
            (_, "panic!") => panic!("the tool"),
            (_, url) => Ok(format!("secret of {url}")),
        }
    }
}

/// Logs the result of each call, and calls again after a failure of the tool.
struct Again(Log, &'static str);

impl Around<ToolCall> for Again {
    async fn call<'a>(
        &'a self,
        (call,): (ToolCall,),
        next: Next<'a, ToolCall>,
    ) -> Result<Value, ToolError> {
        let mut result = next.call((call.clone(),)).await;
        if let Err(ToolError::Failed { .. }) = result {
            result = next.call((call,)).await;
        }
        self.0.add(match &result {
            Ok(output) => format!("{}: {output}", self.1),
            Err(error) => format!("{}: {error}", self.1),
        });
        result
    }
}

fn fetch(url: &str) -> ToolCall {
    ToolCall::new("1", "fetch", json!({"url": url}))
}

#[tokio::test]
async fn around_hooks_of_tools_enclose_hooks_the_tool_and_result_hooks() {
    let log = Log::new();
    let hooks = WebToolsHooksSet::new().with_fetch(async |mut input: Fetch, _: ToolCallContext| {
        if input.url == "forbidden" {
            return ToolDecision::reject("no");
        }
        input.url.push('!');
        ToolDecision::<Fetch, String>::Run(input)
    });
    let runner = ToolRunner::<WebTools, _>::with_hooks(Web(log.clone(), AtomicU32::new(0)), hooks);
    runner
        .around()
        .register(Entry::new(Again(log.clone(), "inner")).key("inner"));
    runner.around().register(
        Entry::new(Again(log.clone(), "outer"))
            .priority(5)
            .before("inner"),
    );
    let raw = Arc::new(Mutex::new(String::new()));
    let seen = raw.clone();
    runner.results().register(
        TransformFn::new("redact", |result: TransformInput<'_, ToolCallOutput>| {
            let text = result
                .current()
                .output
                .as_str()
                .unwrap()
                .replace("secret", "[redacted]");
            Transformed::changed(result.current().with_output(text))
        }),
        plain(),
    );
    runner.results().register(
        TransformFn::new(
            "see raw",
            move |result: TransformInput<'_, ToolCallOutput>| {
                *seen.lock().unwrap() =
                    format!("{} -> {}", result.raw().output, result.current().output);
                Transformed::Unchanged
            },
        ),
        plain().after("redact"),
    );
    assert_eq!(
        runner.execute(fetch("/")).await.unwrap(),
        "[redacted] of /!"
    );
    assert_eq!(
        log.take(),
        [
            "fetch /!",
            "fetch /!",
            r#"inner: "[redacted] of /!""#,
            r#"outer: "[redacted] of /!""#
        ]
    );
    assert_eq!(
        *raw.lock().unwrap(),
        r#""secret of /!" -> "[redacted] of /!""#
    );

    assert!(matches!(
        runner.execute(fetch("forbidden")).await,
        Err(ToolError::Rejected { .. })
    ));
    assert_eq!(log.take().len(), 2, "around hooks see the rejection");
    let unknown = ToolCall::new("2", "unknown", json!({}));
    assert!(matches!(
        runner.execute(unknown).await,
        Err(ToolError::Unknown { .. })
    ));
    assert_eq!(log.take().len(), 2, "and an unknown tool");
    assert!(
        AssertUnwindSafe(runner.execute(fetch("panic")))
            .catch_unwind()
            .await
            .is_err()
    );
    assert_eq!(log.take(), ["fetch panic!"]);
    assert!(
        runner.execute(fetch("/")).now_or_never().is_none(),
        "the tool is pending, and dropped"
    );
    assert_eq!(log.take(), ["fetch /!"]);

    // Withheld: no value, also no raw value.
    runner.results().register(
        TransformFn::new("withhold", |_: TransformInput<'_, ToolCallOutput>| {
            Transformed::denied("a key")
        }),
        plain().before("redact"),
    );
    let error = runner.execute(fetch("/")).await.unwrap_err();
    assert!(matches!(error, ToolError::Withheld { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_copy_of_a_tool_runner_for_one_call_changes_only_the_copy() {
    let log = Log::new();
    let runner = ToolRunner::<WebTools, _>::new(Web(log.clone(), AtomicU32::new(1)));
    runner
        .around()
        .register(Entry::new(Again(log.clone(), "around")).key("around"));
    let append = |text: &'static str| {
        TransformFn::new(text, move |result: TransformInput<'_, ToolCallOutput>| {
            let output = format!("{}{text}", result.current().output.as_str().unwrap());
            Transformed::changed(result.current().with_output(output))
        })
    };
    runner.results().register(append(" [all]"), plain());
    let call = runner.for_call(|call| {
        call.around().remove("around");
        call.results()
            .register(append(" [one]"), plain().before(" [all]").tools(["fetch"]));
        call.hooks_mut()
            .register_fetch(async |mut input: Fetch, _: ToolCallContext| {
                input.url.push('?');
                ToolDecision::<Fetch, String>::Run(input)
            });
    });
    assert_eq!(
        call.execute(fetch("/")).await.unwrap(),
        "secret of /? [one] [all]"
    );
    assert_eq!(log.take(), ["fetch /?"]);
    assert_eq!(
        runner.execute(fetch("/")).await.unwrap(),
        "secret of / [all]"
    );
    assert_eq!(log.take().len(), 2);

    let values = runner
        .results()
        .for_call(|values| _ = values.deregister(" [all]"));
    assert!(values.is_empty() && !runner.results().is_empty());
    let around = runner
        .around()
        .for_call(|around| _ = around.remove("around"));
    assert!(around.is_empty() && !runner.around().is_empty());
}
