//! Every front end against one model: random registrations, refusals, removals, switches and copies
//! (E-03, E-04, E-07, E-08, R-06, T-03).

use std::collections::BTreeMap;

use futures::executor::block_on;
use hooks_core::hooks;
use hooks_runtime::events::{EventCall, EventPhase};
use hooks_runtime::phases::{PostCall, PostFn, PreCall, PreFn, PreObserverFn, PreResult};
use hooks_runtime::transform::{TransformFn, TransformInput, TransformRegistry, Transformed};
use hooks_runtime::{
    Around, AroundRegistry, Emission, EmitError, Entry, Event, HookError, HookRegistry,
    HookResponse, HookResult, Next, Phase, PhaseRegistry, RegisterOptions, Registration,
};
use proptest::prelude::*;

use crate::kit::Log;

const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A key that a hook names, and `true` if it need not be registered.
type Named = (&'static str, bool);

/// A registration, as the model stores it; the list is in order of registration.
#[derive(Debug, Clone)]
struct Row {
    key: &'static str,
    priority: i32,
    before: Vec<Named>,
    after: Vec<Named>,
    is_enabled: bool,
    is_if_absent: bool,
}

impl Row {
    fn options(&self) -> RegisterOptions {
        let options = RegisterOptions::new()
            .name(self.key)
            .priority(self.priority)
            .enabled(self.is_enabled);
        let options = match self.is_if_absent {
            true => options.if_absent(),
            false => options,
        };
        let before = self.before.iter();
        let options = before.fold(options, |options, &(key, is_optional)| match is_optional {
            true => options.before_if_present(key),
            false => options.before(key),
        });
        let after = self.after.iter();
        after.fold(options, |options, &(key, is_optional)| match is_optional {
            true => options.after_if_present(key),
            false => options.after(key),
        })
    }

    fn entry<H>(&self, hook: H) -> Entry<H> {
        let entry = Entry::new(hook)
            .key(self.key)
            .priority(self.priority)
            .enabled(self.is_enabled);
        let entry = match self.is_if_absent {
            true => entry.if_absent(),
            false => entry,
        };
        let entry =
            self.before
                .iter()
                .fold(entry, |entry, &(key, is_optional)| match is_optional {
                    true => entry.before_if_present(key),
                    false => entry.before(key),
                });
        self.after
            .iter()
            .fold(entry, |entry, &(key, is_optional)| match is_optional {
                true => entry.after_if_present(key),
                false => entry.after(key),
            })
    }

    /// The keys that the row names, with `true` for `before`.
    fn named(&self) -> Vec<(bool, Named)> {
        let before = self.before.iter().map(|key| (true, *key));
        before
            .chain(self.after.iter().map(|key| (false, *key)))
            .collect()
    }
}

/// A registry, or one list of hooks of it.
trait FrontEnd {
    /// Registers a hook that logs its key; returns the message of a refusal.
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String>;
    /// Returns `None` if this front end cannot remove the hook, because only its registration can.
    fn remove(&mut self, key: &str) -> Option<bool>;
    fn enable(&mut self, key: &str, is_enabled: bool) -> bool;
    /// The keys in execution order.
    fn list(&self) -> Vec<String>;
    /// Runs the hooks.
    fn run(&self);
    fn copy(&self) -> Box<dyn FrontEnd>;
    /// Whether a priority has an effect.
    fn has_priorities(&self) -> bool {
        true
    }
}

/// A hook that logs its key.
#[derive(Clone)]
struct Says(&'static str, Log);

impl Around<EventCall> for Says {
    async fn call<'a>(
        &'a self,
        args: (EventCall,),
        next: Next<'a, EventCall>,
    ) -> Result<Emission, EmitError> {
        self.1.add(self.0);
        next.call(args).await
    }
}

impl Around<PreCall<str>> for Says {
    async fn call<'a>(
        &'a self,
        args: (&'a str,),
        next: Next<'a, PreCall<str>>,
    ) -> Result<HookResponse, HookError> {
        self.1.add(self.0);
        next.call(args).await
    }
}

impl Around<PostCall<str>> for Says {
    async fn call<'a>(&'a self, args: (&'a str, Option<&'a str>), next: Next<'a, PostCall<str>>) {
        self.1.add(self.0);
        next.call(args).await;
    }
}

