//! Tests the output of an editor for hooks: drives rust-analyzer as an editor does, with a file
//! that contains a set of slots, a block of hooks and a function that is a hook.
//!
//! It needs rust-analyzer and the sources of the standard library, which rustup adds to any
//! toolchain. If they are missing, the tests print a note; under `HOOKS_REQUIRE_ALL=1` they fail.

#[expect(dead_code, reason = "it is there to be edited, and has to compile")]
mod fixture;
mod server;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use server::{Place, Server};

/// The file without errors.
const TEXT: &str = include_str!("editor/fixture.rs");

/// Marks the cursor in an edited text.
const CURSOR: &str = "$0";

/// Loading the project takes by far the longest, and is done once.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);

/// Returns the server, or `None` if rust-analyzer is missing.
fn server() -> MutexGuard<'static, Option<Server>> {
    let mut server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    if server.is_some() {
        return server;
    }
    match Server::find() {
        Ok(program) => {
            let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
            let started = Server::start(&program, &project, TEXT);
            *server = Some(started.expect("rust-analyzer starts"));
        }
        Err(reason) => {
            let required = std::env::var_os("HOOKS_REQUIRE_ALL").is_some_and(|value| value == "1");
            assert!(!required, "{reason}");
            println!("left out: {reason}");
        }
    }
    server
}

/// Returns the place of a word within a piece of the text.
fn place(text: &str, piece: &str, word: &str) -> Place {
    let at = text.find(piece).expect("the piece is in the text");
    let within = piece.find(word).expect("the word is in the piece");
    let before = &text[..at + within];
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    Place {
        line: before.matches('\n').count() as u64,
        column: column as u64,
    }
}

/// Replaces a piece of the text; the result may not parse.
fn typed(piece: &str, instead: &str) -> (String, Place) {
    assert_eq!(TEXT.matches(piece).count(), 1, "{piece}");
    let text = TEXT.replace(piece, instead);
    let cursor = place(&text, CURSOR, CURSOR);
    (text.replace(CURSOR, ""), cursor)
}

/// Bodies: of a default, of a hook in a block, of a function that is a hook.
const DEFAULT: &str = "        !prompt.is_blank()\n    }\n\n    /// The model";
const DEFAULT_END: &str = "\n    }\n\n    /// The model";
const HOOK: &str = "last.unwrap_or(true) && !(self.is_strict && prompt.is_blank())";
const FUNCTION: &str = "last.unwrap_or_default() + task";

#[test]
fn correct_code_has_no_errors_in_the_editor() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    server.open(TEXT);
    assert_eq!(server.errors(), [""; 0]);

    // The server reports the error of an invalid text.
    let (text, _) = typed(HOOK, "prompt.nothing_like_that()$0");
    server.open(&text);
    assert_ne!(server.errors(), [""; 0]);
}

#[test]
fn completions_are_offered_in_incomplete_bodies() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    let default = |body: &str| typed(DEFAULT, &format!("{body}{DEFAULT_END}"));
    let hook = |body: &str| typed(HOOK, body);
    let function = |body: &str| typed(FUNCTION, body);
    let cases = [
        // Text that parses.
        (default("prompt.is_$0"), "is_blank"),
        (hook("prompt.is_$0"), "is_blank"),
        (hook("last.unwrap_$0"), "unwrap_or"),
        (hook("self.is_$0"), "is_strict"),
        (function("task.len$0"), "len"),
        // Text that does not parse.
        (default("prompt.$0"), "is_blank"),
        (default("let x = ; if prompt.$0"), "text"),
        (hook("prompt.$0"), "is_blank"),
        (hook("prompt.$0"), "text"),
        (hook("self.$0"), "is_strict"),
        (hook("last.$0"), "unwrap_or"),
        (hook("let is_short = prompt.$0;\n        true"), "is_blank"),
        (hook("if prompt.$0"), "is_blank"),
        (hook("match prompt.$0"), "is_blank"),
        (
            hook("std::future::ready(()).await;\n        prompt.$0"),
            "is_blank",
        ),
        (function("task.$0"), "trim"),
        (function("last.$0"), "unwrap_or_default"),
        (hook("let x = ; if prompt.$0"), "text"),
        (function("let x = ; if task.$0"), "trim"),
        // Between others that do not parse.
        (
            typed(
                "if !hooks.allows(&prompt).await {",
                "hooks.$0\n    if !hooks.allows(&prompt).await {",
            ),
            "choose_model_mut",
        ),
        (
            typed(
                "Some(hooks.choose_model(\"talk\").await)",
                "hooks.choose_model(\"talk\").await.$0",
            ),
            "into_bytes",
        ),
    ];
    for ((text, cursor), expected) in cases {
        server.open(&text);
        let found = server.completions(cursor);
        assert!(
            found.iter().any(|found| found == expected),
            "`{expected}` is not among {found:?} in\n{text}"
        );
    }
}

