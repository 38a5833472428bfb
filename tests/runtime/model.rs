//! Every front end against one model: random registrations, refusals, removals, switches and copies
//! (E-03, E-04, E-07, E-08, R-06, T-03), owners, hooks for every event, and registries that follow
//! another one.

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
const OWNERS: [&str; 2] = ["x", "y"];

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
    owner: &'static str,
}

impl Row {
    /// A disabled hook whose key no other row has or names.
    fn unrelated() -> Self {
        Row {
            key: "unrelated",
            priority: 0,
            before: Vec::new(),
            after: Vec::new(),
            is_enabled: false,
            is_if_absent: false,
            owner: "nobody",
        }
    }

    fn options(&self) -> RegisterOptions {
        let options = RegisterOptions::new()
            .name(self.key)
            .owner(self.owner)
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
            .owner(self.owner)
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
    /// Removes the hooks of an owner, and returns their number.
    fn remove_owner(&mut self, owner: &str) -> usize;
    /// Enables or disables the hooks of an owner, and returns their number.
    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize;
    /// The keys in execution order.
    fn list(&self) -> Vec<String>;
    /// Runs the hooks.
    fn run(&self);
    fn copy(&self) -> Box<dyn FrontEnd>;
    /// A registry that follows this one; `None` for typed sets.
    fn child(&self) -> Option<Box<dyn FrontEnd>>;
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
    /// Whether the hooks are registered for every event.
    is_any: bool,
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
        let registered = match self.is_any {
            true => self.hooks.try_register_any(hook, options),
            false => self.hooks.try_register("e", hook, options),
        };
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
        // Others of the registry have no key.
        hooks.filter_map(|hook| hook.entry.key).collect()
    }

    fn run(&self) {
        block_on(self.hooks.emit("e", ())).unwrap();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Box::new(Events {
            hooks: self.hooks.for_call(|_| {}),
            registered: BTreeMap::new(),
            ..*self
        })
    }

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        Some(Box::new(Events {
            hooks: self.hooks.child(),
            registered: BTreeMap::new(),
            ..*self
        }))
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.hooks.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.hooks.set_owner_enabled(owner, is_enabled)
    }
}

struct AroundEvents {
    hooks: HookRegistry,
    /// Whether the hooks are registered for every event.
    is_any: bool,
    registered: BTreeMap<&'static str, Registration>,
}

impl FrontEnd for AroundEvents {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        let entry = row.entry(Says(row.key, log.clone()));
        let registered = match self.is_any {
            true => self.hooks.try_around_any(entry),
            false => self.hooks.try_around("e", entry),
        };
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
            ..*self
        })
    }

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        Some(Box::new(AroundEvents {
            hooks: self.hooks.child(),
            registered: BTreeMap::new(),
            ..*self
        }))
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.hooks.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.hooks.set_owner_enabled(owner, is_enabled)
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

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        Some(Box::new(Phases(self.0.child(), self.1)))
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.0.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.0.set_owner_enabled(owner, is_enabled)
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

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        Some(Box::new(Transforms(self.0.child())))
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.0.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.0.set_owner_enabled(owner, is_enabled)
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

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        Some(Box::new(AroundPre(self.0.child())))
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.0.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.0.set_owner_enabled(owner, is_enabled)
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

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        Some(Box::new(AroundPost(self.0.child())))
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.0.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.0.set_owner_enabled(owner, is_enabled)
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

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        None
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.0.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.0.set_owner_enabled(owner, is_enabled)
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

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        None
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.0.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.0.set_owner_enabled(owner, is_enabled)
    }
}

/// A follower whose parent changes before each use.
struct FollowsChanges {
    parent: Box<dyn FrontEnd>,
    child: Box<dyn FrontEnd>,
}

impl FollowsChanges {
    fn of(mut parent: Box<dyn FrontEnd>) -> Box<dyn FrontEnd> {
        let child = parent.child().expect("a registry");
        let unrelated = Row::unrelated();
        parent.register(&unrelated, &Log::new()).unwrap();
        parent.remove(unrelated.key).unwrap();
        Box::new(FollowsChanges { parent, child })
    }

    fn child(&mut self) -> &mut dyn FrontEnd {
        let unrelated = Row::unrelated();
        self.parent.register(&unrelated, &Log::new()).unwrap();
        self.parent.remove(unrelated.key).unwrap();
        &mut *self.child
    }
}

impl FrontEnd for FollowsChanges {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        self.child().register(row, log)
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        self.child().remove(key)
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.child().enable(key, is_enabled)
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.child().remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.child().enable_owner(owner, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        self.child.list()
    }

