//! The cases of the event registry.
//!
//! Every hook compares the tool's name and looks for a folder in a path, as a simple guard of files
//! would. If hooks modify, each also sets a field. The limit is hand-written code on an unshared
//! map. Both take the data and return them, as for a host that builds them for one event. An event
//! compares a few field names; the map of the limit hashes a name, as does an event with many
//! fields.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

use hooks_runtime::events::{EventCall, EventField, EventPhase, EventSchema};
use hooks_runtime::phases::PreFn;
use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
use hooks_runtime::{
    Action, Emission, EmitError, Event, HookRegistry, HookResponse, HookResult, Map, Next,
    PhaseRegistry, RegisterOptions,
};
use serde_json::{Value, json};

use crate::cases::{Case, Run, Subject};
use crate::workload::block_on;

pub(crate) const EVENT: &str = "tool:pre";

/// The folders that hooks look for.
const FOLDERS: [&str; 16] = [
    "/etc/", "/boot/", "/dev/", "/proc/", "/sys/", "/root/", "/var/", "/usr/", "/lib/", "/opt/",
    "/srv/", "/run/", "/mnt/", "/media/", "/.ssh/", "/.gnupg/",
];

/// Five fields, one of them of this text.
fn fields(text: &str) -> Map {
    let fields = json!({
        "session_id": "5f2c9b1e",
        "tool_name": "Write",
        "file_path": "/workspace/project/src/main.rs",
        "checked": false,
        "content": text,
    });
    match fields {
        Value::Object(map) => map,
        _ => unreachable!("braces make an object"),
    }
}

fn folders<const N: usize>() -> [&'static str; N] {
    std::array::from_fn(|at| black_box(FOLDERS[at]))
}

/// Returns `true` if the event is a write into this folder.
#[inline(always)]
fn look<'a>(field: impl Fn(&'static str) -> Option<&'a Value>, folder: &str) -> bool {
    let text = |name| field(name).and_then(Value::as_str);
    text("tool_name") == Some("Write") && text("file_path").unwrap_or_default().contains(folder)
}

fn continuing<const N: usize>() -> HookRegistry {
    continuing_with::<N>(RegisterOptions::new)
}

fn continuing_with<const N: usize>(options: impl Fn() -> RegisterOptions) -> HookRegistry {
    let registry = HookRegistry::new();
    for folder in folders::<N>() {
        let hook = move |event: Event<'_>| {
            if look(|field| event.get(field), folder) {
                HookResult::deny("holds secrets")
            } else {
                HookResult::proceed()
            }
        };
        registry.register(EVENT, hook, options());
    }
    registry
}

fn modifying<const N: usize>() -> HookRegistry {
    let registry = HookRegistry::new();
    for folder in folders::<N>() {
        let hook = move |event: Event<'_>| {
            let found = look(|field| event.get(field), folder);
            HookResult::set("checked", found)
        };
        registry.register(EVENT, hook, RegisterOptions::new());
    }
    registry
}

/// Hooks of the form that takes `Arc`s, which share the data.
fn sharing<const N: usize>() -> HookRegistry {
    let registry = HookRegistry::new();
    for folder in folders::<N>() {
        let hook = move |_: Arc<str>, data: Arc<Map>| {
            if look(|field| data.get(field), folder) {
                HookResult::deny("holds secrets")
            } else {
                HookResult::proceed()
            }
        };
        registry.register(EVENT, hook, RegisterOptions::new());
    }
    registry
}

/// Creates one emission, which takes the data and returns them.
fn emission(registry: HookRegistry, map: Map) -> Run {
    let mut data = Some(Arc::new(map));
    Box::new(move || {
        let given = data.take().expect("every emission gives the data back");
        let Ok(emission) = block_on(registry.emit(black_box(EVENT), given)) else {
            unreachable!("the data are an object")
        };
        let Emission {
            action, data: back, ..
        } = emission;
        black_box(action == Action::Deny);
        data = Some(back);
    })
}

/// Returns the limit of hooks that continue.
fn going_on<const N: usize>(map: Map) -> Run {
    let folders = folders::<N>();
    Box::new(move || {
        black_box(block_on(limit_continue(&folders, black_box(&map))) == Action::Deny);
    })
}

async fn limit_continue<const N: usize>(folders: &[&str; N], data: &Map) -> Action {
    for folder in folders {
        if look(|field| data.get(field), folder) {
            return Action::Deny;
        }
    }
    Action::Continue
}

