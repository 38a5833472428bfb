//! Tool sets: a call is parsed, passes the hooks of its tool, and runs, or does not.

use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::executor::block_on;
use hooks_runtime::toolset::{
    ExecuteTool, RunTools, ToolCall, ToolCallContext, ToolDecision, ToolError, ToolFailure,
    ToolParts, ToolRunner, ToolSet,
};
use hooks_runtime::{Entry, RequestExtensions, Stateful, hooks, impl_hook, impl_hooks};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{Log, yield_once};

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct WeatherArgs {
    city: String,
    #[serde(default)]
    days: Vec<Day>,
}

#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Day {
    hour: u8,
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Forecast {
    text: String,
}

/// Also the name of a variant.
#[derive(Deserialize)]
struct WebSearch(String);

#[derive(Deserialize)]
struct Nothing {}

#[derive(ToolSet)]
enum Tools {
    /// The weather of a city,
    /// day by day.
    #[tool(output = Forecast)]
    Weather(WeatherArgs),
    #[tool(output = Vec<String>)]
    WebSearch(WebSearch),
    // Cannot be serialised as JSON: the keys are not text.
    #[tool(name = "math:noop", output = HashMap<(u8, u8), u8>)]
    #[deprecated = "does nothing"]
    Noop(Nothing),
    #[cfg(not(test))]
    Gone(Missing),
    #[cfg(test)]
    #[tool(name = "again", hook = SecondSearch)]
    #[tool(output = Vec<String>)]
    Move(WebSearch),
}

/// Runs the tools, and records it.
#[derive(Clone, Debug, Default)]
struct Executor(Log);

impl ExecuteTool<WeatherArgs, Forecast> for Executor {
    async fn execute(
        &self,
        input: WeatherArgs,
        context: ToolCallContext,
    ) -> Result<Forecast, ToolFailure> {
        yield_once().await;
        self.0.add(format!(
            "{} {} {}",
            context.id(),
            context.tool(),
            input.city
        ));
        Ok(Forecast {
            text: format!("sun in {}", input.city),
        })
    }
}

impl ExecuteTool<WebSearch, Vec<String>> for Executor {
    async fn execute(
        &self,
        WebSearch(query): WebSearch,
        context: ToolCallContext,
    ) -> Result<Vec<String>, ToolFailure> {
        self.0.add(format!("{} {query}", context.tool()));
        if query.is_empty() {
            return Err("nothing to look for".into());
        }
        Ok(vec![query])
    }
}

impl ExecuteTool<Nothing, HashMap<(u8, u8), u8>> for Executor {
    async fn execute(
        &self,
        Nothing {}: Nothing,
        _: ToolCallContext,
    ) -> Result<HashMap<(u8, u8), u8>, ToolFailure> {
        self.0.add("noop");
        Ok(HashMap::from([((0, 0), 0)]))
    }
}

type WeatherDecision = ToolDecision<WeatherArgs, Forecast>;

