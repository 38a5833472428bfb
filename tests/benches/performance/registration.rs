//! Cost of registering and removing many hooks.

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hooks_core::{Entry, Slot, hooks};
use hooks_runtime::events::EventPhase;
use hooks_runtime::phases::PreFn;
use hooks_runtime::{
    Event, HookRegistry, HookResponse, HookResult, Phase, PhaseRegistry, PreHook, RegisterOptions,
    Registration, ResponseAction,
};

use crate::page::{judged, missed};

/// The hidden command for callgrind.
pub(crate) const RUN: &str = "register";

/// The numbers of hooks that are timed.
const SIZES: [usize; 4] = [1_000, 8_000, 40_000, 100_000];

/// The instructions for 8 000 hooks, as a multiple of those for 1 000.
const RATIO_TARGET: f64 = 16.0;

/// One way to change a list of hooks.
struct Case {
    name: &'static str,
    what: &'static str,
    run: fn(usize),
}

const CASES: &[Case] = &[
    Case {
        name: "typed",
        what: "a typed set",
        run: |hooks| drop(black_box(typed(hooks))),
    },
    Case {
        name: "typed_extend",
        what: "a typed set, extended by another of as many hooks",
        run: |hooks| {
            let mut set = typed(hooks);
            set.extend(typed(hooks));
            drop(black_box(set));
        },
    },
    Case {
        name: "slot_ascending",
        what: "a slot, ascending priorities",
        run: |hooks| {
            drop(black_box(slot(hooks, |entry, at| {
                entry.priority(at as i32)
            })))
        },
    },
    Case {
        name: "slot_descending",
        what: "a slot, descending priorities",
        run: |hooks| {
            drop(black_box(slot(hooks, |entry, at| {
                entry.priority(-(at as i32))
            })))
        },
    },
    Case {
        name: "slot_random",
        what: "a slot, random priorities",
        run: |hooks| {
            drop(black_box(slot(hooks, |entry, at| {
                entry.priority(scattered(at))
            })))
        },
    },
    Case {
        name: "slot_keys",
        what: "a slot, keys",
        run: |hooks| drop(black_box(keyed(hooks))),
    },
    Case {
        name: "slot_replace",
        what: "a slot, keys, each replaced",
        run: |hooks| {
            let mut slot = keyed(hooks);
            for at in (0..hooks).rev() {
                slot.insert(entry(at).key(at.to_string()).priority(scattered(at)));
            }
            drop(black_box(slot));
        },
    },
    Case {
        name: "slot_remove",
        what: "a slot, keys, each removed",
        run: |hooks| {
            let mut slot = keyed(hooks);
            for at in 0..hooks {
                assert!(slot.remove(&at.to_string()));
            }
            drop(black_box(slot));
        },
    },
    Case {
        name: "slot_condition",
        what: "a slot, one hook with a condition",
        run: |hooks| {
            drop(black_box(behind(
                entry(0).conditional(true),
                hooks,
                |entry| entry,
            )))
        },
    },
    Case {
        name: "slot_conditions",
        what: "a slot, each hook with a condition",
        run: |hooks| drop(black_box(slot(hooks, |entry, _| entry.conditional(true)))),
    },
    Case {
        name: "slot_disabled",
        what: "a slot, one hook disabled",
        run: |hooks| {
            drop(black_box(behind(entry(0).enabled(false), hooks, |entry| {
                entry
            })))
        },
    },
    Case {
        name: "slot_switch",
        what: "a slot, keys, each hook disabled and enabled",
        run: |hooks| {
            let mut slot = keyed(hooks);
            for is_enabled in [false, true] {
                for at in 0..hooks {
                    assert!(slot.set_enabled(&at.to_string(), is_enabled));
                }
            }
            drop(black_box(slot));
        },
    },
    Case {
        name: "slot_one_before",
        what: "a slot, one hook with `before`",
        run: |hooks| {
            let anchor = entry(0).key("anchor");
            let mut slot = behind(anchor, 1, |entry| entry.before("anchor"));
            (0..hooks).for_each(|at| _ = slot.insert(entry(at)));
            drop(black_box(slot));
        },
    },
    Case {
        name: "slot_before",
        what: "a slot, each hook with `before`, and moved",
        run: |hooks| {
            let anchor = entry(0).key("anchor");
            drop(black_box(behind(anchor, hooks, |entry| {
                entry.before("anchor")
            })));
        },
    },
    Case {
        name: "slot_after",
        what: "a slot, each hook with `after`, and moved",
        run: |hooks| {
            let anchor = entry(0).key("anchor").priority(1);
            drop(black_box(behind(anchor, hooks, |entry| {
                entry.after("anchor")
            })));
        },
    },
    Case {
        name: "slot_chain",
        what: "a slot, each hook `before` the one that was registered last",
        run: |hooks| {
            let mut slot: Slot<Hook> = Slot::new();
            slot.insert(entry(0).key("0"));
            for at in 1..hooks {
                slot.insert(entry(at).key(at.to_string()).before((at - 1).to_string()));
            }
            drop(black_box(slot));
        },
    },
    Case {
        name: "slot_before_remove",
        what: "a slot, each hook with `before`, each removed",
        run: |hooks| {
            let anchor = entry(0).key("anchor");
            let mut slot = behind(anchor, 0, |entry| entry);
            for at in 0..hooks {
                slot.insert(entry(at).key(at.to_string()).before("anchor"));
            }
            for at in 0..hooks {
                assert!(slot.remove(&at.to_string()));
            }
            drop(black_box(slot));
        },
    },
    Case {
        name: "event",
        what: "one event",
        run: |hooks| drop(black_box(events(hooks, one, same))),
    },
    Case {
        name: "event_random",
        what: "one event, random priorities",
        run: |hooks| drop(black_box(events(hooks, one, scattered))),
    },
    Case {
        name: "event_unregister",
        what: "one event, each unregistered",
        run: |hooks| unregister(events(hooks, one, same)),
    },
    Case {
        name: "event_tools",
        what: "one event, each hook for one tool",
        run: |hooks| {
            let registry = HookRegistry::new();
            for _ in 0..hooks {
                let hook = |_: Event<'_>| HookResult::proceed();
                registry.register("one", hook, RegisterOptions::new().tools(["bash"]));
            }
            drop(black_box(registry));
        },
    },
    Case {
        name: "event_decide",
        what: "one event, keys, phase `Decide`",
        run: |hooks| {
            let registry = HookRegistry::new();
            for at in 0..hooks {
                let hook = |_: Event<'_>| HookResult::proceed();
                let options = RegisterOptions::new().key(at.to_string());
                registry.register("one", hook, options.phase(EventPhase::Decide));
            }
            drop(black_box(registry));
        },
    },
    Case {
        name: "events",
        what: "an event for each hook",
        run: |hooks| drop(black_box(events(hooks, distinct, same))),
    },
    Case {
        name: "events_unregister",
        what: "an event for each hook, each unregistered",
        run: |hooks| unregister(events(hooks, distinct, same)),
    },
    Case {
        name: "phase",
        what: "PRE hooks",
        run: |hooks| drop(black_box(phase(hooks))),
    },
    Case {
        name: "phase_deregister",
        what: "PRE hooks, each deregistered",
        run: |hooks| {
            let registry = phase(hooks);
            for at in 0..hooks {
                assert!(registry.deregister(Phase::Pre, &at.to_string()));
            }
        },
    },
    Case {
        name: "child",
        what: "one event of a registry that follows another one, each unregistered",
        run: |hooks| {
            let child = HookRegistry::new().child();
            unregister(registered(child, hooks, one, same));
        },
    },
    Case {
        name: "child_phase",
        what: "PRE hooks of a registry that follows another one, each deregistered",
        run: |hooks| {
            let child = phase(hooks).child();
            register_phase(&child, hooks, "child");
            for at in 0..hooks {
                assert!(child.deregister(Phase::Pre, &format!("child {at}")));
            }
        },
    },
    Case {
        name: "parent",
        what: "one event of a registry that another one follows",
        run: |hooks| {
            let registry = HookRegistry::new();
            let child = registry.child();
            let (_, registrations) = registered(registry, hooks, one, same);
            assert_eq!(child.descriptors().len(), hooks);
            drop(black_box(registrations));
        },
    },
    Case {
        name: "every_event",
        what: "hooks for every event, each unregistered",
        run: |hooks| {
            let registry = HookRegistry::new();
            registry.register(
                "one",
                |_: Event<'_>| HookResult::proceed(),
                RegisterOptions::new(),
            );
            let register = |_| {
                let hook = |_: Event<'_>| HookResult::proceed();
                registry.register_any(hook, RegisterOptions::new())
            };
            let registrations = (0..hooks).map(register).collect();
            unregister((registry, registrations));
        },
    },
    Case {
        name: "beside_every_event",
        what: "one event, beside a hook for every event, each unregistered",
        run: |hooks| {
            let registry = HookRegistry::new();
            let hook = |_: Event<'_>| HookResult::proceed();
            registry.register_any(hook, RegisterOptions::new());
            unregister(registered(registry, hooks, one, same));
        },
    },
    Case {
        name: "owner",
        what: "one event, keys, all of one owner, removed at once",
        run: |hooks| {
            let registry = HookRegistry::new();
            for at in 0..hooks {
                let hook = |_: Event<'_>| HookResult::proceed();
                let options = RegisterOptions::new().key(at.to_string()).owner("plugin");
                registry.register("one", hook, options);
            }
            assert_eq!(registry.remove_owner("plugin"), hooks);
        },
    },
];

