//! Which hooks are registered, and in which order will they run?
//!
//! `describe()` lists slots, kinds, companions, and entries in execution order, by name or type.
//! Its result prints as a table, and programs can iterate over it.

use hooks_core::{Entry, ShortCircuit, hooks, impl_hook};

#[hooks]
trait UploadHooks {
    /// Returns an error to refuse a file.
    #[hook(always, chain = ShortCircuit<(), String>)]
    async fn check(name: &str) -> Result<(), String> {
        if name.is_empty() {
            Err("a file needs a name".to_owned())
        } else {
            Ok(())
        }
    }

    /// Returns the target folder.
    #[hook(singleton)]
    async fn folder(name: &str) -> String {
        let _ = name;
        "uploads".to_owned()
    }
}

#[impl_hook(Check)]
async fn no_programs(name: &str) -> Result<(), String> {
    if name.ends_with(".exe") {
        Err("programs are not accepted".to_owned())
    } else {
        Ok(())
    }
}

#[impl_hook(Check)]
async fn short_names(name: &str) -> Result<(), String> {
    if name.len() > 64 {
        Err("the name is too long".to_owned())
    } else {
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = UploadHooksSet::new().with_check(NoPrograms).with_check(
        Entry::new(ShortNames)
            .name("at most 64 bytes")
            .key("length")
            .priority(-1),
    );

    let description = hooks.describe();
    println!("{description}");

    let checks = &description.slots[0];
    assert_eq!((checks.slot, checks.kind), ("check", "always"));
    assert_eq!(checks.companions[0].role, "chain");
    let names: Vec<_> = checks
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(names, ["at most 64 bytes", "NoPrograms"]);
    assert_eq!(checks.entries[0].key.as_deref(), Some("length"));
    assert!(description.slots[1].entries.is_empty(), "the default runs");

    assert_eq!(
        hooks.check("tool.exe").await,
        Err("programs are not accepted".to_owned())
    );
    assert_eq!(hooks.folder("tool.exe").await, "uploads");
}