#[test]
fn an_unparsable_body_causes_only_syntax_errors() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    let bodies = [
        typed(DEFAULT, &format!("prompt.$0{DEFAULT_END}")),
        typed(HOOK, "prompt.$0"),
        typed(FUNCTION, "task.$0"),
    ];
    for (text, _) in bodies {
        server.open(&text);
        let errors = server.errors();
        // Once at the user's tokens, and once at the expansion's.
        assert!(matches!(errors.len(), 1 | 2), "{errors:?}");
        for error in errors {
            assert!(error.starts_with("Syntax Error"), "{error}");
        }
    }
}

/// Names to look up, and the places of their declarations.
const DECLARED: [(&str, &str, &str, &str); 7] = [
    (
        "hooks.allows(&prompt)",
        "allows",
        "fn allows(prompt",
        "allows",
    ),
    (
        "hooks.choose_model(",
        "choose_model",
        "fn choose_model(task",
        "choose_model",
    ),
    (
        ".with_choose_model(Large)",
        "with_",
        "fn choose_model(task",
        "choose_model",
    ),
    (".with_choose_model(Large)", "Large", "fn large", "large"),
    (
        "#[impl_hook(ChooseModel)]",
        "Choose",
        "fn choose_model(task",
        "choose_model",
    ),
    (
        "#[impl_hooks(AppHooksSet)]",
        "AppHooksSet",
        "trait AppHooks",
        "AppHooks",
    ),
    (
        "self.is_strict &&",
        "is_strict",
        "is_strict: bool",
        "is_strict",
    ),
];

#[test]
fn go_to_declaration_finds_the_declaration_of_names() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    server.open(TEXT);
    for (piece, word, declaration, name) in DECLARED {
        let declared = server.declared(place(TEXT, piece, word));
        let expected = (server.uri().to_owned(), place(TEXT, declaration, name));
        assert!(declared.contains(&expected), "{piece}: {declared:?}");
    }
}

/// A name resolves to the user's items, and no generated item at it leads elsewhere.
#[test]
fn go_to_declaration_of_a_slot_stays_in_its_file() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    server.open(TEXT);
    for (piece, word) in [
        ("trait AppHooks", "AppHooks"),
        ("fn allows(prompt", "allows"),
        ("fn allows(&self", "allows"),
        ("fn large", "large"),
    ] {
        let declared = server.declared(place(TEXT, piece, word));
        assert!(!declared.is_empty(), "{piece}");
        for (file, _) in declared {
            assert_eq!(file, server.uri(), "{piece}");
        }
    }
}

#[test]
fn go_to_declaration_works_while_a_body_does_not_parse() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    let bodies = [
        typed(DEFAULT, &format!("prompt.$0{DEFAULT_END}")),
        // Of this text rust-analyzer passes nothing that parses to the macros.
        typed(DEFAULT, &format!("let x = ; if prompt.$0{DEFAULT_END}")),
        typed(HOOK, "let x = ; if prompt.$0"),
        typed(FUNCTION, "let x = ; if task.$0"),
    ];
    for (text, _) in bodies {
        server.open(&text);
        for (dispatch, slot, name) in [
            ("hooks.allows(&prompt)", "fn allows(prompt", "allows"),
            (
                "hooks.choose_model(",
                "fn choose_model(task",
                "choose_model",
            ),
        ] {
            let declared = server.declared(place(&text, dispatch, name));
            let slot = (server.uri().to_owned(), place(&text, slot, name));
            assert!(declared.contains(&slot), "{declared:?} in\n{text}");
        }
    }
}

#[test]
fn hovering_any_name_of_a_slot_shows_its_documentation() {
    let mut server = server();
    let Some(server) = server.as_mut() else {
        return;
    };
    server.open(TEXT);
    for (piece, word, doc) in [
        (
            "hooks.allows(&prompt)",
            "allows",
            "Decides about a prompt before it is sent.",
        ),
        (
            "fn allows(&self",
            "allows",
            "Decides about a prompt before it is sent.",
        ),
        (
            "fn allows(prompt",
            "allows",
            "Decides about a prompt before it is sent.",
        ),
        (
            "#[impl_hook(ChooseModel)]",
            "Choose",
            "The model that answers.",
        ),
        (
            ".with_choose_model(Large)",
            "with_",
            "Registers a hook for the slot `choose_model`.",
        ),
    ] {
        let shown = server.shown(place(TEXT, piece, word));
        assert!(shown.contains(doc), "{piece}: {shown}");
    }
}
