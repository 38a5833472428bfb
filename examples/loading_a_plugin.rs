//! How does a program load a plugin from another crate, by name, while it runs?
//!
//! The crate of the plugin (`examples/plugin`) knows the framework and nothing of this program.
//! It is linked in, and does nothing until the program registers it: a table from names to
//! registration functions says what there is, the user's configuration says what of it runs,
//! and the registrations that come back take it out again.
//!
//! Why linked in, and not a shared library that is opened at run time (`dlopen`)? Rust promises
//! no binary interface: the layout of a `HookRegistry`, of an `Arc` or a trait object may differ
//! with the compiler's version, its flags and the features of any dependency, and nothing
//! checks that both sides agree. Opening one is `unsafe`, and a difference is undefined
//! behaviour, not an error. Code that comes when the program is built already has two ways in,
//! both with a border that is checked: a program of its own (`CommandHook`), and JavaScript in
//! a sandbox (`hooks-script`).

use hooks_example_plugin as quota;
use hooks_runtime::{Action, HookRegistry, Map, Registration};
use serde_json::{Value, json};

/// What every plugin provides.
type Register = fn(&HookRegistry, &Map) -> Result<Vec<Registration>, String>;

/// The plugins that this program was built with.
const PLUGINS: &[(&str, Register)] = &[(quota::NAME, quota::register)];

/// Registers the plugin of this name.
fn load(hooks: &HookRegistry, name: &str, config: &Map) -> Result<Vec<Registration>, String> {
    let Some((_, register)) = PLUGINS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = PLUGINS.iter().map(|(known, _)| *known).collect();
        let known = known.join("`, `");
        return Err(format!("there is no plugin `{name}`; there is `{known}`"));
    };
    register(hooks, config).map_err(|error| format!("plugin `{name}` is not loaded: {error}"))
}

/// A call of a tool, as far as the hooks are concerned.
async fn call(hooks: &HookRegistry, tool: &str) {
    let emission = hooks
        .emit(HookRegistry::TOOL_PRE, json!({"tool_name": tool}))
        .await
        .expect("the data are an object");
    match emission.action {
        Action::Deny => println!("{tool}: {}", emission.reason().unwrap_or("denied")),
        _ => println!("{tool}: runs"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = HookRegistry::new();
    // What a user would have in a file.
    let config = json!({"qouta": {}, "quota": {"calls": 2}});
    let mut loaded = Vec::new();
    for (name, config) in config.as_object().into_iter().flatten() {
        let config = config.as_object().cloned().unwrap_or_default();
        match load(&hooks, name, &config) {
            Ok(registrations) => {
                println!("{name}: {} hooks", registrations.len());
                loaded.push((name, registrations));
            }
            Err(error) => println!("{error}"),
        }
    }
    let wrong = Map::from_iter([("calls".to_owned(), json!(0))]);
    println!("{}", load(&hooks, quota::NAME, &wrong).unwrap_err());

    let emission = hooks.emit(HookRegistry::PROMPT_SUBMIT, json!({"prompt": "  hi \n"}));
    let prompt = emission.await.expect("an object").data["prompt"].clone();
    assert_eq!(prompt, Value::from("hi"));

    for tool in ["read_file", "read_file", "write_to_file"] {
        call(&hooks, tool).await;
    }

    // Unloaded, while the program goes on.
    for (name, registrations) in loaded {
        let removed = registrations.iter().filter(|hook| hook.unregister());
        println!("{name}: {} hooks removed", removed.count());
    }
    call(&hooks, "write_to_file").await;
    assert!(hooks.list_handlers(None).values().all(Vec::is_empty));
}
