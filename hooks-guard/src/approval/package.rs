//! Code in manifests. In: the text of `package.json` or a makefile. Out: its scripts, or the files
//! that it includes.

use serde_json::Value;

/// Returns the command lines of a script and of those that run before and after it.
pub(super) fn scripts(manifest: &str, name: &str) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<Value>(manifest) else {
        return Vec::new();
    };
    let names = ["pre", "", "post"].map(|when| format!("{when}{name}"));
    let scripts = match &manifest["scripts"] {
        // Deno's name for scripts.
        Value::Null => &manifest["tasks"],
        scripts => scripts,
    };
    let texts = names.iter().flat_map(|name| match &scripts[name] {
        Value::String(text) => vec![text.clone()],
        Value::Object(task) => {
            let text = task.get("command").and_then(Value::as_str);
            text.map(str::to_owned).into_iter().collect()
        }
        // Composer allows lists.
        Value::Array(texts) => {
            let texts = texts.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    });
    texts.collect()
}

/// Returns `true` if a file with this name is a makefile.
pub(super) fn is_makefile(name: &str) -> bool {
    matches!(name, "Makefile" | "makefile" | "GNUmakefile") || name.ends_with(".mk")
}

/// Returns the names that a makefile includes, if they are literal.
pub(super) fn includes(makefile: &str) -> Vec<&str> {
    let lines = makefile.lines().filter_map(|line| {
        let line = line.trim_start();
        ["include ", "-include ", "sinclude "]
            .iter()
            .find_map(|word| line.strip_prefix(word))
    });
    let names = lines.flat_map(|rest| {
        let rest = rest.split('#').next().unwrap_or(rest);
        rest.split_whitespace()
    });
    names.filter(|name| !name.contains('$')).collect()
}

#[cfg(test)]
mod tests {
    use super::{includes, scripts};

    #[test]
    fn a_script_includes_its_pre_and_post_scripts() {
        let manifest = r#"{"scripts": {"pretest": "a", "test": "b", "posttest": "c", "x": "d"}}"#;
        assert_eq!(scripts(manifest, "test"), ["a", "b", "c"]);
        assert!(scripts("no JSON", "test").is_empty());
        let composer = r#"{"scripts": {"check": ["a", "b"]}}"#;
        assert_eq!(scripts(composer, "check"), ["a", "b"]);
    }

    #[test]
    fn includes_of_a_makefile_are_its_literal_names() {
        let text =
            "include a.mk b.mk # why\n-include c.mk\nx:\n\techo include d.mk\ninclude $(E)\n";
        assert_eq!(includes(text), ["a.mk", "b.mk", "c.mk"]);
    }
}