/// Changes the city of calls.
struct ChangesCity(&'static str, Log);

#[impl_hooks(ToolsHooksSet)]
impl ToolsHooks for ChangesCity {
    async fn weather(&self, mut input: WeatherArgs, context: ToolCallContext) -> WeatherDecision {
        self.1.add(format!("{} {}", context.id(), input.city));
        input.city.push_str(self.0);
        ToolDecision::Run(input)
    }
}

#[impl_hook(WeatherHook)]
async fn refuses(_input: WeatherArgs, _context: ToolCallContext) -> WeatherDecision {
    ToolDecision::reject("not today")
}

#[impl_hook(WeatherHook)]
async fn completes(input: WeatherArgs, _context: ToolCallContext) -> WeatherDecision {
    yield_once().await;
    ToolDecision::Complete(Forecast {
        text: format!("it is known of {}", input.city),
    })
}

fn weather(city: &str) -> ToolCall {
    ToolCall::new("call-1", "weather", json!({"city": city}))
}

/// Returns the result of a call, and the log.
fn run(set: &ToolsHooksSet<'_>, call: ToolCall) -> (Result<Value, ToolError>, Vec<String>) {
    let executor = Executor::default();
    let result = block_on(Tools::execute(call, set, &executor));
    (result, executor.0.lines())
}

fn message(result: Result<Value, ToolError>) -> String {
    result.expect_err("the call has no output").to_string()
}

/// T-75: without hooks a call is parsed and run
#[test]
fn t_75_without_hooks_the_tool_runs() {
    let (result, ran) = run(&ToolsHooksSet::new(), weather("Rome"));
    assert_eq!(result.unwrap(), json!({"text": "sun in Rome"}));
    assert_eq!(ran, ["call-1 weather Rome"]);
}

/// T-75: each hook gets the call and passes it on, possibly changed
#[test]
fn t_75_the_tool_gets_the_input_changed_by_the_hooks() {
    let log = Log::new();
    let set = ToolsHooksSet::new()
        .with_hooks(ChangesCity("-a", log.clone()))
        .with_hooks(ChangesCity("-b", log.clone()));
    let (result, ran) = run(&set, weather("Rome"));
    assert_eq!(result.unwrap(), json!({"text": "sun in Rome-a-b"}));
    assert_eq!(log.lines(), ["call-1 Rome", "call-1 Rome-a"]);
    assert_eq!(ran, ["call-1 weather Rome-a-b"]);
}

/// T-75: a hook that refuses ends the dispatch, and the tool does not run
#[test]
fn t_75_a_rejected_call_does_not_run_the_tool() {
    let log = Log::new();
    let set = ToolsHooksSet::new()
        .with_weather(Refuses)
        .with_hooks(ChangesCity("", log.clone()));
    let (result, ran) = run(&set, weather("Rome"));
    assert!(matches!(
        &result,
        Err(ToolError::Rejected { tool: "weather", reason }) if reason == "not today"
    ));
    assert_eq!(
        message(result),
        "the call of tool `weather` was refused: not today"
    );
    assert!(ran.is_empty());
    assert!(log.lines().is_empty());
}

/// T-75: a hook that has the output ends the dispatch with it
#[test]
fn t_75_a_hook_can_complete_a_call_with_its_own_output() {
    let log = Log::new();
    let set = ToolsHooksSet::new()
        .with_hooks(ChangesCity("!", log.clone()))
        .with_weather(Completes)
        .with_weather(Refuses);
    let (result, ran) = run(&set, weather("Rome"));
    assert_eq!(result.unwrap(), json!({"text": "it is known of Rome!"}));
    assert!(ran.is_empty());
}

/// T-75: the hooks of one tool do not see the calls of another
#[test]
fn t_75_each_tool_has_its_own_hooks() {
    let set = ToolsHooksSet::new().with_weather(Refuses);
    let (result, ran) = run(&set, ToolCall::new("", "web_search", json!("hooks")));
    assert_eq!(result.unwrap(), json!(["hooks"]));
    assert_eq!(ran, ["web_search hooks"]);
}

/// T-75: a call that cannot be parsed reaches neither hook nor tool, and the error has the path
#[test]
fn t_75_a_call_that_does_not_parse_reaches_neither_hook_nor_tool() {
    let log = Log::new();
    let set = ToolsHooksSet::new().with_hooks(ChangesCity("", log.clone()));
    let cases = [
        (
            "wether",
            json!({"city": "Rome"}),
            "unknown tool `wether`; the tools are `weather`, `web_search`, `math:noop`, `again`",
        ),
        (
            "Weather",
            json!({"city": "Rome"}),
            "unknown tool `Weather`; the tools are `weather`, `web_search`, `math:noop`, `again`",
        ),
        (
            "weather",
            json!({"city": "Rome", "days": [{"hour": 1}, {"hour": "two"}]}),
            "the input of tool `weather` does not fit at `days[1].hour`: invalid type: string \"two\", expected u8; send what the tool takes",
        ),
        (
            "weather",
            json!({}),
            "the input of tool `weather` does not fit: missing field `city`; send what the tool takes",
        ),
        (
            "weather",
            Value::Null,
            "the input of tool `weather` does not fit: invalid type: null, expected struct WeatherArgs; send what the tool takes",
        ),
    ];
    for (name, input, expected) in cases {
        let (result, ran) = run(&set, ToolCall::new("", name, input));
        assert_eq!(message(result), expected);
        assert!(ran.is_empty(), "{expected}");
        assert!(log.lines().is_empty(), "{expected}");
    }
}

/// T-75: a tool's error is the error of the call, with its source
#[test]
fn t_75_an_error_of_the_tool_is_the_source_of_the_error_of_the_call() {
    let (result, ran) = run(
        &ToolsHooksSet::new(),
        ToolCall::new("", "web_search", json!("")),
    );
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `web_search` failed: nothing to look for"
    );
    let source = std::error::Error::source(&error).expect("the tool's own error is kept");
    assert_eq!(source.to_string(), "nothing to look for");
    assert_eq!(ran, ["web_search "]);
}

