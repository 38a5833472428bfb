//! The owner: hooks added later, shared parts, extensions.

use hooks_runtime::RequestExtensions;
use hooks_runtime::model::hooks::{OnModelInput, ResolveUsageEstimate};
use hooks_runtime::model::{
    AdapterError, AdapterEvents, HookedModel, ModelAdapter, ModelHooksSet, ModelInputHookContext,
    ModelParts, ModelRequest, Unlimited, UsageEstimate, UsageHookContext,
};

use crate::kit::{Log, RecordedBudget, Tenant, stop, tenant, text};

/// Answers every request.
struct Always;

impl ModelAdapter for Always {
    async fn stream(&self, _: ModelRequest) -> Result<AdapterEvents<'_>, AdapterError> {
        Ok(Box::pin(futures::stream::iter([text("yes"), stop()])))
    }
}

struct Named(&'static str, Log);

impl OnModelInput for Named {
    async fn call(&self, cx: &ModelInputHookContext<'_>) {
        self.1
            .add(format_args!("{} for {}", self.0, tenant(cx.extensions())));
    }
}

struct Estimate(u64);

impl ResolveUsageEstimate for Estimate {
    async fn call(&self, _: &UsageHookContext<'_>) -> UsageEstimate {
        UsageEstimate::tokens(self.0)
    }
}

fn named(name: &'static str, log: &Log) -> ModelHooksSet<'static> {
    ModelHooksSet::new().with_on_model_input(Named(name, log.clone()))
}

#[tokio::test]
async fn t_73_hooks_added_after_construction_run_after_existing_hooks() {
    let log = Log::new();
    let mut model = HookedModel::with_hooks(Always, Unlimited, named("first", &log));
    model.extend_hooks(named("second", &log));
    let model = model.with_extended_hooks(named("third", &log));
    model.text_turn("hi").collect().await.unwrap();
    assert_eq!(
        log.take(),
        ["first for absent", "second for absent", "third for absent"]
    );
}

#[tokio::test]
async fn t_73_an_added_estimate_hook_replaces_the_existing_one() {
    let log = Log::new();
    let one = ModelHooksSet::new().with_resolve_usage_estimate(Estimate(1));
    let two = ModelHooksSet::new().with_resolve_usage_estimate(Estimate(2));
    let model =
        HookedModel::with_hooks(Always, RecordedBudget::new(&log), one).with_extended_hooks(two);
    model.completion("hi").collect().await.unwrap();
    assert_eq!(log.take(), ["reserve 2 for absent", "settle 2"]);
}

#[tokio::test]
async fn t_73_clones_and_started_calls_keep_their_hooks() {
    let log = Log::new();
    let mut model = HookedModel::with_hooks(Always, Unlimited, named("old", &log));
    let (clone, call) = (model.clone(), model.text_turn("hi"));
    model.extend_hooks(named("new", &log));
    call.collect().await.unwrap();
    clone.text_turn("hi").collect().await.unwrap();
    assert_eq!(log.take(), ["old for absent", "old for absent"]);
    model.text_turn("hi").collect().await.unwrap();
    assert_eq!(log.take(), ["old for absent", "new for absent"]);
}

#[tokio::test]
async fn t_74_request_extensions_override_only_the_defaults_of_their_types() {
    #[derive(Debug)]
    struct Trace(u32);
    struct Both(Log);
    impl OnModelInput for Both {
        async fn call(&self, cx: &ModelInputHookContext<'_>) {
            let trace = cx.extensions().get::<Trace>().map(|trace| trace.0);
            self.0
                .add(format_args!("{} {trace:?}", tenant(cx.extensions())));
        }
    }

    let log = Log::new();
    let hooks = ModelHooksSet::new().with_on_model_input(Both(log.clone()));
    let defaults = RequestExtensions::new().ext(Tenant("shared")).ext(Trace(0));
    let model = HookedModel::with_hooks(Always, Unlimited, hooks).with_default_extensions(defaults);

    model.text_turn("hi").collect().await.unwrap();
    let call = model.text_turn("hi").ext(Tenant("eu"));
    call.collect().await.unwrap();
    let map = RequestExtensions::new().ext(Tenant("us")).ext(Trace(7));
    let call = model.text_turn("hi").ext(Tenant("eu")).extensions(map);
    call.collect().await.unwrap();
    model.text_turn("hi").collect().await.unwrap();
    assert_eq!(
        log.take(),
        [
            "shared Some(0)",
            "eu Some(0)",
            "us Some(7)",
            "shared Some(0)"
        ]
    );
}

#[tokio::test]
async fn t_75_models_with_different_hooks_can_share_their_parts() {
    let log = Log::new();
    let tracker = RecordedBudget::new(&log);
    let defaults = RequestExtensions::new().ext(Tenant("shared"));
    let parts = ModelParts::new(Always, tracker.clone()).with_default_extensions(defaults);
    let estimate = ModelHooksSet::new().with_resolve_usage_estimate(Estimate(60));
    let one = HookedModel::from_parts_with_hooks(parts.clone(), estimate);
    let two = HookedModel::from_parts_with_hooks(one.parts().clone(), named("two", &log));

    one.text_turn("hi").collect().await.unwrap();
    two.text_turn("hi").collect().await.unwrap();
    assert_eq!(
        log.take(),
        [
            "reserve 60 for shared",
            "settle 60",
            "reserve 0 for shared",
            "two for shared",
            "settle 0",
        ]
    );
    assert_eq!(tracker.budget.used().tokens, 60);
    assert!(
        one.text_turn("hi").collect().await.is_err(),
        "one budget for both"
    );
}
