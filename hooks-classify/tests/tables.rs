//! Mistakes in tables: each stops the build, with its file and line.

#[path = "../build/languages.rs"]
mod languages;
#[path = "../build/load.rs"]
mod load;
#[path = "../build/model.rs"]
#[allow(
    dead_code,
    reason = "the build script writes out what this test only loads"
)]
mod model;
#[path = "../build/raw.rs"]
mod raw;
#[path = "../build/read.rs"]
mod read;
#[path = "../build/words.rs"]
mod words;

use std::path::Path;

use read::Source;

fn source(file: &str, text: &str) -> Source {
    Source {
        file: file.to_owned(),
        text: text.to_owned(),
    }
}

/// Returns the mistakes of a file with one program, below whose three keys `rest` stands.
fn mistakes(rest: &str) -> Vec<String> {
    let text = format!(
        "# A comment.\n\n[[program]]\nnames = [\"x\"]\ndoes = \"does\"\neffect = \"read\"\n{rest}\n"
    );
    let loaded = load::programs_of(&source("programs/x.toml", &text));
    let mistakes = loaded.err().unwrap_or_default();
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_mistake_in_a_program_stops_the_build() {
    for (rest, what) in [
        ("given = \"reads\"", "unknown effect `reads`"),
        ("style = \"loose\"", "unknown style `loose`"),
        ("operands = [\"inputs\"]", "unknown role `inputs`"),
        ("operands = [\"script:cobol\"]", "unknown language `cobol`"),
        (
            "operands = [\"input*\", \"name*\"]",
            "more than one operand with `*`",
        ),
        (
            "options = [\"-a\", \"-b -a\"]",
            "option `-a` stands there twice",
        ),
        (
            "style = \"slash\"\noptions = [\"-a\", \"-A =\"]",
            "option `-a` stands there twice",
        ),
        (
            "options = [\"= output\"]",
            "option line `= output` names no option",
        ),
        ("options = [\"-a = outputs\"]", "unknown role `outputs`"),
        ("options = [\"-a raises\"]", "a verb without an effect"),
        ("options = [\"-a raises all\"]", "unknown effect `all`"),
        (
            "options = [\"-a text lifts read\"]",
            "unknown verb `lifts` in `-a text lifts read`",
        ),
        (
            "options = [\"-a raises read too\"]",
            "`too` is left over in `-a raises read too`",
        ),
        (
            "terminal = { reads = \"mouse\" }",
            "unknown source of commands `mouse`",
        ),
        (
            "terminal = { reads = \"keys\", off = \"-a\" }",
            "`-a` is no option of it",
        ),
        ("pager = { off = \"-a\" }", "`-a` is no option of it"),
        ("contents = { on = \"-a\" }", "`-a` is no option of it"),
        ("recurses = { on = \"-a\" }", "`-a` is no option of it"),
        (
            "decided_by = [\"/etc/x\"]",
            "`/etc/x` names no file in a folder",
        ),
        (
            "decided_by = [\"~/*/x\"]",
            "`~/*/x` names no file in a folder",
        ),
        (
            "options = [\"-a\"]\nconfigured_by = [\"-a\"]",
            "`-a` is no option with a value",
        ),
    ] {
        let wanted = format!("programs/x.toml:4: `x`: {what}; see the page about tables");
        assert_eq!(mistakes(rest), [wanted], "{rest}");
    }
    assert_eq!(
        mistakes("options = [\"-a = output\", \"-b\"]\ndecided_by = [\"-a\"]"),
        Vec::<String>::new()
    );
}

#[test]
fn a_mistake_in_a_command_names_the_command_and_its_line() {
    let command = |names: &str, more: &str| {
        format!(
            "[[program.command]]\nnames = [{names}]\ndoes = \"does\"\neffect = \"read\"\n{more}"
        )
    };
    let two = command("\"a\", \"b\"", "") + &command("\"b\"", "");
    assert_eq!(
        mistakes(&two),
        ["programs/x.toml:4: `x`: command `b` stands there twice; see the page about tables"]
    );
    let inner = command("\"a\", \"b\"", "style = \"loose\"");
    assert_eq!(
        mistakes(&(command("\"c\"", "") + &inner)),
        ["programs/x.toml:12: `x a`: unknown style `loose`; see the page about tables"]
    );
}

#[test]
fn an_unknown_key_stops_the_build() {
    let found = mistakes("sents = true");
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("programs/x.toml:7: unknown field `sents`")),
        "{found:?}"
    );
}

#[test]
fn every_program_of_a_file_is_checked() {
    let one = |name: &str| {
        format!("[[program]]\nnames = [\"{name}\"]\ndoes = \"does\"\neffect = \"{name}\"\n")
    };
    let text = one("x") + &one("read") + &one("y");
    let loaded = load::programs_of(&source("programs/x.toml", &text));
    assert_eq!(loaded.expect_err("two mistakes").len(), 2);
}

#[test]
fn the_files_of_the_crate_are_checked_as_a_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = || read::sources(root).expect("the files of the crate");
    assert!(load::tables(&sources()).is_ok());

    let mut wrong = sources();
    wrong.retain(|source| {
        !["languages/any.toml", "programs/secrets.toml"].contains(&source.file.as_str())
    });
    for source in &mut wrong {
        match source.file.as_str() {
            "languages/words.toml" => source.text.push_str("\nbasic = ['PRINT']\n"),
            "languages/mongo.toml" => source.text = source.text.replace("reads = [", "read = ["),
            "programs/variables.toml" => source.text.push_str("\n[[variables]]\n"),
            _ => {}
        }
    }
    let twice = "[[program]]\nnames = [\"ls\"]\ndoes = \"does\"\neffect = \"read\"\n";
    wrong.push(source("programs/z.toml", twice));
    wrong.push(source("languages/basic.toml", ""));
    let found = load::tables(&wrong).expect_err("mistakes");
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    for wanted in [
        "languages/any.toml: the file is missing",
        "programs/secrets.toml: the file is missing",
        ": unknown list `basic`",
        "languages/mongo.toml: the list `reads` is missing",
        ": unknown field `variables`",
        "programs/z.toml: program `ls` is in the tables twice; see also programs/coreutils.toml",
        "languages/basic.toml: no part of the crate reads this file",
    ] {
        assert!(
            found.iter().any(|one| one.contains(wanted)),
            "{wanted}: {found:?}"
        );
    }
    assert_eq!(found.len(), 7, "{found:?}");
}