/// T-75: an output that is not JSON is an error, not a panic
#[test]
fn t_75_an_output_that_is_not_json_is_an_error() {
    let (result, ran) = run(
        &ToolsHooksSet::new(),
        ToolCall::new("", "math:noop", json!({})),
    );
    assert!(matches!(
        result,
        Err(ToolError::Output {
            tool: "math:noop",
            ..
        })
    ));
    assert_eq!(ran, ["noop"]);
}

/// T-75: after a panic in a hook the tool does not run
#[test]
fn t_75_after_a_panic_in_a_hook_the_tool_does_not_run() {
    let set = ToolsHooksSet::new().with_weather(
        async |_: WeatherArgs, _: ToolCallContext| -> WeatherDecision { panic!("lost") },
    );
    let executor = Executor::default();
    let call = Tools::execute(weather("Rome"), &set, &executor);
    assert!(block_on(AssertUnwindSafe(call).catch_unwind()).is_err());
    assert!(executor.0.lines().is_empty());
}

/// T-75: a call that is dropped while a hook waits does not run
#[test]
fn t_75_a_call_dropped_while_a_hook_is_pending_does_not_run() {
    let set = ToolsHooksSet::new().with_weather(Completes);
    let executor = Executor::default();
    let mut call = Box::pin(Tools::execute(weather("Rome"), &set, &executor));
    assert!((&mut call).now_or_never().is_none());
    drop(call);
    assert!(executor.0.lines().is_empty());
}

/// T-75: names are the variants' in snake case, or the attribute's
#[test]
fn t_75_the_set_lists_its_tools() {
    let tools: Vec<_> = Tools::tools().collect();
    let names: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["weather", "web_search", "math:noop", "again"]);
    assert_eq!(tools[0].description, "The weather of a city,\nday by day.");
    assert_eq!(tools[1].description, "");
    assert_eq!(
        serde_json::to_value(tools[1]).unwrap(),
        json!({"name": "web_search", "description": ""})
    );
    assert_eq!(Tools::parse("again", json!("x")).unwrap().name(), "again");
}

/// T-75: two variants may contain one input type, and a variant may have the name of a keyword
#[test]
fn t_75_variants_with_one_input_type_keep_their_names() {
    let set = ToolsHooksSet::new().with_move(
        async |_: WebSearch, context: ToolCallContext| -> ToolDecision<WebSearch, Vec<String>> {
            ToolDecision::Complete(vec![context.tool().to_owned()])
        },
    );
    let (result, ran) = run(&set, ToolCall::new("", "again", json!("x")));
    assert_eq!(result.unwrap(), json!(["again"]));
    assert!(ran.is_empty());
    // The trait has the name that the attribute gives it.
    #[impl_hook(SecondSearch)]
    async fn pass(
        input: WebSearch,
        _context: ToolCallContext,
    ) -> ToolDecision<WebSearch, Vec<String>> {
        ToolDecision::Run(input)
    }
    let (result, ran) = run(
        &ToolsHooksSet::new().with_move(Pass),
        ToolCall::new("", "again", json!("x")),
    );
    assert_eq!(result.unwrap(), json!(["x"]));
    assert_eq!(ran, ["again x"]);
}