#[hooks]
trait Many {
    #[hook(fallback)]
    async fn number() -> usize {
        0
    }
}

struct Add(usize);

impl Number for Add {
    async fn call(&self, last: Option<usize>) -> usize {
        last.unwrap_or_default() + self.0
    }
}

fn typed(hooks: usize) -> ManySet<'static> {
    let mut set = ManySet::new();
    for at in 0..hooks {
        set.register_number(Add(at));
    }
    set
}

type Hook = dyn Fn() -> usize;

fn entry(at: usize) -> Entry<Arc<Hook>> {
    Entry::new(Arc::new(move || at))
}

fn slot(hooks: usize, conditions: fn(Entry<Arc<Hook>>, usize) -> Entry<Arc<Hook>>) -> Slot<Hook> {
    let mut slot = Slot::new();
    for at in 0..hooks {
        slot.insert(conditions(entry(at), at));
    }
    slot
}

/// Returns a slot of an entry and of others, which are registered behind it.
fn behind(
    first: Entry<Arc<Hook>>,
    hooks: usize,
    conditions: fn(Entry<Arc<Hook>>) -> Entry<Arc<Hook>>,
) -> Slot<Hook> {
    let mut slot = Slot::new();
    slot.insert(first);
    for at in 0..hooks {
        slot.insert(conditions(entry(at)));
    }
    slot
}

