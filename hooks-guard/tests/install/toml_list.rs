//! Tests the changes of TOML documents, in the settings of Kimi Code and Mistral Vibe.

use std::fs;

use hooks_guard::install::{
    DocumentError, FileChange, InstallError, SettingsScope, install, uninstall,
};
use hooks_guard::protocol::Agent;
use toml::Table;

use crate::install::Home;

const KIMI: Agent = Agent::KimiCode;

/// Documents of a user.
const DOCUMENTS: &[&str] = &[
    "",
    "\n",
    "# mine\ndefault_model = \"x\" # why\n\n[providers.a]\ntype = \"openai\"\n",
    "model = \"no end of line\"",
    "a = 1\r\n# c\r\n\r\n[b]\r\nc = 'x'\r\n",
    "\u{feff}a = 1\n",
    "[[hooks]]\nevent = \"Stop\"\ncommand = \"mine.sh\"\n\n[b]\nc = 1\n# the end\n",
    "[[hooks]] # first\nevent = \"PreToolUse\"\ncommand = '''\nmine.sh\n'''\n",
    "[b]\nc = 1\n\n\n# the end\n",
];

#[test]
fn the_entries_have_the_format_of_kimi_code() {
    let home = Home::new();
    assert_eq!(home.install(KIMI).change, FileChange::Created);
    let files = "--config /srv/ada/.config/hooks-guard/config.toml \
                 --database /srv/ada/.local/share/hooks-guard/audit.db";
    let line =
        |time: u32| format!("/opt/guard/hooks-guard hook kimi-code --timeout {time} {files}");
    let table: Table = home.read(KIMI).parse().unwrap();
    let hooks = table["hooks"].as_array().unwrap();
    let found: Vec<_> = hooks
        .iter()
        .map(|hook| {
            let text = |key: &str| hook[key].as_str().unwrap().to_owned();
            let keys = hook.as_table().unwrap().len();
            (
                text("event"),
                text("command"),
                hook["timeout"].as_integer(),
                keys,
            )
        })
        .collect();
    let before = format!(
        "{} || {{ echo 'hooks-guard failed: refused' >&2; exit 2; }}",
        line(600)
    );
    assert_eq!(
        found,
        [
            ("PreToolUse".to_owned(), before, Some(600), 3),
            ("PostToolUse".to_owned(), line(10), Some(10), 3),
            ("PostToolUseFailure".to_owned(), line(10), Some(10), 3),
        ]
    );
}

#[test]
fn installing_and_uninstalling_restores_every_document() {
    for text in DOCUMENTS {
        let home = Home::with(KIMI, text);
        assert_eq!(home.install(KIMI).change, FileChange::Changed, "{text:?}");
        let installed = home.read(KIMI);
        assert!(installed.starts_with(text), "{text:?}: {installed}");
        assert_eq!(home.install(KIMI).change, FileChange::None, "{installed}");
        home.uninstall(KIMI);
        assert_eq!(home.read(KIMI), *text);
    }
}

#[test]
fn later_changes_of_the_settings_survive_uninstalling() {
    for text in DOCUMENTS {
        let home = Home::with(KIMI, text);
        home.install(KIMI);
        let later = "\n# later\n[later]\nd = 1\n";
        fs::write(home.settings(KIMI), home.read(KIMI) + later).unwrap();
        home.uninstall(KIMI);
        let left = home.read(KIMI);
        assert!(left.starts_with(text), "{text:?}: {left:?}");
        assert!(left.ends_with(later), "{text:?}: {left:?}");
        assert!(!left.contains("hooks-guard"), "{left}");
        let added = left.len() - text.len() - later.len();
        assert!(added <= 2, "nothing else is left: {left:?}");
    }
}