async fn limit_modify<const N: usize>(folders: &[&str; N], data: &mut Map) -> Action {
    for folder in folders {
        let found = look(|field| data.get(field), folder);
        match data.get_mut("checked") {
            Some(checked) => *checked = found.into(),
            None => {
                data.insert("checked".to_owned(), found.into());
            }
        }
    }
    Action::Modify
}

/// A registry as it is commonly written: a list behind a lock, a box for every answer, and
/// the data cloned for every hook.
struct Common {
    hooks: Mutex<HashMap<String, Vec<Arc<dyn CommonHook>>>>,
}

#[async_trait::async_trait]
trait CommonHook: Send + Sync {
    async fn call(&self, event: &str, data: Map) -> HookResult;
}

struct Folder(&'static str);

#[async_trait::async_trait]
impl CommonHook for Folder {
    async fn call(&self, _: &str, data: Map) -> HookResult {
        if look(|field| data.get(field), self.0) {
            HookResult::deny("holds secrets")
        } else {
            HookResult::proceed()
        }
    }
}

impl Common {
    fn new<const N: usize>() -> Self {
        let hooks = folders::<N>()
            .into_iter()
            .map(|folder| Arc::new(Folder(folder)) as Arc<dyn CommonHook>);
        Common {
            hooks: Mutex::new([(EVENT.to_owned(), hooks.collect())].into()),
        }
    }

    async fn emit(&self, event: &str, mut data: Map) -> (Action, Map) {
        let hooks = {
            let hooks = self.hooks.lock().expect("no thread panics here");
            hooks.get(event).cloned().unwrap_or_default()
        };
        for hook in hooks {
            let result = hook.call(event, data.clone()).await;
            match result.action {
                Action::Deny => return (Action::Deny, data),
                _ => data = result.data.unwrap_or(data),
            }
        }
        (Action::Continue, data)
    }
}

fn sized<const N: usize>(suffix: &'static str, text: &str) -> Vec<Case> {
    let case = |slot: &'static str, subject, ours, baseline| Case {
        slot,
        hooks: N,
        ours,
        baseline,
        subject,
    };
    let limit = || going_on::<N>(fields(text));
    let mut changed = fields(text);
    let limit_modify: Run = Box::new(move || {
        let folders = folders::<N>();
        black_box(block_on(limit_modify(&folders, black_box(&mut changed))) == Action::Deny);
    });
    let common = Common::new::<N>();
    let mut map = Some(fields(text));
    let common: Run = Box::new(move || {
        let given = map.take().expect("every emission gives the data back");
        let (action, back) = block_on(common.emit(black_box(EVENT), given));
        black_box(action == Action::Deny);
        map = Some(back);
    });
    let names = match suffix {
        "" => [
            "event_continue",
            "event_modify",
            "event_shared",
            "event_common",
        ],
        _ => [
            "event_continue_8_KiB",
            "event_modify_8_KiB",
            "event_shared_8_KiB",
            "event_common_8_KiB",
        ],
    };
    let ours = |registry| emission(registry, fields(text));
    vec![
        case(names[0], Subject::Event, ours(continuing::<N>()), limit()),
        case(
            names[1],
            Subject::EventModify,
            ours(modifying::<N>()),
            limit_modify,
        ),
        case(
            names[2],
            Subject::EventShared,
            ours(sharing::<N>()),
            limit(),
        ),
        case(names[3], Subject::EventCommon, common, limit()),
    ]
}

async fn around(call: EventCall, next: Next<'_, EventCall>) -> Result<Emission, EmitError> {
    next.call((call,)).await
}

/// Hooks that see the result of a tool, and leave it unchanged.
fn results<const N: usize>() -> Run {
    let registry: TransformRegistry<str> = TransformRegistry::new();
    for folder in folders::<N>() {
        let hook = TransformFn::new(folder, move |result: TransformInput<'_, str>| {
            if result.current().contains(folder) {
                Transformed::denied("holds secrets")
            } else {
                Transformed::Unchanged
            }
        });
        registry.register(hook, RegisterOptions::new());
    }
    Box::new(move || {
        black_box(block_on(registry.apply(black_box(RESULT))).is_ok());
    })
}

/// Result of a tool.
const RESULT: &str = "/workspace/project/src/main.rs";

async fn limit_results<const N: usize>(folders: &[&str; N], result: &str) -> bool {
    folders.iter().any(|folder| result.contains(folder))
}

