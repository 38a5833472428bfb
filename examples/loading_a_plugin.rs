//! How does a running program load a plugin from another crate by name?
//!
//! The plugin's crate (`examples/plugin`) depends on the framework, not on this program. It is
//! linked in and inactive until the program registers it. A table maps names to registration
//! functions, the user's configuration selects plugins, and the returned registrations unload
//! them.
//!
//! Why is it linked in, instead of a shared library that is opened at run time (`dlopen`)? Rust has
//! no stable binary interface: the layout of a `HookRegistry`, an `Arc` or a trait object may
//! depend on the compiler's version, its flags and the features of any dependency, and nothing
//! checks that both sides agree. Opening such a library is `unsafe`, and a mismatch is undefined
//! behaviour rather than an error. Code that is not known at build time can be attached in two ways
//! with a checked boundary: a separate program (`CommandHook`), and JavaScript in a sandbox
//! (`hooks-script`).

use hooks_example_plugin as quota;
use hooks_runtime::{Action, HookRegistry, Map, Registration};
use serde_json::{Value, json};

/// Registration function of every plugin.
type Register = fn(&HookRegistry, &Map) -> Result<Vec<Registration>, String>;

/// Plugins that this program was built with.
const PLUGINS: &[(&str, Register)] = &[(quota::NAME, quota::register)];

/// Registers the plugin of this name.
fn load(hooks: &HookRegistry, name: &str, config: &Map) -> Result<Vec<Registration>, String> {
    let Some((_, register)) = PLUGINS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = PLUGINS.iter().map(|(known, _)| *known).collect();
        let known = known.join("`, `");
        return Err(format!("unknown plugin `{name}`; use `{known}`"));
    };
    register(hooks, config).map_err(|error| format!("cannot load the plugin `{name}`: {error}"))
}

/// A tool call, reduced to the event that hooks see.
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
    // A user would have this in a file.
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

    // Unloads the plugins while the program runs.
    for (name, registrations) in loaded {
        let removed = registrations.iter().filter(|hook| hook.unregister());
        println!("{name}: {} hooks removed", removed.count());
    }
    call(&hooks, "write_to_file").await;
    assert!(hooks.list_handlers(None).values().all(Vec::is_empty));
}
