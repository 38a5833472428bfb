//! Values with hooks in several slots, registered as one entry: a key, an order, a condition and a
//! switch for all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_core::{
    BoxHook, Entry, FailurePolicy, Next, RegistrationError, hooks, impl_hooks, run_now,
};

use crate::kit::panics;

type Names = Vec<&'static str>;

mod nested {
    use super::Names;
    use hooks_core::hooks;

    #[hooks]
    pub(crate) trait NestedHooks {
        #[hook(always)]
        async fn nested() -> Names {
            vec!["default"]
        }
    }
}
use nested::NestedHooksSet;

#[hooks]
#[nested_hooks(more = NestedHooksSet)]
trait AppHooks {
    #[hook(always, around)]
    async fn first() -> Names {
        vec!["default"]
    }

    #[hook(always, sync)]
    fn second() -> Names {
        vec!["default"]
    }

    #[hook(singleton)]
    async fn third() -> Names {
        vec!["default"]
    }
}

fn and(last: Option<Names>, name: &'static str) -> Names {
    let mut names = last.unwrap_or_default();
    names.push(name);
    names
}

struct Plugin(&'static str);

#[impl_hooks(AppHooksSet)]
impl AppHooks for Plugin {
    async fn first(&self, last: Option<Names>) -> Names {
        and(last, self.0)
    }

    fn second(&self, last: Option<Names>) -> Names {
        and(last, self.0)
    }
}

/// Has a hook of the singleton, too.
struct Whole;

#[impl_hooks(AppHooksSet)]
impl AppHooks for Whole {
    fn second(&self, last: Option<Names>) -> Names {
        and(last, "whole")
    }

    async fn third(&self) -> Names {
        vec!["whole"]
    }
}

fn names(set: &AppHooksSet<'_>) -> [String; 2] {
    [run_now(set.first()).unwrap(), set.second()].map(|names| names[1..].join(" "))
}

#[test]
fn t_66_an_entry_gives_its_options_to_each_hook() {
    let set = AppHooksSet::new()
        .with_hooks(Plugin("b"))
        .with_hooks(
            Entry::new(Plugin("a"))
                .priority(-1)
                .key("a")
                .name("the first"),
        )
        .with_hooks(Entry::new(Plugin("c")).before("a"));
    assert_eq!(names(&set), ["c a b", "c a b"]);
    let description = set.describe();
    for slot in &description.slots[..2] {
        let entries = slot
            .entries
            .iter()
            .map(|entry| (entry.key.as_deref(), &*entry.name));
        let entries: Vec<_> = entries.collect();
        let plugin = (None, "Plugin");
        assert_eq!(
            entries,
            [plugin, (Some("a"), "the first"), plugin],
            "{slot:?}"
        );
    }
    // Each registration has an id of its own.
    let mut set = set;
    let mut ids: Vec<_> = set.first_mut().iter().map(|meta| meta.id()).collect();
    ids.extend(set.second_mut().iter().map(|meta| meta.id()));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[test]
fn t_66_a_key_switches_and_removes_all_hooks() {
    let around = async |next: Next<'_, dyn First>| {
        let mut names = next.call(()).await;
        names.push("around");
        names
    };
    let mut set = AppHooksSet::new()
        .with_hooks(Entry::new(Plugin("a")).key("plugin"))
        .with_hooks(Plugin("b"))
        .with_first_around(Entry::new(around).key("plugin"))
        .with_more(
            NestedHooksSet::new()
                .with_nested(Entry::new(async |last: Option<Names>| and(last, "n")).key("nested")),
        );
    assert_eq!(names(&set), ["a b around", "a b"]);
    assert!(set.set_enabled("plugin", false));
    assert_eq!(names(&set), ["b", "b"]);
    assert!(set.set_enabled("plugin", true));
    assert!(set.remove_hooks("plugin"));
    assert_eq!(names(&set), ["b", "b"]);
    assert!(!set.remove_hooks("plugin"));
    assert!(!set.set_enabled("plugin", true));
    assert!(set.set_enabled("nested", false));
    assert_eq!(run_now(set.more.nested()).unwrap(), ["default"]);
    assert!(set.remove_hooks("nested"));
    assert!(!set.remove_hooks("nested"));
}

#[test]
fn t_66_an_equal_key_replaces_the_hooks_in_their_places() {
    let set = AppHooksSet::new()
        .with_hooks(Entry::new(Plugin("old")).key("plugin"))
        .with_hooks(Plugin("b"))
        .with_hooks(Entry::new(Plugin("new")).key("plugin"));
    assert_eq!(names(&set), ["new b", "new b"]);
}

#[test]
fn t_66_a_condition_holds_for_all_hooks_in_every_form_of_the_value() {
    let is_on = Arc::new(AtomicBool::new(true));
    let when = || {
        let is_on = Arc::clone(&is_on);
        move || is_on.load(Ordering::SeqCst)
    };
    let borrowed = Plugin("borrowed");
    let neither = Arc::new(Plugin("neither"));
    let set = AppHooksSet::new()
        .with_hooks(Entry::new(Plugin("owned")).when(when()))
        .with_hooks(
            Entry::new(Arc::new(Plugin("shared")))
                .when(when())
                .key("shared"),
        )
        .with_hooks(Entry::new(&borrowed).when(when()))
        .with_hooks(Entry::new(Arc::new(Arc::new(Plugin("twice")))).when(when()))
        .with_hooks(Entry::new(Plugin("both")).when(when()).when(|| true))
        .with_hooks(Entry::new(Plugin("never")).when(when()).when(|| false))
        .with_hooks(Entry::new(&neither).when(|| false))
        .with_hooks(Arc::new(Plugin("always")));
    let all = "owned shared borrowed twice both always";
    assert_eq!(names(&set), [all, all]);
    is_on.store(false, Ordering::SeqCst);
    assert_eq!(names(&set), ["always", "always"]);
}

#[test]
fn t_66_an_entry_that_one_slot_refuses_is_in_none() {
    let mut set = AppHooksSet::new().with_hooks(Entry::new(Plugin("a")).key("a"));
    // The singleton has one hook, so that nothing can run before it.
    let refused = set.try_register_hooks(Entry::new(Whole).after("a"));
    assert!(
        matches!(refused, Err(RegistrationError::InvalidOption { .. })),
        "{refused:?}"
    );
    let refused = set.try_register_hooks(Entry::new(Plugin("b")).before("unknown"));
    assert!(
        matches!(&refused, Err(RegistrationError::UnknownKey { key, .. }) if key == "unknown"),
        "{refused:?}"
    );
    let isolated = Entry::new(Plugin("b")).on_failure(FailurePolicy::Isolate);
    assert!(set.try_register_hooks(isolated).is_err());
    let nested = Entry::new(Entry::new(Plugin("b")));
    assert!(set.try_register_hooks(nested).is_err());
    let shared = Arc::new(Entry::new(Plugin("b")));
    assert!(set.try_register_hooks(shared).is_err());
    assert_eq!(names(&set), ["a", "a"]);
    assert_eq!(run_now(set.third()).unwrap(), ["default"]);
    assert_eq!(set.describe().slots[1].entries.len(), 1);
    let message = panics(async {
        let _ = AppHooksSet::new().with_hooks(Entry::new(Plugin("b")).before("unknown"));
    });
    assert!(message.contains("unknown"), "{message}");
    // Without the constraint it is registered.
    set.try_register_hooks(Entry::new(Whole).key("w")).unwrap();
    assert_eq!(names(&set), ["a", "a whole"]);
}

#[test]
fn t_66_registrations_are_read_behind_a_shared_reference() {
    let set = AppHooksSet::new();
    assert!(set.second_ref().is_empty() && !set.second_ref().has_enabled());
    let set = set.with_hooks(Entry::new(Plugin("a")).key("a").enabled(false));
    let read = set.second_ref();
    assert_eq!(
        (read.len(), read.is_empty(), read.has_enabled()),
        (1, false, false)
    );
    assert_eq!(read.get("a").map(|meta| meta.is_enabled()), Some(false));
    assert!(read.get("b").is_none());
    let set = set.with_hooks(Plugin("b"));
    assert!(set.first_ref().has_enabled());
    let keys: Vec<_> = set.first_ref().iter().map(|meta| meta.key()).collect();
    assert_eq!(keys, [Some("a"), None]);
}

#[test]
fn t_66_hooks_of_different_types_are_in_one_list() {
    let borrowed = String::from("borrowed");
    let hooks = [
        BoxHook::<dyn Second>::new(|last: Option<Names>| and(last, "closure")),
        BoxHook::<dyn Second>::new(
            Entry::new(|last: Option<Names>| and(last, "first"))
                .priority(-1)
                .key("k"),
        ),
        BoxHook::<dyn Second>::new(|last: Option<Names>| {
            assert_eq!(borrowed, "borrowed");
            and(last, "third")
        }),
    ];
    assert_eq!(hooks[1].meta().key(), Some("k"));
    let mut set = hooks
        .iter()
        .cloned()
        .fold(AppHooksSet::new(), AppHooksSet::with_second);
    assert_eq!(set.second(), ["default", "first", "closure", "third"]);
    assert!(set.second_mut().remove("k"));
    assert_eq!(set.second(), ["default", "closure", "third"]);
    let again = hooks
        .into_iter()
        .fold(AppHooksSet::new(), AppHooksSet::with_second);
    assert_eq!(again.second().len(), 4);
}

#[test]
fn t_66_the_options_go_with_copies_and_extensions() {
    let is_on = Arc::new(AtomicBool::new(true));
    let when = {
        let is_on = Arc::clone(&is_on);
        move || is_on.load(Ordering::SeqCst)
    };
    let other = AppHooksSet::new().with_hooks(Entry::new(Plugin("a")).key("a").when(when));
    let mut set = AppHooksSet::new()
        .with_hooks(Plugin("b"))
        .with_extended(other.clone());
    assert_eq!(names(&set), ["b a", "b a"]);
    is_on.store(false, Ordering::SeqCst);
    assert_eq!(names(&set), ["b", "b"]);
    is_on.store(true, Ordering::SeqCst);
    let copy = set.for_call(|set| assert!(set.set_enabled("a", false)));
    assert_eq!(names(&copy), ["b", "b"]);
    assert_eq!(names(&set), ["b a", "b a"]);
    assert!(set.remove_hooks("a"));
    assert_eq!(names(&set), ["b", "b"]);
    assert_eq!(names(&other), ["a", "a"]);
}

#[test]
fn t_66_a_plugin_names_another_that_is_not_there_yet() {
    let set = AppHooksSet::new()
        .with_hooks(Entry::new(Plugin("late")).after_if_present("a"))
        .with_hooks(Entry::new(Whole).key("w").before_if_present("a"))
        .with_hooks(Entry::new(Plugin("a")).key("a").priority(3));
    assert_eq!(names(&set), ["a late", "whole a late"]);
}

#[test]
fn x_12_everything_of_an_owner_is_removed_and_disabled_in_all_slots() {
    let named = |name: &'static str| Entry::new(Plugin(name)).owner(name);
    let closure = |name| move |last: Option<Names>| and(last, name);
    let mut set = AppHooksSet::new()
        .with_hooks(named("a").key("a"))
        .with_hooks(named("b"))
        .with_hooks(Plugin("host"));
    set.register_second(Entry::new(closure("a2")).owner("a"));
    let mut nested = NestedHooksSet::new();
    nested.register_nested(Entry::new(async |_: Option<Names>| vec!["nested"]).owner("a"));
    set.more.extend(nested);
    let around = async |next: Next<'_, dyn First>| and(Some(next.call(()).await), "around");
    set.first_around_mut()
        .register(Entry::new(around).owner("a"));
    let before = names(&set);
    assert_eq!(before, ["a b host around", "a b host a2"]);
    assert_eq!(run_now(set.more.nested()).unwrap(), ["nested"]);

    let copy = set.for_call(|set| assert_eq!(set.set_owner_enabled("a", false), 5));
    assert_eq!(names(&copy), ["b host", "b host"]);
    assert_eq!(run_now(copy.more.nested()).unwrap(), ["default"]);
    assert_eq!(names(&set), before);
    assert_eq!(set.second_mut().set_owner_enabled("a", false), 2);
    assert_eq!(names(&set), ["a b host around", "b host"]);
    assert_eq!(set.set_owner_enabled("a", true), 5);
    assert_eq!(names(&set), before);

    assert_eq!(
        set.describe().slots[0].entries[0].owner.as_deref(),
        Some("a")
    );
    assert!(
        set.describe().to_string().contains("of a"),
        "{}",
        set.describe()
    );
    assert_eq!(set.remove_owner("a"), 5);
    assert_eq!(set.remove_owner("a"), 0);
    assert_eq!(names(&set), ["b host", "b host"]);
    assert_eq!(set.first_mut().remove_owner("b"), 1);
    assert_eq!(names(&set), ["host", "b host"]);
    assert_eq!(set.set_owner_enabled("unknown", false), 0);
    // An owner is no key: another entry of the owner replaces nothing.
    let set = set.with_hooks(named("b"));
    assert_eq!(names(&set), ["host b", "b host b"]);
}

#[test]
fn t_66_a_plugin_is_registered_only_if_its_key_is_free() {
    let once = |name| Entry::new(Plugin(name)).key("plugin").if_absent();
    let mut set = AppHooksSet::new().with_hooks(once("a"));
    let refused = set.try_register_hooks(once("b"));
    assert!(
        matches!(&refused, Err(RegistrationError::TakenKey { key, .. }) if key == "plugin"),
        "{refused:?}"
    );
    assert_eq!(names(&set), ["a", "a"]);
    // The same in an extension, which then changes nothing.
    let other = || {
        AppHooksSet::new()
            .with_hooks(Plugin("x"))
            .with_hooks(once("b"))
    };
    assert!(set.try_extend(other()).is_err());
    assert_eq!(names(&set), ["a", "a"]);
    assert!(set.remove_hooks("plugin"));
    set.try_extend(other()).unwrap();
    assert_eq!(names(&set), ["x b", "x b"]);
    // Another entry replaces it.
    let set = set.with_hooks(Entry::new(Plugin("c")).key("plugin"));
    assert_eq!(names(&set), ["x c", "x c"]);

    // A singleton has one place.
    let third = |name: &'static str| Entry::new(move || std::future::ready(vec![name])).if_absent();
    let mut set = AppHooksSet::new();
    set.third_mut().try_register(third("first")).unwrap();
    assert!(set.third_mut().try_register(third("second")).is_err());
    let mut other = AppHooksSet::new();
    other.third_mut().try_register(third("second")).unwrap();
    assert!(set.clone().try_extend(other.clone()).is_err());
    assert_eq!(run_now(set.third()).unwrap(), ["first"]);
    assert!(AppHooksSet::new().try_extend(other).is_ok());
}