/// Returns the cases of registrations with options.
fn options<const N: usize>(text: &str) -> Vec<Case> {
    let case = |slot, registry| Case {
        slot,
        hooks: N,
        ours: emission(registry, fields(text)),
        baseline: going_on::<N>(fields(text)),
        subject: Subject::Options,
    };
    let enclosed = continuing::<N>();
    enclosed.around(EVENT, around);
    let declared = continuing::<N>();
    let texts = ["session_id", "tool_name", "file_path", "content"];
    let schema = EventSchema::new(EVENT).field(EventField::boolean("checked"));
    declared.declare(texts.into_iter().fold(schema, |schema, name| {
        schema.field(EventField::string(name))
    }));
    let deciding = continuing_with::<N>(|| RegisterOptions::new().phase(EventPhase::Decide));
    let observing = continuing::<N>();
    let observer = |event: Event<'_>| {
        black_box(event.outcome().is_some());
        HookResult::proceed()
    };
    observing.register(
        EVENT,
        observer,
        RegisterOptions::new().phase(EventPhase::Observe),
    );
    let folders = folders::<N>();
    vec![
        case(
            "event_filter",
            continuing_with::<N>(|| RegisterOptions::new().tools(["Write"])),
        ),
        case("event_decide", deciding),
        case("event_observer", observing),
        case("event_around", enclosed),
        case("event_schema", declared),
        Case {
            slot: "tool_result",
            hooks: N,
            ours: results::<N>(),
            baseline: Box::new(move || {
                black_box(block_on(limit_results(&folders, black_box(RESULT))));
            }),
            subject: Subject::Options,
        },
    ]
}

/// Returns a case with twelve fields.
fn many<const N: usize>(text: &str) -> Case {
    let fields = || {
        let more = (0..7).map(|at| (format!("option_{at}"), at.into()));
        fields(text).into_iter().chain(more).collect::<Map>()
    };
    Case {
        slot: "event_continue_12_fields",
        hooks: N,
        ours: emission(continuing::<N>(), fields()),
        baseline: going_on::<N>(fields()),
        subject: Subject::EventMany,
    }
}

/// Returns `true` if the event of this index has no hooks, with its data.
async fn look_up(lists: &[Vec<u8>], event: usize, data: Arc<Map>) -> (bool, Arc<Map>) {
    (lists[event].is_empty(), data)
}

/// Returns an emission without hooks, against an indexed look-up.
fn empty(text: &str) -> Case {
    let registry = continuing::<1>();
    let mut data = Some(Arc::new(fields(text)));
    let lists: [Vec<u8>; 16] = Default::default();
    let mut kept = Some(Arc::new(fields(text)));
    Case {
        slot: "event_without_hooks",
        hooks: 0,
        ours: Box::new(move || {
            let given = data.take().expect("every emission gives the data back");
            let Ok(emission) = block_on(registry.emit(black_box("tool:post"), given)) else {
                unreachable!("the data are an object")
            };
            black_box(emission.action == Action::Deny);
            data = Some(emission.data);
        }),
        baseline: Box::new(move || {
            let given = kept.take().expect("every look-up gives the data back");
            let (is_empty, back) = block_on(look_up(&lists, black_box(7), given));
            black_box(is_empty);
            kept = Some(back);
        }),
        subject: Subject::EventEmpty,
    }
}

/// Returns all cases; the length of the prompt is that of a field.
pub(crate) fn all(prompt: &'static str) -> Vec<Case> {
    let small = if prompt.len() < 1000 {
        "fn main() {}"
    } else {
        prompt
    };
    let large = prompt.repeat(8192 / prompt.len() + 1);
    let mut cases = vec![
        empty(small),
        many::<1>(small),
        many::<4>(small),
        many::<16>(small),
    ];
    cases.extend(options::<1>(small));
    cases.extend(options::<4>(small));
    for (suffix, text) in [("", small), ("_8_KiB", &large)] {
        cases.extend(sized::<1>(suffix, text));
        cases.extend(sized::<4>(suffix, text));
        cases.extend(sized::<16>(suffix, text));
    }
    cases
}

/// Returns the shared registries of several threads: one of events, and one of PRE hooks, four
/// hooks each.
pub(crate) fn shared() -> (HookRegistry, PhaseRegistry<str, ()>) {
    let phases = PhaseRegistry::new();
    for folder in folders::<4>() {
        let hook = PreFn::new(folder, move |path: &str| {
            if path.contains(folder) {
                HookResponse::new(hooks_runtime::ResponseAction::Deny)
            } else {
                HookResponse::default()
            }
        });
        phases.register_pre(hook, RegisterOptions::new());
    }
    (continuing::<4>(), phases)
}

/// Returns the data of a thread.
pub(crate) fn data() -> Arc<Map> {
    Arc::new(fields("fn main() {}"))
}
