//! How do users of a server moderate their own channels? They write hooks, and the server runs them
//! in a sandboxed stack.

use std::num::NonZeroU32;

use hooks_runtime::Map;
use hooks_script::{
    ContextData, ContextKey, Field, Manifest, PublicFields, ScriptEngine, ScriptStack,
};
use serde_json::{Value, json};

const NO_SHOUTING: &str = "
    class Shouting extends HookStopException {}
    export default function ({ in: message, data: { user } }) {
      const letters = message.text.replace(/[^A-Za-z]/g, '');
      if (letters.length > 5 && letters === letters.toUpperCase()) {
        throw new Shouting(`${user.name}, please do not shout`);
      }
      return { out: message };
    }";

/// This hook has a bug, which must not affect the others.
const BROKEN: &str = "export default ({ in: message }) => message.txt.trim();";

/// A user as stored by the server. Hooks see only declared fields.
fn user() -> Value {
    json!({"id": "u-7", "name": "Ada", "email": "ada@example.org"})
}

fn message(text: &str) -> Map {
    Map::from_iter([("text".to_owned(), text.into())])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = ScriptEngine::builder()
        .public_fields(PublicFields::new().user([Field::text("id"), Field::text("name")]))
        .build()?;
    let stack = ScriptStack::builder()
        .disable_after(NonZeroU32::new(2))
        .build();
    for (id, code) in [("broken", BROKEN), ("no-shouting", NO_SHOUTING)] {
        let manifest = Manifest::new("text:", id, [ContextKey::User])?;
        stack.insert(id, engine.register(manifest, code)?);
    }

    let user = user();
    let data = ContextData::new().user(&user)?;
    for text in ["hello", "WHY DOES NOBODY ANSWER", "sorry"] {
        match stack.run_pre(message(text), &data).await {
            Ok(outcome) => println!("said: {}", outcome.message["text"]),
            Err(rejection) => println!("{}: {}", rejection.class, rejection.message),
        }
    }
    for hook in stack.hooks(None) {
        let state = if hook.is_disabled {
            "is disabled"
        } else {
            "runs"
        };
        println!("{} {state}", hook.id);
    }
    Ok(())
}