    fn run(&self) {
        self.child.run();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        self.child.copy()
    }

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        self.child.child()
    }

    fn has_priorities(&self) -> bool {
        self.child.has_priorities()
    }
}

/// A registry that changes, used through a follower of a follower.
struct Followed {
    parent: Box<dyn FrontEnd>,
    child: Box<dyn FrontEnd>,
    /// A follower of the child.
    last: Box<dyn FrontEnd>,
}

impl Followed {
    fn of(parent: Box<dyn FrontEnd>) -> Box<dyn FrontEnd> {
        let child = parent.child().expect("a registry");
        let last = child.child().expect("a registry");
        Box::new(Followed {
            parent,
            child,
            last,
        })
    }
}

impl FrontEnd for Followed {
    fn register(&mut self, row: &Row, log: &Log) -> Result<(), String> {
        self.parent.register(row, log)
    }

    fn remove(&mut self, key: &str) -> Option<bool> {
        self.parent.remove(key)
    }

    fn enable(&mut self, key: &str, is_enabled: bool) -> bool {
        self.parent.enable(key, is_enabled)
    }

    fn remove_owner(&mut self, owner: &str) -> usize {
        self.parent.remove_owner(owner)
    }

    fn enable_owner(&mut self, owner: &str, is_enabled: bool) -> usize {
        self.parent.enable_owner(owner, is_enabled)
    }

    fn list(&self) -> Vec<String> {
        let list = self.last.list();
        assert_eq!(list, self.child.list());
        list
    }

    fn run(&self) {
        self.last.run();
    }

    fn copy(&self) -> Box<dyn FrontEnd> {
        Followed::of(self.parent.copy())
    }

    fn child(&self) -> Option<Box<dyn FrontEnd>> {
        self.last.child()
    }

    fn has_priorities(&self) -> bool {
        self.parent.has_priorities()
    }
}

/// A front end without hooks.
type New = fn() -> Box<dyn FrontEnd>;

fn events(phase: EventPhase, is_any: bool) -> Box<dyn FrontEnd> {
    Box::new(Events {
        hooks: HookRegistry::new(),
        phase,
        is_any,
        registered: BTreeMap::new(),
    })
}

fn around_events(is_any: bool) -> Box<dyn FrontEnd> {
    Box::new(AroundEvents {
        hooks: HookRegistry::new(),
        is_any,
        registered: BTreeMap::new(),
    })
}

