//! How do plugins that name each other load in any order?
//!
//! A plugin names the key of another plugin with `before_if_present` or `after_if_present`. The order
//! holds while the other plugin is registered, whichever comes first; without it, there is nothing to
//! order. Here, plugins register for an event. Entries of typed sets have the same options.

use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};

type Plugin = fn(&HookRegistry);

/// Records what is written, and has to see the text before it is formatted.
fn audit(hooks: &HookRegistry) {
    let options = RegisterOptions::new()
        .key("audit")
        .before_if_present("format");
    hooks.register(
        "file:write",
        |event: Event<'_>| {
            println!("audit: {}", event.str("text").unwrap_or_default());
            HookResult::proceed()
        },
        options.name("audit"),
    );
}

fn format(hooks: &HookRegistry) {
    hooks.register(
        "file:write",
        |event: Event<'_>| {
            let text = event.str("text").unwrap_or_default().trim().to_owned();
            HookResult::set("text", text)
        },
        RegisterOptions::new().key("format").name("format"),
    );
}

/// Signs the formatted text.
fn sign(hooks: &HookRegistry) {
    let options = RegisterOptions::new()
        .key("sign")
        .after_if_present("format");
    hooks.register(
        "file:write",
        |event: Event<'_>| {
            let text = event.str("text").unwrap_or_default();
            HookResult::set("text", format!("{text} (signed)"))
        },
        options.name("sign"),
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orders: [&[Plugin]; 4] = [
        &[audit, format, sign],
        &[sign, format, audit],
        &[format, sign, audit],
        // Without the plugin that the others name.
        &[sign, audit],
    ];
    for plugins in orders {
        let hooks = HookRegistry::new();
        plugins.iter().for_each(|plugin| plugin(&hooks));
        let text = serde_json::json!({ "text": "  a line " });
        let written = hooks.emit("file:write", text).await?;
        println!("{:?}", hooks.list_handlers(Some("file:write")));
        println!("{}", written.data["text"]);
    }

    // The registration that closes a cycle is refused, and the registry does not change.
    let hooks = HookRegistry::new();
    audit(&hooks);
    let closes = RegisterOptions::new()
        .key("format")
        .before_if_present("audit");
    let refused = hooks.try_register("file:write", |_: Event<'_>| HookResult::proceed(), closes);
    println!("{}", refused.err().ok_or("the cycle was not refused")?);
    Ok(())
}