#[hooks]
trait Modelled {
    #[hook(always, around)]
    async fn modelled_call(_text: &str) {}
}

impl ModelledCall for Says {
    async fn call(&self, _: String) {
        self.1.add(self.0);
    }
}

impl Around<dyn ModelledCall> for Says {
    async fn call<'a>(&'a self, args: (&'a str,), next: Next<'a, dyn ModelledCall>) {
        self.1.add(self.0);
        next.call(args).await;
    }
}

struct Events {
    hooks: HookRegistry,
    phase: EventPhase,
    registered: BTreeMap<&'static str, Registration>,
}

impl FrontEnd for Events {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let says = Says(row.key, log.clone());
        let hook = move |_: Event<'_>| {
            says.1.add(says.0);
            HookResult::proceed()
        };
        let options = row.options().key(row.key).phase(self.phase);
        let registered = self.hooks.try_register("e", hook, options);
        let registered = registered.map_err(|why| why.to_string())?;
        self.registered.insert(row.key, registered);
        Ok(())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        let is_known = self.list().iter().any(|other| other == key);
        match self.registered.get(key) {
            Some(registration) => Some(registration.unregister()),
            None if is_known => None,
            None => Some(false),
        }
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.hooks.set_enabled(key, is_enabled) > 0
    }

    fn list(&self) -> Vec<String> {
        let hooks = self.hooks.descriptors().into_iter();
        hooks.map(|hook| hook.entry.key.unwrap()).collect()
    }

    fn run(&self) {
        block_on(self.hooks.emit("e", ())).unwrap();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(Events {
            hooks: self.hooks.for_call(|_| {}),
            phase: self.phase,
            registered: BTreeMap::new(),
        })
    }
}

struct AroundEvents {
    hooks: HookRegistry,
    registered: BTreeMap<&'static str, Registration>,
}

impl FrontEnd for AroundEvents {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let entry = row.entry(Says(row.key, log.clone()));
        let registered = self.hooks.try_around("e", entry);
        let registered = registered.map_err(|why| why.to_string())?;
        self.registered.insert(row.key, registered);
        Ok(())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        let is_known = self.list().iter().any(|other| other == key);
        match self.registered.get(key) {
            Some(registration) => Some(registration.unregister()),
            None if is_known => None,
            None => Some(false),
        }
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.hooks.set_around_enabled("e", key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let hooks = self.hooks.around_hooks("e").into_iter();
        hooks.map(|hook| hook.key().unwrap().to_owned()).collect()
    }

    fn run(&self) {
        block_on(self.hooks.emit("e", ())).unwrap();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(AroundEvents {
            hooks: self.hooks.for_call(|_| {}),
            registered: BTreeMap::new(),
        })
    }
}

struct Phases(PhaseRegistry<str, str>, Phase);

