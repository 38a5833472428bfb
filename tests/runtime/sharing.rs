//! Copies of an event's data: hooks read the data in place, and a change does not copy other fields
//! (`E-22`, `E-25`, `E-37`).

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_runtime::{
    Action, Event, EventHook, HookError, HookRegistry, HookResult, Map, RegisterOptions,
};
use serde_json::{Value, json};

fn object(value: Value) -> Map {
    value.as_object().expect("braces make an object").clone()
}

/// Returns the address of a text of the data.
fn address(data: &Map, field: &str) -> *const u8 {
    data[field].as_str().expect("the field is a text").as_ptr()
}

fn set(registry: &HookRegistry, field: &'static str, value: i32) {
    registry.register(
        "e",
        move |_: Event<'_>| HookResult::set(field, value),
        RegisterOptions::new(),
    );
}

fn emit(registry: &HookRegistry, data: Arc<Map>) -> hooks_runtime::Emission {
    block_on(registry.emit("e", data)).expect("the data are an object")
}

#[test]
fn e_25_unshared_data_are_changed_in_place() {
    let registry = HookRegistry::new();
    set(&registry, "a", 1);
    set(&registry, "b", 2);
    let data = Arc::new(object(json!({"a": 0, "text": "long"})));
    let (map, text) = (Arc::as_ptr(&data), address(&data, "text"));
    let emission = emit(&registry, data);
    assert_eq!(
        *emission.data,
        object(json!({"a": 1, "text": "long", "b": 2}))
    );
    assert_eq!(Arc::as_ptr(&emission.data), map, "the map is the same");
    assert_eq!(address(&emission.data, "text"), text, "so is its text");
}

#[test]
fn e_37_shared_data_of_the_caller_are_not_changed() {
    let registry = HookRegistry::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    set(&registry, "a", 1);
    let watch = Arc::clone(&seen);
    registry.register(
        "e",
        move |event: Event<'_>| {
            let text = event.str("text").expect("it is there").as_ptr().addr();
            let fields = ["a", "b", "none"].map(|field| event.get(field).cloned());
            watch.lock().unwrap().push((text, fields));
            HookResult::set("b", 3)
        },
        RegisterOptions::new(),
    );
    let kept = Arc::new(object(json!({"a": 0, "b": 0, "text": "long"})));
    let emission = emit(&registry, Arc::clone(&kept));
    assert_eq!(*kept, object(json!({"a": 0, "b": 0, "text": "long"})));
    assert_eq!(
        *emission.data,
        object(json!({"a": 1, "b": 3, "text": "long"}))
    );
    let seen = seen.lock().unwrap();
    let [(text, fields)] = &**seen else {
        panic!("the hook ran once");
    };
    assert_eq!(
        *text,
        address(&kept, "text").addr(),
        "nothing was copied for the hook"
    );
    assert_eq!(*fields, [Some(json!(1)), Some(json!(0)), None]);
}

#[test]
fn e_20_unchanged_data_are_returned_as_the_same_arc() {
    let registry = HookRegistry::new();
    let look = |_: Arc<str>, data: Arc<Map>| {
        assert_eq!(data["a"], 0);
        HookResult::proceed()
    };
    registry.register("e", look, RegisterOptions::new());
    registry.register(
        "e",
        async |_: Arc<str>, _: Arc<Map>| HookResult::proceed(),
        RegisterOptions::new(),
    );
    let kept = Arc::new(object(json!({"a": 0})));
    let emission = emit(&registry, Arc::clone(&kept));
    assert!(Arc::ptr_eq(&emission.data, &kept));
}

