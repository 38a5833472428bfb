//! How does a plugin in JavaScript change the next action of an agent, next to hooks in Rust?
//! Register it like any other hook; later hooks see the data that it returns.

use hooks_runtime::{Event, HookRegistry, HookResult, RegisterOptions};
use hooks_script::{Manifest, ScriptEngine};
use serde_json::json;

/// Requests less output, without colours.
const BRIEF: &str = "
    export default function ({ in: { command } }) {
      const words = command.split(' ');
      if (words[0] === 'cargo' && !words.includes('--quiet')) words.splice(2, 0, '--quiet');
      return { out: { command: words.join(' '), env: { NO_COLOR: '1' } } };
    }";

/// Checks the command after the script, so it sees the command that would run.
fn no_publishing(event: Event<'_>) -> HookResult {
    match event.str("command") {
        Some(command) if command.contains("publish") => HookResult::deny("agents must not publish"),
        Some(_) => HookResult::proceed(),
        None => HookResult::deny("missing field `command`"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = ScriptEngine::builder().build()?;
    let brief = engine.register(Manifest::new("text:", "brief", [])?, BRIEF)?;

    let hooks = HookRegistry::new();
    let (first, last) = (
        RegisterOptions::new().priority(-10),
        RegisterOptions::new().priority(10),
    );
    hooks.register(HookRegistry::TOOL_PRE, brief.as_event_hook(), first);
    hooks.register(HookRegistry::TOOL_PRE, no_publishing, last);

    for command in ["cargo test", "cargo publish", "ls"] {
        let data = json!({"command": command});
        let emission = hooks.emit(HookRegistry::TOOL_PRE, data).await?;
        match emission.reason() {
            Some(reason) => println!("{command}: {reason}"),
            None => println!("{command}: {}", json!(emission.data)),
        }
    }
    Ok(())
}
