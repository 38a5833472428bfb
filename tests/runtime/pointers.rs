//! Hooks behind `Arc`, `Box` and `&'static`: of every form, in every registry, under the name of
//! the hook.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::executor::block_on;
use hooks_runtime::phases::{PostFn, PreFn};
use hooks_runtime::{
    CommandHook, Event, EventHook, HookError, HookRegistry, HookResponse, HookResult, Map, Phase,
    PhaseRegistry, PostHook, PreHook, ResponseAction, Stateful, StatefulEventHook, hooks,
};

use crate::kit::{emit, plain, yield_once};

/// Adds one to the field `n`.
struct AddOne;

impl EventHook for AddOne {
    async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
        yield_once().await;
        Ok(add_one(event))
    }
}

fn add_one(event: Event<'_>) -> HookResult {
    let n = event.get("n").and_then(|n| n.as_u64()).unwrap_or(0);
    HookResult::set("n", n + 1)
}

fn add_one_shared(_: Arc<str>, data: Arc<Map>) -> HookResult {
    let n = data.get("n").and_then(|n| n.as_u64()).unwrap_or(0);
    HookResult::set("n", n + 1)
}

async fn add_one_later(event: Arc<str>, data: Arc<Map>) -> Result<HookResult, HookError> {
    yield_once().await;
    Ok(add_one_shared(event, data))
}

struct Counter(u64);

impl StatefulEventHook for Counter {
    async fn call_mut(&mut self, _: Event<'_>) -> Result<HookResult, HookError> {
        self.0 += 1;
        Ok(HookResult::set("calls", self.0))
    }
}

static ADD_ONE: AddOne = AddOne;

/// Emits one event, and returns its field.
fn emitted(registry: &HookRegistry, field: &str) -> Option<u64> {
    block_on(emit(registry, "e", ())).data.get(field)?.as_u64()
}

#[test]
fn hook_types_can_be_registered_behind_any_pointer() {
    let registry = HookRegistry::new();
    let shared = Arc::new(AddOne);
    registry.register("e", Arc::clone(&shared), plain());
    registry.on("e", shared, plain());
    registry.register("e", Box::new(AddOne), plain());
    registry.on("e", &ADD_ONE, plain());
    registry.register("e", Arc::new(Box::new(AddOne)), plain());
    assert_eq!(emitted(&registry, "n"), Some(5));
    assert_eq!(registry.list_handlers(None)["e"], ["AddOne"; 5]);
}

#[test]
#[expect(
    clippy::needless_borrows_for_generic_args,
    reason = "the references are what is tested"
)]
fn functions_can_be_registered_behind_any_pointer() {
    let registry = HookRegistry::new();
    registry.register("e", Arc::new(add_one), plain());
    registry.on("e", Arc::new(add_one_shared), plain());
    registry.register("e", Arc::new(add_one_later), plain());
    registry.register("e", Box::new(add_one), plain());
    registry.on("e", Box::new(add_one_shared), plain());
    registry.register("e", Box::new(add_one_later), plain());
    registry.register("e", &add_one, plain());
    registry.on("e", &add_one_shared, plain());
    registry.register("e", &add_one_later, plain());
    assert_eq!(emitted(&registry, "n"), Some(9));
    let names = ["add_one", "add_one_shared", "add_one_later"].repeat(3);
    assert_eq!(registry.list_handlers(None)["e"], names);
}