impl FrontEnd for Phases {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let (key, log) = (row.key, log.clone());
        let registered = match self.1 {
            Phase::Pre => {
                let hook = PreFn::new(key, move |_: &str| {
                    log.add(key);
                    HookResponse::default()
                });
                self.0.try_register_pre(hook, row.options())
            }
            Phase::Post => {
                let hook = PostFn::new(key, move |_: &str, _: Option<&str>| log.add(key));
                self.0.try_register_post(hook, row.options())
            }
            Phase::Observe => {
                let hook = PreObserverFn::new(key, move |_: &str, _: PreResult<'_>| log.add(key));
                self.0.try_register_observer(hook, row.options())
            }
        };
        registered.map(drop).map_err(|why| why.to_string())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        Some(self.0.deregister(self.1, key))
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.0.set_enabled(self.1, key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let hooks = self.0.registered_hooks(self.1).into_iter();
        hooks.map(|hook| hook.id).collect()
    }

    fn run(&self) {
        block_on(async {
            match self.1 {
                Phase::Post => self.0.execute_post("", None).await,
                _ => drop(self.0.execute_pre("").await.unwrap()),
            }
        });
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(Phases(self.0.for_call(|_| {}), self.1))
    }

    fn has_priorities(&self) -> bool {
        self.1 == Phase::Pre
    }
}

struct Transforms(TransformRegistry<str>);

impl FrontEnd for Transforms {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let (key, log) = (row.key, log.clone());
        let hook = TransformFn::new(key, move |_: TransformInput<'_, str>| {
            log.add(key);
            Transformed::<str>::Unchanged
        });
        let registered = self.0.try_register(hook, row.options());
        registered.map(drop).map_err(|why| why.to_string())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        Some(self.0.deregister(key))
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.0.set_enabled(key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        self.0.hooks().into_iter().map(|hook| hook.id).collect()
    }

    fn run(&self) {
        block_on(self.0.apply("")).unwrap();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(Transforms(self.0.for_call(|_| {})))
    }
}

struct AroundPre(PhaseRegistry<str, str>);

impl AroundPre {
    fn hooks(&self) -> &AroundRegistry<PreCall<str>> {
        self.0.around_pre()
    }
}

impl FrontEnd for AroundPre {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let entry = row.entry(Says(row.key, log.clone()));
        let registered = self.hooks().try_register(entry);
        registered.map(drop).map_err(|why| why.to_string())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        Some(self.hooks().remove(key))
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.hooks().set_enabled(key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let hooks = self.hooks().hooks().into_iter();
        hooks.map(|hook| hook.key().unwrap().to_owned()).collect()
    }

    fn run(&self) {
        block_on(self.0.execute_pre("")).unwrap();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(AroundPre(self.0.for_call(|_| {})))
    }
}

struct AroundPost(PhaseRegistry<str, str>);

impl FrontEnd for AroundPost {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let entry = row.entry(Says(row.key, log.clone()));
        let registered = self.0.around_post().try_register(entry);
        registered.map(drop).map_err(|why| why.to_string())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        Some(self.0.around_post().remove(key))
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.0.around_post().set_enabled(key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let hooks = self.0.around_post().hooks().into_iter();
        hooks.map(|hook| hook.key().unwrap().to_owned()).collect()
    }

    fn run(&self) {
        block_on(self.0.execute_post("", None));
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(AroundPost(self.0.for_call(|_| {})))
    }
}