struct Once(u8);

impl StatefulWeatherHook for Once {
    async fn call_mut(&mut self, input: WeatherArgs, _context: ToolCallContext) -> WeatherDecision {
        self.0 += 1;
        match self.0 {
            1 => ToolDecision::Run(input),
            calls => ToolDecision::reject(format!("call {calls}")),
        }
    }

    fn on_reentrancy(err: hooks_runtime::HookReentrancyError) -> WeatherDecision {
        ToolDecision::reject(err.to_string())
    }
}

/// T-75: state, keys and priorities are as in any set
#[test]
fn t_75_stateful_hooks_and_entries_work_in_tool_sets() {
    let log = Log::new();
    let mut set = ToolsHooksSet::new()
        .with_weather(Entry::new(Refuses).key("closed"))
        .with_weather(Entry::new(Stateful::new(Once(0))).priority(-1));
    let (result, _) = run(&set, weather("Rome"));
    assert!(message(result).ends_with("not today"));
    assert!(set.weather_mut().remove("closed"));
    let (result, ran) = run(&set, weather("Rome"));
    assert!(message(result).ends_with("call 2"));
    assert!(ran.is_empty());
    assert!(log.lines().is_empty());
}

/// T-75, T-31: a description shows the pipeline
#[test]
fn t_31_a_description_shows_the_slots_of_the_tools() {
    let description = ToolsHooksSet::new().with_weather(Refuses).describe();
    assert_eq!(description.set, "ToolsHooksSet");
    let slots: Vec<_> = description
        .slots
        .iter()
        .map(|slot| (slot.slot, slot.kind, slot.companions[0].role))
        .collect();
    assert_eq!(
        slots,
        [
            ("weather", "fallback", "custom"),
            ("web_search", "fallback", "custom"),
            ("noop", "fallback", "custom"),
            ("move", "fallback", "custom"),
        ]
    );
    assert_eq!(description.slots[0].entries[0].name, "Refuses");
}

#[derive(Debug, PartialEq)]
struct Tenant(&'static str);

#[derive(Debug, PartialEq)]
struct Trace(u8);

/// T-74, T-75: a call's extensions override those of the runner, for hooks and tools
#[test]
fn t_74_extensions_of_the_call_override_those_of_the_runner() {
    let log = Log::new();
    let seen = log.clone();
    let set =
        ToolsHooksSet::new().with_weather(move |input: WeatherArgs, context: ToolCallContext| {
            let extensions = context.extensions();
            seen.add(format!(
                "{:?} {:?}",
                extensions.get::<Tenant>().unwrap(),
                extensions.get::<Trace>().unwrap(),
            ));
            std::future::ready(ToolDecision::Run(input))
        });
    let parts = ToolParts::new(Executor::default())
        .ext(Tenant("shared"))
        .extensions(RequestExtensions::new().ext(Trace(1)));
    let runner = ToolRunner::<Tools, _>::from_parts_with_hooks(parts, set);
    block_on(runner.execute(weather("Rome"))).unwrap();
    block_on(runner.execute(weather("Rome").ext(Tenant("eu")))).unwrap();
    let own = RequestExtensions::new().ext(Trace(2));
    block_on(runner.execute(weather("Rome").extensions(own))).unwrap();
    assert_eq!(
        log.lines(),
        [
            "Tenant(\"shared\") Trace(1)",
            "Tenant(\"eu\") Trace(1)",
            "Tenant(\"shared\") Trace(2)",
        ]
    );
}

/// T-73, T-75: hooks are added after construction, after the existing ones
#[test]
fn t_73_hooks_can_be_added_to_a_runner() {
    let log = Log::new();
    let moves = |to| ToolsHooksSet::new().with_hooks(ChangesCity(to, log.clone()));
    let executor = Executor::default();
    let mut runner = ToolRunner::<Tools, _>::with_hooks(executor.clone(), moves("-a"))
        .with_extended_hooks(moves("-b"));
    let before = runner.clone();
    runner.extend_hooks(moves("-c"));
    let text = |runner: &ToolRunner<'_, Tools, Executor>| {
        block_on(runner.execute(weather("Rome"))).unwrap()["text"].clone()
    };
    assert_eq!(text(&runner), "sun in Rome-a-b-c");
    assert_eq!(text(&before), "sun in Rome-a-b");
    assert_eq!(runner.hooks().describe().slots[0].entries.len(), 3);
    assert_eq!(executor.0.lines().len(), 2);
    assert!(format!("{runner:?}").starts_with("ToolRunner"));

    let plain = ToolRunner::<Tools, _>::new(executor.clone());
    assert_eq!(text(&plain), "sun in Rome");
    let plain = ToolRunner::<Tools, _>::from_parts(ToolParts::new(executor));
    assert_eq!(text(&plain), "sun in Rome");
    assert!(plain.executor().0.lines().len() > 2);
}