/// Hooks for every event, and an event that has other hooks in all phases.
fn beside_others(phase: EventPhase) -> Box<dyn FrontEnd> {
    let hooks = HookRegistry::new();
    for phase in [
        EventPhase::Transform,
        EventPhase::Decide,
        EventPhase::Observe,
    ] {
        let options = RegisterOptions::new().phase(phase).owner("other");
        let registered = hooks.register("other", |_: Event<'_>| HookResult::proceed(), options);
        drop(registered);
    }
    Box::new(Events {
        hooks,
        phase,
        is_any: true,
        registered: BTreeMap::new(),
    })
}

const REGISTRIES: &[(&str, New)] = &[
    ("transform phase", || events(EventPhase::Transform, false)),
    ("decide phase", || events(EventPhase::Decide, false)),
    ("observe phase", || events(EventPhase::Observe, false)),
    ("around events", || around_events(false)),
    ("every event", || events(EventPhase::Transform, true)),
    ("decide phase of every event", || {
        events(EventPhase::Decide, true)
    }),
    ("around every event", || around_events(true)),
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
];

const SETS: &[(&str, New)] = &[
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
    RemoveOwner(&'static str),
    EnableOwner(&'static str, bool),
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
        prop::sample::select(&OWNERS[..]),
    );
    let row = row.prop_map(
        |(key, priority, before, after, is_enabled, is_if_absent, owner)| Row {
            key,
            priority,
            before,
            after,
            is_enabled,
            is_if_absent,
            owner,
        },
    );
    let owner = prop::sample::select(&OWNERS[..]);
    let op = prop_oneof![
        6 => row.prop_map(Op::Register),
        2 => key.clone().prop_map(Op::Remove),
        2 => (key, any::<bool>()).prop_map(|(key, is_enabled)| Op::Enable(key, is_enabled)),
        1 => owner.clone().prop_map(Op::RemoveOwner),
        1 => (owner, any::<bool>()).prop_map(|(owner, is_enabled)| Op::EnableOwner(owner, is_enabled)),
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

/// Applies the operations to a front end and its copies, and compares each with its model.
fn follow_model(
    name: &str,
    front: Box<dyn FrontEnd>,
    ops: &[(usize, Op)],
) -> Result<(), TestCaseError> {
    let log = Log::new();
    let mut fronts = vec![(front, Vec::<Row>::new())];
    for (at, op) in ops {
        let at = at % fronts.len();
        let (front, rows) = &mut fronts[at];
        match op {
            Op::Register(row) => {
                let registered = front.register(row, &log);
                let is_accepted = accept(rows, row);
                prop_assert_eq!(
                    registered.is_ok(),
                    is_accepted,
                    "{}: {:?}",
                    name,
                    registered
                );
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
            Op::RemoveOwner(owner) => {
                let before = rows.len();
                rows.retain(|row| row.owner != *owner);
                let removed = front.remove_owner(owner);
                prop_assert_eq!(removed, before - rows.len(), "{}", name);
            }
            Op::EnableOwner(owner, is_enabled) => {
                let owned = rows.iter_mut().filter(|row| row.owner == *owner);
                let owned = owned.map(|row| row.is_enabled = *is_enabled).count();
                let changed = front.enable_owner(owner, *is_enabled);
                prop_assert_eq!(changed, owned, "{}", name);
            }
            Op::Copy => {
                let copy = (front.copy(), rows.clone());
                fronts.push(copy);
            }
        }
        for (front, rows) in &fronts {
            check(&**front, rows, &log)
                .map_err(|why| TestCaseError::fail(format!("{name}: {why}")))?;
        }
    }
    Ok(())
}

/// A follower and its parent, both of which change, as a model.
#[derive(Default)]
struct Family {
    /// The rows of the parent, each with the number of its registration.
    parent: Vec<(usize, Row)>,
    own: Vec<Row>,
    /// Registrations of the parent that the follower has enabled or disabled.
    switched: BTreeMap<usize, bool>,
    /// Registrations of the parent that the follower has removed.
    removed: Vec<usize>,
}

impl Family {
    /// The rows of the follower.
    fn rows(&self) -> Vec<Row> {
        let is_covered = |row: &Row| self.own.iter().any(|own| own.key == row.key);
        let of_parent = self
            .parent
            .iter()
            .filter(|(number, row)| !is_covered(row) && !self.removed.contains(number));
        let of_parent = of_parent.map(|(number, row)| Row {
            is_enabled: *self.switched.get(number).unwrap_or(&row.is_enabled),
            ..row.clone()
        });
        of_parent.chain(self.own.iter().cloned()).collect()
    }

    fn parent_rows(&self) -> Vec<Row> {
        self.parent.iter().map(|(_, row)| row.clone()).collect()
    }
}

/// Changes a registry and its follower, and compares both with the model.
fn follow_both(name: &str, new: New, ops: &[(usize, Op)]) -> Result<(), TestCaseError> {
    let log = Log::new();
    let mut parent = new();
    let mut child = parent.child().expect("a registry");
    let mut family = Family::default();
    for (number, (at, op)) in ops.iter().enumerate() {
        match (at % 2, op) {
            (0, Op::Register(row)) => {
                let mut rows = family.parent_rows();
                let is_accepted = accept(&mut rows, row);
                let registered = parent.register(row, &log);
                prop_assert_eq!(
                    registered.is_ok(),
                    is_accepted,
                    "{}: {:?}",
                    name,
                    registered
                );
                if is_accepted {
                    let before = family.parent.iter_mut().find(|(_, old)| old.key == row.key);
                    match before {
                        Some(old) => *old = (number, row.clone()),
                        None => family.parent.push((number, row.clone())),
                    }
                }
            }
            (_, Op::Register(row)) => {
                let had_cycle = has_cycle(&family.rows());
                let mut row = row.clone();
                let named = row.before.iter_mut().chain(&mut row.after);
                named.for_each(|named| named.1 = true);
                row.is_if_absent = false;
                let registered = child.register(&row, &log);
                let mut own = family.own.clone();
                own.retain(|old| old.key != row.key);
                own.push(row.clone());
                let before = std::mem::replace(&mut family.own, own);
                let names_itself = row.named().iter().any(|(_, (key, _))| *key == row.key);
                let is_accepted = !names_itself && !has_cycle(&family.rows());
                if !had_cycle {
                    prop_assert_eq!(
                        registered.is_ok(),
                        is_accepted,
                        "{}: {:?}",
                        name,
                        registered
                    );
                }
                if registered.is_err() {
                    family.own = before;
                }
            }
            (0, Op::Remove(key)) => {
                if parent.remove(key).is_some() {
                    family.parent.retain(|(_, row)| row.key != *key);
                }
            }
            (_, Op::Remove(key)) => {
                let is_own = family.own.iter().any(|row| row.key == *key);
                if child.remove(key) == Some(true) {
                    match is_own {
                        true => family.own.retain(|row| row.key != *key),
                        false => {
                            let of_parent = family.parent.iter().filter(|(_, row)| row.key == *key);
                            family.removed.extend(of_parent.map(|(number, _)| *number));
                        }
                    }
                }
            }
            (0, Op::Enable(key, is_enabled)) => {
                parent.enable(key, *is_enabled);
                let row = family.parent.iter_mut().find(|(_, row)| row.key == *key);
                row.into_iter()
                    .for_each(|(_, row)| row.is_enabled = *is_enabled);
            }
            (_, Op::Enable(key, is_enabled)) => {
                let rows = family.rows();
                let found = rows.iter().any(|row| row.key == *key);
                prop_assert_eq!(child.enable(key, *is_enabled), found, "{}", name);
                match family.own.iter_mut().find(|row| row.key == *key) {
                    Some(row) => row.is_enabled = *is_enabled,
                    None => {
                        let removed = family.removed.clone();
                        let of_parent = family.parent.iter().filter(|(_, row)| row.key == *key);
                        let of_parent = of_parent.filter(|(number, _)| !removed.contains(number));
                        let switched = of_parent.map(|(number, _)| (*number, *is_enabled));
                        family.switched.extend(switched);
                    }
                }
            }
            _ => continue,
        }
        // A hook that both enable has no switch of the follower, so that the parent can disable it.
        let parent_rows = &family.parent;
        family.switched.retain(|number, is_enabled| {
            let row = parent_rows.iter().find(|(other, _)| other == number);
            row.is_some_and(|(_, row)| !(*is_enabled && row.is_enabled))
        });
        let fail = |why| TestCaseError::fail(format!("{name}: {why}"));
        check(&*parent, &family.parent_rows(), &log).map_err(fail)?;
        let rows = family.rows();
        let mut names = child.list();
        log.take();
        child.run();
        let mut ran = log.take();
        if !has_cycle(&rows) {
            let place = |key: &str| names.iter().position(|other| other == key);
            for (first, second) in pairs(&rows) {
                prop_assert!(
                    place(first) < place(second),
                    "{}: {} {} {:?}",
                    name,
                    first,
                    second,
                    names
                );
            }
        }
        let mut expected: Vec<_> = rows.iter().map(|row| row.key.to_owned()).collect();
        let enabled = rows.iter().filter(|row| row.is_enabled);
        let mut enabled: Vec<_> = enabled.map(|row| row.key.to_owned()).collect();
        for list in [&mut names, &mut expected, &mut enabled, &mut ran] {
            list.sort();
        }
        prop_assert_eq!(&names, &expected, "{}", name);
        prop_assert_eq!(&ran, &enabled, "{}", name);
    }
    Ok(())
}

proptest! {
    /// Each copy has its own model: what is registered, refused, removed or switched in one does not
    /// reach another, and a refusal changes nothing.
    #[test]
    fn every_front_end_follows_the_model(ops in ops()) {
        for (name, new) in REGISTRIES.iter().chain(SETS) {
            follow_model(name, new(), &ops)?;
        }
        let phase = EventPhase::Transform;
        follow_model("every event, beside others", beside_others(phase), &ops)?;
        let phase = EventPhase::Decide;
        follow_model("decide phase of every event, beside others", beside_others(phase), &ops)?;
    }

    /// A follower is like any registry, also if its hooks are inserted again after each change of its
    /// parent.
    #[test]
    fn x_15_a_follower_follows_the_model(ops in ops()) {
        for (name, new) in REGISTRIES {
            follow_model(name, FollowsChanges::of(new()), &ops)?;
        }
    }

    /// A follower of a follower has the hooks of the first registry, in their order.
    #[test]
    fn x_15_a_followed_registry_is_in_its_followers(ops in ops()) {
        for (name, new) in REGISTRIES {
            follow_model(name, Followed::of(new()), &ops)?;
        }
    }

    /// A follower has the hooks of its parent, with its own changes.
    #[test]
    fn x_15_a_follower_and_its_parent_change(ops in ops()) {
        for (name, new) in REGISTRIES {
            follow_both(name, *new, &ops)?;
        }
    }
}