fn keyed(hooks: usize) -> Slot<Hook> {
    slot(hooks, |entry, at| entry.key(at.to_string()))
}

fn same(_: usize) -> i32 {
    0
}

/// Returns scattered numbers.
fn scattered(at: usize) -> i32 {
    (at as u32).wrapping_mul(0x9e37_79b9) as i32
}

fn one(_: usize) -> String {
    "one".to_owned()
}

fn distinct(at: usize) -> String {
    format!("event:{at}")
}

fn events(
    hooks: usize,
    event: fn(usize) -> String,
    priority: fn(usize) -> i32,
) -> (HookRegistry, Vec<Registration>) {
    registered(HookRegistry::new(), hooks, event, priority)
}

/// Registers hooks in this registry.
fn registered(
    registry: HookRegistry,
    hooks: usize,
    event: fn(usize) -> String,
    priority: fn(usize) -> i32,
) -> (HookRegistry, Vec<Registration>) {
    let register = |at| {
        let hook = move |_: Event<'_>| HookResult::proceed();
        let options = RegisterOptions::new().priority(priority(at));
        registry.register(event(at), hook, options)
    };
    let registrations = (0..hooks).map(register).collect();
    (registry, registrations)
}

fn unregister((registry, registrations): (HookRegistry, Vec<Registration>)) {
    for registration in registrations {
        assert!(registration.unregister());
    }
    drop(black_box(registry));
}

fn phase(hooks: usize) -> PhaseRegistry<str, ()> {
    let registry = PhaseRegistry::new();
    for at in 0..hooks {
        registry.register_pre(continues(at.to_string()), RegisterOptions::new());
    }
    registry
}

fn continues(id: String) -> impl PreHook<str> + 'static {
    PreFn::new(id, |_: &str| HookResponse::new(ResponseAction::Continue))
}

fn register_phase(registry: &PhaseRegistry<str, ()>, hooks: usize, name: &str) {
    for at in 0..hooks {
        registry.register_pre(continues(format!("{name} {at}")), RegisterOptions::new());
    }
}

/// Runs one case.
pub(crate) fn run(name: &str, hooks: &str) -> Result<(), String> {
    let hooks = hooks.parse().map_err(|why| format!("`{hooks}`: {why}"))?;
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("there is no case `{name}`"))?;
    (case.run)(hooks);
    Ok(())
}

