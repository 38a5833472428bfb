//! `RequestExtensions`: typed values of one request over those of the application (T-74).

use futures::executor::block_on;
use hooks_core::{RequestExtensions, hooks, impl_hooks};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tenant(&'static str);

/// Not `Clone`.
#[derive(Debug, PartialEq, Eq)]
struct Budget(u32);

/// T-74: a new map is empty
#[test]
fn a_new_map_has_no_value_of_any_type() {
    for map in [RequestExtensions::new(), RequestExtensions::default()] {
        assert_eq!(map.get::<Tenant>(), None);
        assert!(!map.contains::<Tenant>());
        assert!(map.is_empty());
    }
}

/// T-74: values are found by their type
#[test]
fn a_value_is_found_only_by_its_type() {
    let mut map = RequestExtensions::new();
    assert!(map.insert(Tenant("eu")).is_none());
    assert!(map.insert(Budget(7)).is_none());
    assert_eq!(map.get(), Some(&Tenant("eu")));
    assert_eq!(map.get(), Some(&Budget(7)));
    assert_eq!(map.get::<u32>(), None);
    assert!(map.contains::<Budget>() && !map.contains::<u32>() && !map.is_empty());
}

/// T-74: at most one value of a type
#[test]
fn inserting_a_type_again_replaces_the_value_and_returns_the_old_one() {
    let mut map = RequestExtensions::new();
    map.insert(Budget(1));
    assert_eq!(map.insert(Budget(2)).as_deref(), Some(&Budget(1)));
    assert_eq!(map.get(), Some(&Budget(2)));
}

/// T-74: `.ext(v)` for builder chains
#[test]
fn ext_adds_a_value_in_a_builder_chain() {
    let map = RequestExtensions::new()
        .ext(Tenant("a"))
        .ext(Budget(1))
        .ext(Tenant("b"));
    assert_eq!(map.get(), Some(&Tenant("b")));
    assert_eq!(map.get(), Some(&Budget(1)));
}

/// T-74: `.extensions(map)` adds a whole map; the added one wins
#[test]
fn extensions_adds_all_values_of_another_map_and_overrides() {
    let more = RequestExtensions::new().ext(Tenant("more")).ext(7_u8);
    let map = RequestExtensions::new()
        .ext(Tenant("first"))
        .ext(Budget(1))
        .extensions(more);
    assert_eq!(map.get(), Some(&Tenant("more")));
    assert_eq!(map.get(), Some(&Budget(1)));
    assert_eq!(map.get(), Some(&7_u8));
}

/// T-74: `extend` is `extensions` in place
#[test]
fn extend_adds_all_values_in_place() {
    let mut map = RequestExtensions::new().ext(Tenant("first")).ext(Budget(1));
    map.extend(RequestExtensions::new().ext(Tenant("more")));
    assert_eq!(map.get(), Some(&Tenant("more")));
    assert_eq!(map.get(), Some(&Budget(1)));
}

/// T-74, original test: request overrides defaults
#[test]
fn a_value_of_the_request_overrides_the_default_of_its_type() {
    let defaults = RequestExtensions::new()
        .ext(Tenant("default"))
        .ext(Budget(42));
    let request = RequestExtensions::new()
        .ext(Tenant("request"))
        .with_defaults(&defaults);
    assert_eq!(request.get(), Some(&Tenant("request")));
    assert_eq!(
        defaults.get(),
        Some(&Tenant("default")),
        "the defaults are as they were"
    );
}

/// T-74, original test: a default applies if the request has no value
#[test]
fn a_default_is_returned_if_the_request_has_no_value() {
    let defaults = RequestExtensions::new()
        .ext(Tenant("default"))
        .ext(Budget(42));
    let request = RequestExtensions::new()
        .ext(Tenant("request"))
        .with_defaults(&defaults);
    assert_eq!(request.get(), Some(&Budget(42)));
    assert!(request.contains::<Budget>());
    assert!(!RequestExtensions::new().with_defaults(&defaults).is_empty());
}

/// T-74: any number of layers, the nearest wins
#[test]
fn the_nearest_layer_of_defaults_wins() {
    let far = RequestExtensions::new()
        .ext(Tenant("far"))
        .ext(Budget(1))
        .ext(1_u8);
    let near = RequestExtensions::new()
        .ext(Tenant("near"))
        .ext(Budget(2))
        .with_defaults(&far);
    let request = RequestExtensions::new()
        .ext(Tenant("request"))
        .with_defaults(&near);
    assert_eq!(request.get(), Some(&Tenant("request")));
    assert_eq!(request.get(), Some(&Budget(2)));
    assert_eq!(request.get(), Some(&1_u8));

    let request = RequestExtensions::new()
        .with_defaults(&RequestExtensions::new().ext(Budget(2)))
        .with_defaults(&RequestExtensions::new().ext(Budget(1)).ext(1_u8));
    assert_eq!(
        request.get(),
        Some(&Budget(2)),
        "later defaults are below the earlier ones"
    );
    assert_eq!(request.get(), Some(&1_u8));
}

/// T-74: one request cannot change the defaults of the next
#[test]
fn insert_and_remove_on_a_request_do_not_change_the_defaults() {
    let defaults = RequestExtensions::new()
        .ext(Tenant("default"))
        .ext(Budget(42));
    let mut request = RequestExtensions::new().with_defaults(&defaults);
    assert!(
        request.insert(Tenant("request")).is_none(),
        "it replaced nothing of its own"
    );
    assert_eq!(request.get(), Some(&Tenant("request")));
    assert_eq!(defaults.get(), Some(&Tenant("default")));
    assert_eq!(
        request.remove::<Tenant>().as_deref(),
        Some(&Tenant("request"))
    );
    assert_eq!(
        request.get(),
        Some(&Tenant("default")),
        "the default shows again"
    );
    assert!(
        request.remove::<Budget>().is_none(),
        "a default is not the request's to remove"
    );
    assert_eq!(request.get(), Some(&Budget(42)));
}

/// T-74: a clone is a separate map
#[test]
fn changes_of_a_map_do_not_affect_its_clones() {
    let mut map = RequestExtensions::new().ext(Budget(1));
    let mut clone = map.clone();
    clone.insert(Budget(2));
    map.insert(Tenant("map"));
    assert_eq!(map.get(), Some(&Budget(1)));
    assert_eq!(clone.get(), Some(&Budget(2)));
    assert_eq!(clone.get::<Tenant>(), None);
}

/// T-74: opaque: printing shows no value
#[test]
fn debug_output_of_a_map_does_not_contain_its_values() {
    let text = format!(
        "{:?}",
        RequestExtensions::new().ext(Tenant("secret-tenant"))
    );
    assert!(!text.contains("secret-tenant"), "{text}");
    assert!(text.contains("Tenant"), "{text}");
}

#[hooks]
trait Estimates {
    #[hook(singleton)]
    async fn estimate(extensions: &RequestExtensions) -> u32 {
        extensions.get::<Budget>().map_or(0, |budget| budget.0)
    }
}

struct Doubles;

#[impl_hooks(EstimatesSet)]
impl Estimates for Doubles {
    async fn estimate(&self, extensions: &RequestExtensions) -> u32 {
        extensions.get::<Budget>().map_or(0, |budget| budget.0 * 2)
    }
}

/// T-74: hooks and defaults read values by type
#[test]
fn hooks_and_defaults_can_read_the_values_of_the_request() {
    let defaults = RequestExtensions::new().ext(Budget(42));
    let request = RequestExtensions::new()
        .ext(Budget(7))
        .with_defaults(&defaults);
    let set = EstimatesSet::new();
    assert_eq!(block_on(set.estimate(&RequestExtensions::new())), 0);
    assert_eq!(block_on(set.estimate(&defaults)), 42);
    assert_eq!(block_on(set.estimate(&request)), 7);
    assert_eq!(block_on(set.with_hooks(Doubles).estimate(&request)), 14);
}

/// T-74, T-51: a map is `Send` and `Sync`
#[cfg(not(hooks_single_threaded))]
#[test]
fn a_map_can_be_sent_and_shared_between_threads() {
    let map = RequestExtensions::new().ext(Budget(7));
    let seen = std::thread::scope(|scope| {
        scope
            .spawn(|| map.get::<Budget>().map(|budget| budget.0))
            .join()
            .unwrap()
    });
    assert_eq!(seen, Some(7));
}