#[test]
fn closures_can_be_registered_behind_any_pointer() {
    let registry = HookRegistry::new();
    let one = 1;
    let shared = Arc::new(move |_: Event<'_>| HookResult::set("a", one));
    registry.register("e", Arc::clone(&shared), plain());
    let erased: Arc<dyn Fn(Arc<str>, Arc<Map>) -> HookResult + Send + Sync> =
        Arc::new(|_, _| HookResult::set("b", 2));
    registry.on("e", erased, plain());
    let boxed: Box<dyn Fn(Event<'_>) -> HookResult + Send + Sync> =
        Box::new(|_| HookResult::set("c", 3));
    registry.register("e", boxed, plain());
    registry.register(
        "e",
        Arc::new(async move |_: Arc<str>, _: Arc<Map>| {
            yield_once().await;
            HookResult::set("d", 4)
        }),
        plain(),
    );
    let data = block_on(emit(&registry, "e", ())).data;
    let values: Vec<_> = data.values().filter_map(|value| value.as_u64()).collect();
    assert_eq!(values, [1, 2, 3, 4]);
    assert!(
        registry.list_handlers(None)["e"].is_empty(),
        "closures have no names"
    );
}

#[test]
fn stateful_hooks_behind_one_arc_share_their_state() {
    let registry = HookRegistry::new();
    let counter = Arc::new(Stateful::new(Counter(0)));
    registry.register("e", Arc::clone(&counter), plain());
    registry.register("e", counter, plain());
    assert_eq!(emitted(&registry, "calls"), Some(2));
    registry.register("e", Box::new(Stateful::new(Counter(10))), plain());
    assert_eq!(emitted(&registry, "calls"), Some(11));
    assert_eq!(registry.list_handlers(None)["e"], ["Counter"; 3]);
}

#[test]
fn a_command_hook_behind_an_arc_keeps_its_name_and_trust() {
    let registry = HookRegistry::new();
    registry.register("e", Arc::new(CommandHook::new("/bin/true")), plain());
    let descriptors = registry.descriptors();
    assert_eq!(descriptors[0].name.as_deref(), Some("true"));
    assert!(!descriptors[0].trusted);
}

/// Counts its calls.
#[derive(Default)]
struct Calls(AtomicU32);

impl PreHook<str> for Calls {
    fn id(&self) -> &str {
        "calls"
    }

    fn priority(&self) -> Option<i32> {
        Some(7)
    }

    async fn execute(&self, _: &str) -> Result<HookResponse, HookError> {
        yield_once().await;
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(HookResponse::default())
    }
}

impl PostHook<bool> for Calls {
    fn id(&self) -> &str {
        "calls"
    }

    async fn execute(&self, _: &bool, _: Option<&str>) -> Result<(), HookError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn phase_hooks_can_be_registered_behind_any_pointer() {
    let calls = Arc::new(Calls::default());
    let leaked: &'static Calls = Box::leak(Box::default());
    let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    registry.register_pre(Arc::clone(&calls), plain());
    registry.register_post(Arc::clone(&calls), plain());
    let hooks = registry.registered_hooks(Phase::Pre);
    assert_eq!((&*hooks[0].id, hooks[0].priority), ("calls", Some(7)));
    block_on(registry.execute_pre("x")).expect("the hook continues");
    block_on(registry.execute_post(&true, None));
    assert_eq!(calls.0.load(Ordering::Relaxed), 2);

    registry.register_pre(leaked, plain());
    registry.register_post(leaked, plain());
    block_on(registry.execute_pre("x")).expect("the hook continues");
    block_on(registry.execute_post(&true, None));
    assert_eq!(leaked.0.load(Ordering::Relaxed), 2);
    assert_eq!(calls.0.load(Ordering::Relaxed), 2, "it was replaced");

    registry.register_pre(
        Box::new(PreFn::new("no", |_: &str| {
            HookResponse::new(ResponseAction::Deny)
        })),
        plain().priority(0),
    );
    registry.register_post(
        Box::new(PostFn::new("done", |_: &bool, _: Option<&str>| ())),
        plain(),
    );
    let response = block_on(registry.execute_pre("x")).expect("the hook answers");
    assert_eq!(response.action, ResponseAction::Deny);
    assert_eq!(
        leaked.0.load(Ordering::Relaxed),
        2,
        "the function came first"
    );
    assert_eq!(registry.registered_hooks(Phase::Post).len(), 2);
}

/// Runs another hook, and counts its results.
struct Wrapper<H> {
    inner: H,
    continued: AtomicU32,
}

impl<H> Wrapper<H> {
    fn new(inner: H) -> Arc<Self> {
        let continued = AtomicU32::new(0);
        Arc::new(Wrapper { inner, continued })
    }

    fn count(&self, has_continued: bool) {
        self.continued
            .fetch_add(u32::from(has_continued), Ordering::Relaxed);
    }
}

impl<H: PreHook<str>> PreHook<str> for Wrapper<H> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn priority(&self) -> Option<i32> {
        self.inner.priority()
    }

    async fn execute(&self, request: &str) -> Result<HookResponse, HookError> {
        let response = self.inner.execute(request).await?;
        self.count(response.is_continue());
        Ok(response)
    }
}

impl<H: PostHook<bool>> PostHook<bool> for Wrapper<H> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    async fn execute(&self, result: &bool, request_id: Option<&str>) -> Result<(), HookError> {
        self.inner.execute(result, request_id).await?;
        self.count(true);
        Ok(())
    }
}

/// Runs the hook from inside another one, in both phases. Returns the PRE response, and how many of
/// the two runs continued.
fn run_wrapped<H>(inner: H) -> (Result<HookResponse, HookError>, u32)
where
    H: PreHook<str> + PostHook<bool> + 'static,
{
    let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    let wrapper = Wrapper::new(inner);
    registry.register_pre(Arc::clone(&wrapper), plain());
    registry.register_post(Arc::clone(&wrapper), plain());
    let hooks = registry.registered_hooks(Phase::Pre);
    assert_eq!((&*hooks[0].id, hooks[0].priority), ("calls", Some(7)));
    assert_eq!(registry.registered_hooks(Phase::Post)[0].id, "calls");
    let response = block_on(registry.execute_pre("x"));
    block_on(registry.execute_post(&true, Some("1")));
    (response, wrapper.continued.load(Ordering::Relaxed))
}

#[test]
fn a_phase_hook_can_wrap_a_hook_behind_any_pointer() {
    let shared = Arc::new(Calls::default());
    let leaked: &'static Calls = Box::leak(Box::default());
    for (response, continued) in [
        run_wrapped(Arc::clone(&shared)),
        run_wrapped(Box::new(Calls::default())),
        run_wrapped(leaked),
    ] {
        assert!(response.expect("the hook continues").is_continue());
        assert_eq!(continued, 2);
    }
    assert_eq!(shared.0.load(Ordering::Relaxed), 2);
    assert_eq!(leaked.0.load(Ordering::Relaxed), 2);
}

#[test]
fn a_phase_hook_can_wrap_functions() {
    let registry: PhaseRegistry<str, bool> = PhaseRegistry::new();
    let checks = Wrapper::new(PreFn::new("length", |request: &str| match request.len() {
        0 => Err("the request is empty"),
        _ => Ok(HookResponse::default()),
    }));
    let audits = Wrapper::new(PostFn::new(
        "audit",
        |done: &bool, id: Option<&str>| match done {
            true => Ok(()),
            false => Err(format!("{} has failed", id.unwrap_or("a call"))),
        },
    ));
    assert_eq!(format!("{:?}", checks.inner), "PreFn(\"length\")");
    assert_eq!(format!("{:?}", audits.inner), "PostFn(\"audit\")");
    registry.register_pre(Arc::clone(&checks), plain());
    registry.register_post(Arc::clone(&audits), plain());

    let response = block_on(registry.execute_pre("x")).expect("the function continues");
    assert!(response.is_continue());
    let error = block_on(registry.execute_pre("")).expect_err("the function fails");
    assert!(
        error.to_string().contains("the request is empty"),
        "{error}"
    );
    assert_eq!(checks.continued.load(Ordering::Relaxed), 1);

    block_on(registry.execute_post(&true, None));
    block_on(registry.execute_post(&false, Some("1")));
    assert_eq!(audits.continued.load(Ordering::Relaxed), 1);
}

/// A set with one slot, to compare its names with those of the registry.
#[hooks]
trait Naming {
    #[hook(always)]
    async fn named() {}
}

impl StatefulNamed for Counter {
    async fn call_mut(&mut self) {
        self.0 += 1;
    }
}

#[test]
fn a_set_and_a_registry_use_the_same_name_for_a_stateful_hook() {
    let registry = HookRegistry::new();
    registry.register("e", Stateful::new(Counter(0)), plain());
    let descriptors = registry.descriptors();
    let set = NamingSet::new().with_named(Stateful::new(Counter(0)));
    let description = set.describe();
    let name = &description.slots[0].entries[0].name;
    assert_eq!(name, "Counter");
    assert_eq!(registry.list_handlers(None)["e"], [&**name]);
    assert_eq!(descriptors[0].name.as_deref(), Some(&**name));
    assert_eq!(descriptors[0].hook_type, std::any::type_name::<Counter>());
}