/// Returns the time of one run: the shortest of three if it is short.
fn time(case: &Case, hooks: usize) -> Duration {
    let once = || {
        let start = Instant::now();
        (case.run)(hooks);
        start.elapsed()
    };
    let first = once();
    if first > Duration::from_secs(1) {
        return first;
    }
    first.min(once()).min(once())
}

/// Instructions of a case.
struct Growth {
    /// 8 000 hooks, as a multiple of 1 000.
    ratio: f64,
    /// Of 8 000.
    each: u64,
}

impl Growth {
    /// Counts the instructions beyond those of a run without hooks.
    fn of(case: &Case) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|why| why.to_string())?;
        let commands = [0, SIZES[0], SIZES[1]].map(|hooks| {
            let mut command = Command::new(&program);
            command.args([RUN, case.name, &hooks.to_string()]);
            command
        });
        let counts = crate::counts::callgrind_all(&commands)?;
        let (few, many) = (counts[1] - counts[0], counts[2] - counts[0]);
        Ok(Growth {
            ratio: many as f64 / few as f64,
            each: many / SIZES[1] as u64,
        })
    }

    fn is_near_linear(&self) -> bool {
        self.ratio <= RATIO_TARGET
    }
}

/// Returns the cases in which 8 000 hooks take too many times the instructions of 1 000.
pub(crate) fn exceeded() -> Result<Vec<String>, String> {
    let mut exceeded = Vec::new();
    // Two at a time: the runs of 8 000 hooks take most of the time.
    let growths = CASES.chunks(2).flat_map(|cases| {
        thread::scope(|scope| {
            let counts: Vec<_> = cases
                .iter()
                .map(|case| scope.spawn(move || (case, Growth::of(case))))
                .collect();
            let counts = counts.into_iter();
            counts
                .map(|count| count.join().expect("no panic"))
                .collect::<Vec<_>>()
        })
    });
    for (case, growth) in growths {
        let growth = growth?;
        let line = format!(
            "{:24} 8 000 hooks take {:.1} × 1 000 (at most {RATIO_TARGET}), {} instructions each",
            case.name, growth.ratio, growth.each,
        );
        println!("{line}");
        if !growth.is_near_linear() {
            exceeded.push(line);
        }
    }
    Ok(exceeded)
}

/// Mark of the section of registrations on the page of figures.
pub(crate) const MARK: &str = "<!-- registrations -->";

/// Returns the section of the page.
pub(crate) fn section() -> Result<String, String> {
    let mut text = format!(
        "{MARK}\n\n## Registrations\n\n\
         Written by `cargo bench -p hooks-tests --bench performance -- registration write`. \
         Milliseconds to register this number of hooks and, in some rows, to replace or remove \
         each of them, on {}; the best of three runs. callgrind counted the instructions: *growth* \
         is their number for 8 000 hooks as a multiple of their number for 1 000, *each* their \
         number for 8 000 hooks divided by 8 000. A dispatch takes its snapshot without a lock, \
         however many hooks are registered.\n\n\
         | What | 1 000 | 8 000 | 40 000 | 100 000 | growth | target | instructions each |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n",
        crate::processor::name(),
    );
    let mut misses = Vec::new();
    for case in CASES {
        eprintln!("{}", case.what);
        let times = SIZES.map(|hooks| format!("{:.1}", time(case, hooks).as_secs_f64() * 1e3));
        let growth = Growth::of(case)?;
        let shown = judged(format!("{:.1}", growth.ratio), growth.is_near_linear());
        let _ = writeln!(
            text,
            "| {} | {} | {shown} | ≤ {RATIO_TARGET:.0} | {} |",
            case.what,
            times.join(" | "),
            growth.each,
        );
        if !growth.is_near_linear() {
            misses.push(format!("{}: {:.1} × 1 000", case.what, growth.ratio));
        }
    }
    text += "\nA thousand nested dispatches fit on a stack of 2 MiB in a debug build: \
             `tests/runtime/nested.rs` and `tests/behaviour/nesting.rs` test this.\n";
    Ok(text + &missed(&misses))
}

/// Prints the times.
pub(crate) fn times() {
    for case in CASES {
        print!("{:24}", case.name);
        for hooks in SIZES {
            print!(" {:10.2} ms", time(case, hooks).as_secs_f64() * 1e3);
        }
        println!();
    }
}