struct Typed(ModelledSet<'static>);

impl FrontEnd for Typed {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let entry = row.entry(Says(row.key, log.clone()));
        let registered = self.0.modelled_call_mut().try_register(entry);
        registered.map(drop).map_err(|why| why.to_string())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        Some(self.0.modelled_call_mut().remove(key))
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.0.modelled_call_mut().set_enabled(key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let mut copy = self.0.clone();
        let hooks = copy.modelled_call_mut();
        hooks
            .iter()
            .map(|hook| hook.key().unwrap().to_owned())
            .collect()
    }

    fn run(&self) {
        block_on(self.0.modelled_call(""));
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(Typed(self.0.for_call(|_| {})))
    }
}

struct TypedAround(ModelledSet<'static>);

impl FrontEnd for TypedAround {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let entry = row.entry(Says(row.key, log.clone()));
        let registered = self.0.modelled_call_around_mut().try_register(entry);
        registered.map(drop).map_err(|why| why.to_string())
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        Some(self.0.modelled_call_around_mut().remove(key))
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.0
            .modelled_call_around_mut()
            .set_enabled(key, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let mut copy = self.0.clone();
        let hooks = copy.modelled_call_around_mut();
        hooks
            .iter()
            .map(|hook| hook.key().unwrap().to_owned())
            .collect()
    }

    fn run(&self) {
        block_on(self.0.modelled_call(""));
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(TypedAround(self.0.clone()))
    }
}

/// A front end without hooks.
type New = fn() -> Box<dyn FrontEnd>;

fn events(phase: EventPhase) -> Box<dyn FrontEnd> {
    Box::new(Events {
        hooks: HookRegistry::new(),
        phase,
        registered: BTreeMap::new(),
    })
}

const FRONT_ENDS: &[(&str, New)] = &[
    ("transform phase", || events(EventPhase::Transform)),
    ("decide phase", || events(EventPhase::Decide)),
    ("observe phase", || events(EventPhase::Observe)),
    ("around events", || {
        Box::new(AroundEvents {
            hooks: HookRegistry::new(),
            registered: BTreeMap::new(),
        })
    }),
    ("PRE", || Box::new(Phases(PhaseRegistry::new(), Phase::Pre))),
    ("POST", || {
        Box::new(Phases(PhaseRegistry::new(), Phase::Post))
    }),
    ("observers", || {
        Box::new(Phases(PhaseRegistry::new(), Phase::Observe))
    }),
    ("transforms", || {
        Box::new(Transforms(TransformRegistry::new()))
    }),
    ("around PRE", || Box::new(AroundPre(PhaseRegistry::new()))),
    ("around POST", || Box::new(AroundPost(PhaseRegistry::new()))),
    ("typed slot", || Box::new(Typed(ModelledSet::new()))),
    ("around a typed slot", || {
        Box::new(TypedAround(ModelledSet::new()))
    }),
];

#[derive(Debug, Clone)]
enum Op {
    Register(Row),
    Remove(&'static str),
    Enable(&'static str, bool),
    Copy,
}

fn ops() -> impl Strategy<Value = Vec<(usize, Op)>> {
    let key = prop::sample::select(&KEYS[..]);
    let some = prop::collection::vec((key.clone(), any::<bool>()), 0..2);
    let rarely = prop::bool::weighted(0.2);
    let row = (
        key.clone(),
        -1..2_i32,
        some.clone(),
        some,
        any::<bool>(),
        rarely,
    );
    let row = row.prop_map(
        |(key, priority, before, after, is_enabled, is_if_absent)| Row {
            key,
            priority,
            before,
            after,
            is_enabled,
            is_if_absent,
        },
    );
    let op = prop_oneof![
        6 => row.prop_map(Op::Register),
        2 => key.clone().prop_map(Op::Remove),
        2 => (key, any::<bool>()).prop_map(|(key, is_enabled)| Op::Enable(key, is_enabled)),
        1 => Just(Op::Copy),
    ];
    // Each operation changes one of the copies.
    prop::collection::vec((0..4_usize, op), 1..30)
}

fn has_cycle(rows: &[Row]) -> bool {
    let mut left: Vec<_> = rows.iter().map(|row| row.key).collect();
    let pairs = pairs(rows);
    loop {
        let waits = |key: &&str| {
            let mut before = pairs.iter().filter(|(_, second)| second == key);
            before.any(|(first, _)| left.contains(first))
        };
        match left.iter().position(|key| !waits(key)) {
            Some(free) => _ = left.remove(free),
            None => return !left.is_empty(),
        }
    }
}

/// The pairs of registered keys whose first runs first.
fn pairs(rows: &[Row]) -> Vec<(&'static str, &'static str)> {
    let is_registered = |key: &str| rows.iter().any(|row| row.key == key);
    let of = |row: &Row| {
        let key = row.key;
        let pair = move |(is_before, (other, _)): (bool, Named)| {
            if is_before {
                (key, other)
            } else {
                (other, key)
            }
        };
        row.named().into_iter().map(pair)
    };
    let pairs = rows.iter().flat_map(of);
    pairs
        .filter(|(first, second)| is_registered(first) && is_registered(second))
        .collect()
}

/// Registers a row in the model. Returns `false` if it is refused.
fn accept(rows: &mut Vec<Row>, row: &Row) -> bool {
    let mut next = rows.clone();
    let mut kept = Vec::new();
    match next.iter_mut().find(|old| old.key == row.key) {
        Some(old) => kept = std::mem::replace(old, row.clone()).named(),
        None => next.push(row.clone()),
    }
    let is_known = |named: &(bool, Named)| {
        let (_, (key, is_optional)) = *named;
        let is_registered = next.iter().any(|other| other.key == key);
        key != row.key && (is_optional || is_registered || kept.contains(named))
    };
    let is_free = !row.is_if_absent || rows.iter().all(|other| other.key != row.key);
    let is_accepted = is_free && row.named().iter().all(is_known) && !has_cycle(&next);
    if is_accepted {
        *rows = next;
    }
    is_accepted
}

/// Compares a front end with its model.
fn check(front: &dyn FrontEnd, rows: &[Row], log: &Log) -> Result<(), TestCaseError> {
    let list = front.list();
    let place = |key: &str| list.iter().position(|other| other == key);
    prop_assert_eq!(list.len(), rows.len(), "{:?}", list);
    let pairs = pairs(rows);
    for (first, second) in &pairs {
        prop_assert!(
            place(first) < place(second),
            "{} {} {:?}",
            first,
            second,
            list
        );
    }
    let mut natural = rows.to_vec();
    if front.has_priorities() {
        natural.sort_by_key(|row| row.priority);
    }
    let is_free = |row: &&Row| !pairs.iter().any(|(a, b)| *a == row.key || *b == row.key);
    let free: Vec<_> = natural
        .iter()
        .filter(is_free)
        .map(|row| place(row.key))
        .collect();
    prop_assert!(
        free.iter().all(Option::is_some) && free.is_sorted(),
        "{:?}",
        list
    );
    let is_enabled = |key: &&String| rows.iter().any(|row| row.key == **key && row.is_enabled);
    let expected: Vec<_> = list.iter().filter(is_enabled).cloned().collect();
    log.take();
    front.run();
    prop_assert_eq!(log.take(), expected);
    Ok(())
}

proptest! {
    /// Each copy has its own model: what is registered, refused, removed or switched in one does not
    /// reach another, and a refusal changes nothing.
    #[test]
    fn every_front_end_follows_the_model(ops in ops()) {
        for (name, new) in FRONT_ENDS {
            let log = Log::new();
            let mut fronts = vec![(new(), Vec::<Row>::new())];
            for (at, op) in &ops {
                let at = at % fronts.len();
                let (front, rows) = &mut fronts[at];
                match op {
                    Op::Register(row) => {
                        let registered = front.register(row, &log);
                        let is_accepted = accept(rows, row);
                        prop_assert_eq!(registered.is_ok(), is_accepted, "{}: {:?}", name, registered);
                    }
                    Op::Remove(key) => {
                        let was_there = rows.iter().any(|row| row.key == *key);
                        if let Some(removed) = front.remove(key) {
                            prop_assert_eq!(removed, was_there, "{}", name);
                            rows.retain(|row| row.key != *key);
                        }
                    }
                    Op::Enable(key, is_enabled) => {
                        let row = rows.iter_mut().find(|row| row.key == *key);
                        prop_assert_eq!(front.enable(key, *is_enabled), row.is_some(), "{}", name);
                        if let Some(row) = row {
                            row.is_enabled = *is_enabled;
                        }
                    }
                    Op::Copy => {
                        let copy = (front.copy(), rows.clone());
                        fronts.push(copy);
                    }
                }
                for (front, rows) in &fronts {
                    check(&**front, rows, &log).map_err(|why| {
                        TestCaseError::fail(format!("{name}: {why}"))
                    })?;
                }
            }
        }
    }
}