/// T-75, T-50: a runner may borrow its hooks and its executor
#[test]
fn t_75_a_runner_can_borrow_hooks_and_executor() {
    let log = Log::new();
    let (moves, executor) = (ChangesCity("-a", log.clone()), Executor::default());
    let set = ToolsHooksSet::new().with_hooks(&moves);
    let runner = ToolRunner::<Tools, _>::with_hooks(&executor, set.clone());
    block_on(runner.execute(weather("Rome"))).unwrap();
    let shared = Arc::new(executor.clone());
    let runner = ToolRunner::<Tools, _>::with_hooks(shared, set);
    block_on(runner.execute(weather("Rome"))).unwrap();
    assert_eq!(executor.0.lines(), ["call-1 weather Rome-a"; 2]);
}

/// T-75: a call runs on a runtime of many threads
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t_75_a_call_can_be_spawned() {
    let set = ToolsHooksSet::new().with_hooks(ChangesCity("-a", Log::new()));
    let runner = ToolRunner::<Tools, _>::with_hooks(Executor::default(), set);
    let runner = Arc::new(runner);
    let calls = (0..8).map(|_| {
        let runner = Arc::clone(&runner);
        tokio::spawn(async move { runner.execute(weather("Rome")).await })
    });
    for call in calls.collect::<Vec<_>>() {
        let output = call.await.unwrap().unwrap();
        assert_eq!(output, json!({"text": "sun in Rome-a"}));
    }
}

#[hooks]
#[nested_hooks(tools = ToolsHooksSet)]
trait AgentHooks {
    #[hook(fallback)]
    async fn greeting() -> String {
        "hello".into()
    }
}

/// T-75, T-41: the set of the tools nests in another
#[test]
fn t_75_a_tool_set_can_be_nested_in_another_set() {
    let mut agent = AgentHooksSet::new();
    agent.extend(AgentHooksSet::new().with_tools(ToolsHooksSet::new().with_weather(Refuses)));
    let (result, ran) = run(&agent.tools, weather("Rome"));
    assert!(matches!(result, Err(ToolError::Rejected { .. })));
    assert!(ran.is_empty());
}

/// T-75: generated items have the visibility of the enum
mod elsewhere {
    use super::*;

    #[derive(ToolSet)]
    pub(crate) enum Others {
        #[tool(output = Forecast)]
        Weather(WeatherArgs),
    }
}

#[test]
fn t_75_the_generated_items_have_the_visibility_of_the_enum() {
    fn is_set<T: Debug + Clone + Default + Send + Sync>(_: T) {}
    is_set(elsewhere::OthersHooksSet::new());
    let set = elsewhere::OthersHooksSet::new().with_weather(
        async |_: WeatherArgs, _: ToolCallContext| -> WeatherDecision {
            ToolDecision::reject("private")
        },
    );
    let result = block_on(elsewhere::Others::execute(
        weather("Rome"),
        &set,
        &Executor::default(),
    ));
    assert!(message(result).ends_with("private"));
}