#[test]
fn e_22_all_kinds_of_hook_see_defaults_absent_from_the_callers_data() {
    let registry = HookRegistry::new();
    registry.set_default_fields(object(
        json!({"a": "default", "b": "default", "c": "default"}),
    ));
    let seen = Arc::new(Mutex::new(Vec::new()));

    struct RecordFields(Arc<Mutex<Vec<Value>>>);
    impl EventHook for RecordFields {
        async fn call(&self, event: Event<'_>) -> Result<HookResult, HookError> {
            let fields = ["a", "b", "c"].map(|field| event.get(field).cloned());
            self.0.lock().unwrap().push(json!(fields));
            Ok(HookResult::proceed())
        }
    }
    registry.register("e", RecordFields(Arc::clone(&seen)), RegisterOptions::new());
    set(&registry, "c", 3);
    let watch = Arc::clone(&seen);
    let shared = move |_: Arc<str>, data: Arc<Map>| {
        watch.lock().unwrap().push(Value::Object(Map::clone(&data)));
        HookResult::proceed()
    };
    registry.register("e", shared, RegisterOptions::new());
    let kept = Arc::new(object(json!({"a": "own", "b": null})));
    let emission = emit(&registry, Arc::clone(&kept));
    assert_eq!(*kept, object(json!({"a": "own", "b": null})));
    let complete = json!({"a": "own", "b": null, "c": 3});
    assert_eq!(*emission.data, object(complete.clone()));
    assert_eq!(
        *seen.lock().unwrap(),
        [json!(["own", null, "default"]), complete]
    );
    // Also without a hook.
    let emission = block_on(registry.emit("other", Arc::clone(&kept))).unwrap();
    assert_eq!(emission.data["c"], "default");
    assert!(!kept.contains_key("c"));
}

#[test]
fn e_25_single_fields_can_be_set_after_modify_replaces_all_data() {
    let registry = HookRegistry::new();
    registry.set_default_fields(object(json!({"d": 1})));
    let replace = |_: Arc<str>, _: Arc<Map>| {
        HookResult::modify(object(json!({"new": 1, "other": 1}))).and_set("other", 2)
    };
    registry.register("e", replace, RegisterOptions::new());
    set(&registry, "more", 3);
    let emission = emit(&registry, Arc::new(object(json!({"old": 0}))));
    assert_eq!(emission.action, Action::Modify);
    assert_eq!(
        *emission.data,
        object(json!({"new": 1, "other": 2, "more": 3}))
    );
}

#[test]
fn e_37_a_map_kept_by_a_hook_is_not_changed_by_later_hooks() {
    let registry = HookRegistry::new();
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let hold = move |_: Arc<str>, data: Arc<Map>| {
        *keep.lock().unwrap() = Some(data);
        HookResult::proceed()
    };
    registry.register("e", hold, RegisterOptions::new());
    set(&registry, "a", 1);
    set(&registry, "a", 2);
    let emission = emit(&registry, Arc::new(object(json!({"a": 0}))));
    assert_eq!(emission.data["a"], 2);
    assert_eq!(kept.lock().unwrap().as_ref().unwrap()["a"], 0);
}

#[test]
fn the_last_of_several_changes_of_a_field_applies() {
    let result = HookResult::set("a", 1).and_set("b", 2).and_set("a", 3);
    let changes: Vec<_> = result.changes.iter().collect();
    assert_eq!(changes, [("a", &json!(3)), ("b", &json!(2))]);
    let registry = HookRegistry::new();
    registry.register(
        "e",
        move |_: Event<'_>| result.clone(),
        RegisterOptions::new(),
    );
    let emission = emit(&registry, Arc::default());
    assert_eq!(*emission.data, object(json!({"a": 3, "b": 2})));
    // In JSON they are a separate object, which is parsed again.
    let result = HookResult::set("a", 1).and_set("b", 2);
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!(json["changes"], json!({"a": 1, "b": 2}));
    assert_eq!(serde_json::from_value::<HookResult>(json).unwrap(), result);
}

#[test]
fn e_35_the_decision_is_the_output_of_the_deciding_hook() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        |_: Event<'_>| HookResult::set("a", 1).reason("first"),
        RegisterOptions::new().name("first"),
    );
    registry.register(
        "e",
        |_: Event<'_>| HookResult::set("a", 2),
        RegisterOptions::new().name("second"),
    );
    let emission = emit(&registry, Arc::default());
    assert_eq!(emission.decided_by.as_deref(), Some("second"));
    assert_eq!(emission.reason(), None);
}

#[test]
fn the_debug_output_of_an_event_contains_name_and_data() {
    let registry = HookRegistry::new();
    registry.register(
        "e",
        |event: Event<'_>| HookResult::deny(format!("{event:?}")),
        RegisterOptions::new(),
    );
    let emission = emit(&registry, Arc::new(object(json!({"a": 1}))));
    let shown = emission.reason().unwrap();
    assert!(
        shown.contains(r#"name: "e""#) && shown.contains('a'),
        "{shown}"
    );
}