#[test]
fn an_entry_between_others_is_replaced() {
    let mut home = Home::new();
    home.install(KIMI);
    let text = format!(
        "# before\n{}\n# after\n[[hooks]]\nevent = \"Stop\"\ncommand = \"mine.sh\"\n",
        home.read(KIMI)
    );
    fs::write(home.settings(KIMI), &text).unwrap();
    assert_eq!(
        home.install(KIMI).change,
        FileChange::None,
        "the order does not matter"
    );
    home.options.binary = "/opt/it's new/hooks-guard".into();
    assert_eq!(home.install(KIMI).change, FileChange::Changed);
    let moved = home.read(KIMI);
    assert!(!moved.contains("/opt/guard/"), "{moved}");
    for kept in [
        "# before\n",
        "# after\n[[hooks]]\nevent = \"Stop\"\ncommand = \"mine.sh\"\n",
    ] {
        assert!(moved.contains(kept), "{moved}");
    }
    assert_eq!(
        moved.parse::<Table>().unwrap()["hooks"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(home.install(KIMI).change, FileChange::None);
}

#[test]
fn a_document_that_cannot_be_extended_is_unchanged() {
    for text in ["hooks = []\n", "hooks = 1\n", "[hooks]\na = 1\n"] {
        let home = Home::with(KIMI, text);
        let error = install(KIMI, &home.options).unwrap_err();
        let shown = error.to_string();
        let is_shape = |error| {
            matches!(
                error,
                InstallError::Document {
                    source: DocumentError::Shape { .. },
                    ..
                }
            )
        };
        assert!(is_shape(error), "{text}: {shown}");
        assert!(shown.contains("`hooks` is not a list of tables"), "{shown}");
        assert_eq!(home.read(KIMI), text);
    }
    let text = "a = 1\nb = \n";
    let home = Home::with(KIMI, text);
    for error in [
        install(KIMI, &home.options).unwrap_err(),
        uninstall(KIMI, &home.options).unwrap_err(),
    ] {
        assert!(error.to_string().contains("config.toml:2:"), "{error}");
    }
    assert_eq!(home.read(KIMI), text);
}

/// Kimi Code 2.1.0 reads the hooks of the user only.
#[test]
fn a_project_has_no_hooks_of_kimi_code() {
    let mut home = Home::new();
    home.options.place = SettingsScope::Project(home.path().join("project"));
    let error = install(KIMI, &home.options).unwrap_err();
    assert!(
        error.to_string().contains("install without `--project`"),
        "{error}"
    );
    assert!(home.files().is_empty());
}

#[test]
fn a_dry_run_shows_the_entries_and_writes_nothing() {
    let mut home = Home::with(KIMI, "# mine\n");
    home.options.dry_run = true;
    let report = home.install(KIMI);
    assert_eq!(report.change, FileChange::Changed);
    assert!(report.diff.contains("+[[hooks]]"), "{}", report.diff);
    assert_eq!(home.read(KIMI), "# mine\n");
    assert_eq!(home.files().len(), 1);
}

/// Mistral Vibe 3.0.3 requires a name of every hook, and ignores the second hook of one name. With `strict`, it
/// denies the tool if the hook fails.
#[test]
fn the_entries_of_mistral_vibe_have_names_of_their_own() {
    const VIBE: Agent = Agent::MistralVibe;
    let entries = |home: &Home| -> Vec<Table> {
        let table: Table = home.read(VIBE).parse().unwrap();
        let hooks = table["hooks"].as_array().unwrap();
        hooks
            .iter()
            .map(|hook| hook.as_table().unwrap().clone())
            .collect()
    };
    let names = |entries: &[Table]| -> Vec<String> {
        let name = |entry: &Table| entry["name"].as_str().unwrap().to_owned();
        entries.iter().map(name).collect()
    };
    let mut home = Home::new();
    home.install(VIBE);
    let first = entries(&home);
    let [before, after] = first.as_slice() else {
        panic!("two entries: {first:?}");
    };
    for (entry, kind, timeout) in [(before, "pre_tool", 600), (after, "post_tool", 10)] {
        assert_eq!(entry["type"].as_str(), Some(kind));
        assert_eq!(entry["timeout"].as_integer(), Some(timeout));
        let name = entry["name"].as_str().unwrap();
        let hash = name.strip_prefix(&format!("hooks-guard-{kind}-")).unwrap();
        assert_eq!(hash.len(), 16, "{name}");
    }
    assert_eq!(
        before.get("strict").and_then(|value| value.as_bool()),
        Some(true)
    );
    assert_eq!(
        after.get("strict"),
        None,
        "the text of a result would be lost"
    );
    assert_eq!(home.install(VIBE).change, FileChange::None);
    home.options.binary = "/opt/other/hooks-guard".into();
    home.install(VIBE);
    let moved = entries(&home);
    assert_eq!(moved.len(), 2);
    assert_ne!(names(&moved), names(&first));
}
