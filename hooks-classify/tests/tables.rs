//! Mistakes in tables: each is an error of the build with its file and line.

#[path = "../build/calls.rs"]
mod calls;
#[path = "../build/format.rs"]
mod format;
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
#[allow(
    dead_code,
    reason = "the build script writes out the secrets, which this test only loads"
)]
mod raw;
#[path = "../build/read.rs"]
mod read;
#[path = "../build/secret_words.rs"]
#[allow(
    dead_code,
    reason = "the build script writes out the lists, which this test only loads"
)]
mod secret_words;
#[path = "../src/settings/pattern.rs"]
#[expect(dead_code, reason = "the crate writes patterns as well")]
mod setting_pattern;
#[path = "../build/tokens.rs"]
#[allow(
    dead_code,
    reason = "the build script writes out the formats, which this test only loads"
)]
mod tokens;
#[path = "../build/words.rs"]
mod words;

use std::collections::BTreeSet;
use std::path::Path;

use model::{NamedProgram, OptionDef};
use raw::{Family, RawSecrets, RawTokens, RawVariables};
use read::Source;

fn source(file: &str, text: &str) -> Source {
    Source {
        file: file.to_owned(),
        text: text.to_owned(),
    }
}

/// Returns the programs of the file `programs/family/x.toml`, or its mistakes.
fn load(text: &str) -> Result<Vec<NamedProgram>, Vec<String>> {
    let source = source("programs/family/x.toml", text);
    let loaded = load::programs_of(&source, Family::default());
    loaded.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect())
}

/// Returns the mistakes of a file with one program, with `rest` after its first key.
fn mistakes(rest: &str) -> Vec<String> {
    load(&format!("# A comment.\n\nreads = \"does\"\n{rest}\n"))
        .err()
        .unwrap_or_default()
}

/// Returns the options of the command at a path, as the tables contain them.
fn options(entries: &[NamedProgram], path: &str) -> Vec<String> {
    let mut program = &entries[0].program;
    for word in path.split_whitespace() {
        program = &program.commands[word];
    }
    let shown = |(name, option): (&String, &OptionDef)| {
        let (arity, effect) = (option.arity, option.effect.as_deref().unwrap_or("-"));
        format!("{name} {arity:?} {effect}")
    };
    program.options.iter().map(shown).collect()
}

#[test]
fn a_mistake_in_a_program_stops_the_build() {
    for (rest, what) in [
        ("given = \"reads\"", "unknown effect `reads`"),
        (
            "checked = { version = \"\", by = \"x --help\", on = 2026-11-25 }",
            "`checked` needs a version, the command it was checked by, and a day",
        ),
        (
            "checked = { version = \"1\", by = \"x --help\", on = 12:00:00 }",
            "`checked` needs a version, the command it was checked by, and a day",
        ),
        ("style = \"loose\"", "unknown style `loose`"),
        ("operands = [\"inputs\"]", "unknown role `inputs`"),
        ("operands = [\"script:cobol\"]", "unknown language `cobol`"),
        (
            "operands = [\"input*\", \"name*\"]",
            "more than one operand with `*`",
        ),
        ("options = [\"-a\", \"-b -a\"]", "duplicate option `-a`"),
        (
            "style = \"slash\"\noptions = [\"-a\", \"-A =\"]",
            "duplicate option `-a`",
        ),
        (
            "options = [\"= output\"]",
            "option line `= output` has no option",
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
            "`too` is unexpected in `-a raises read too`",
        ),
        (
            "terminal = { reads = \"mouse\" }",
            "unknown source of commands `mouse`",
        ),
        (
            "terminal = { reads = \"keys\", off = \"-a\" }",
            "`-a` is not an option of the program",
        ),
        (
            "pager = { off = \"-a\" }",
            "`-a` is not an option of the program",
        ),
        (
            "contents = { on = \"-a\" }",
            "`-a` is not an option of the program",
        ),
        (
            "recurses = { on = \"-a\" }",
            "`-a` is not an option of the program",
        ),
        (
            "decided_by = [\"/etc/x\"]",
            "`/etc/x` is not a file in a folder",
        ),
        (
            "decided_by = [\"~/*/x\"]",
            "`~/*/x` is not a file in a folder",
        ),
        (
            "options = [\"-a\"]\nconfigured_by = [\"-a\"]",
            "`-a` is not an option with a value",
        ),
        ("outside = [\"push\"]", "`outside`: unknown command `push`"),
        (
            "installs = [\"-g\"]",
            "`installs`: `-g` is not an option of the program",
        ),
        (
            "runs_packages = [\" \"]",
            "`runs_packages`: an entry without a name",
        ),
        (
            "outside = [\"*\", \"url:\"]",
            "`outside`: `*` is every call; remove the other entries",
        ),
        (
            "packages_in = \"bin\"",
            "`packages_in` needs `runs_packages`",
        ),
        (
            "controls = { moon = [\"*\"] }",
            "`controls`: unknown target `moon`",
        ),
        (
            "controls = { git = [\"push\"] }",
            "`controls`: unknown command `push`",
        ),
        ("controls = { git = [] }", "`controls`: `git` has no calls"),
        (
            "sets_shell_variables = [\"-v\"]",
            "`sets_shell_variables`: `-v` is not an option of the program",
        ),
        ("client = \"no\"", "unknown address of a client `no`"),
        ("file_operation = \"no\"", "unknown operation on files `no`"),
        ("output = \"no\"", "unknown source of output `no`"),
        ("slash_words = \"no\"", "unknown meaning of words `no`"),
    ] {
        let wanted = format!("programs/family/x.toml:1: `x`: {what}; see the page about tables");
        assert_eq!(mistakes(rest), [wanted], "{rest}");
    }
    assert_eq!(
        mistakes("options = [\"-a = output\", \"-b\"]\ndecided_by = [\"-a\"]"),
        Vec::<String>::new()
    );
}

#[test]
fn a_mistake_in_a_command_names_the_command_and_its_line() {
    let twice = "[commands]\n\"a|b\" = { reads = \"does\" }\nb = { reads = \"does\" }";
    assert_eq!(
        mistakes(twice),
        ["programs/family/x.toml:1: `x`: duplicate command `b`; see the page about tables"]
    );
    let checked = "checked = { version = \"1\", by = \"x --help\", on = 2026-11-25 }";
    assert_eq!(mistakes(checked), Vec::<String>::new());
    let on_command = format!("[commands]\na = {{ reads = \"does\", {checked} }}");
    assert_eq!(
        mistakes(&on_command),
        [
            "programs/family/x.toml:5: `x a`: `checked` is allowed for programs only; see the page about tables"
        ]
    );
    for key in [
        "outside = [\"*\"]",
        "installs = [\"*\"]",
        "runs_packages = [\"*\"]",
        "packages_in = \"bin\"",
        "places_links = [\"*\"]",
        "controls = { git = [\"*\"] }",
        "sets_shell_variables = [\"*\"]",
        "client = \"one-word\"",
        "file_operation = \"copy\"",
        "output = \"words\"",
        "edits_named_files = true",
        "changes_directory = true",
        "slash_words = \"labels\"",
    ] {
        let name = key.split(' ').next().expect("a name");
        let on_command = format!("[commands]\na = {{ reads = \"does\", {key} }}");
        let wanted = format!(
            "programs/family/x.toml:5: `x a`: `{name}` is allowed for programs only; see the page about tables"
        );
        assert_eq!(mistakes(&on_command), [wanted]);
    }
    let inner =
        "[commands]\nc = { reads = \"does\" }\n\"c a|b\" = { reads = \"does\", style = \"loose\" }";
    assert_eq!(
        mistakes(inner),
        ["programs/family/x.toml:6: `x c a`: unknown style `loose`; see the page about tables"]
    );
}

#[test]
fn a_list_of_calls_names_commands_and_options_of_the_program() {
    let commands = "[commands]\n\"a|b\" = { reads = \"does\", options = [\"-g\"] }\n\"a c\" = { reads = \"does\" }\n\
                    \"d*\" = { reads = \"does\" }";
    for list in [
        "\"a\", \"-g\"",
        "\"a|b c\", \"d*\"",
        "\"*\", \"-g\"",
        "\"host:\", \"url:\"",
    ] {
        let table = format!("outside = [{list}]\n{commands}");
        assert_eq!(mistakes(&table), Vec::<String>::new(), "{list}");
    }
    for (list, name) in [("\"a d\"", "d"), ("\"a|e\"", "e"), ("\"c\"", "c")] {
        let wanted = format!(
            "programs/family/x.toml:1: `x`: `outside`: unknown command `{name}`; see the page about tables"
        );
        assert_eq!(
            mistakes(&format!("outside = [{list}]\n{commands}")),
            [wanted]
        );
    }
}

#[test]
fn a_rule_of_files_names_commands_options_and_settings_of_the_program() {
    let table = |rule: &str| {
        format!(
            "loads = [{{ files = [\"a.toml\"], seen = \"1\", {rule} }}]\noptions = [\"-x =\"]\n\
             [commands]\n\"a|b\" = {{ reads = \"does\" }}\n\"a c\" = {{ reads = \"does\" }}"
        )
    };
    for rule in [
        "calls = [\"a|b\"]",
        "calls = [\"a c\"]",
        "on = \"-x=1*\"",
        "off = \"-x=\"",
        "instead = \"-x\"",
        "requires = [\"k ?\"]",
        "search = \"operands\"",
    ] {
        assert_eq!(mistakes(&table(rule)), Vec::<String>::new(), "{rule}");
    }
    for (rule, what) in [
        ("calls = [\"a d\"]", "unknown command `d`"),
        ("on = \"-y=1\"", "`-y` is not an option of the program"),
        ("instead = \"-y\"", "`-y` is not an option of the program"),
        ("search = \"below\"", "unknown search `below`"),
    ] {
        let found = mistakes(&table(rule));
        assert!(found.len() == 1 && found[0].contains(what), "{found:?}");
    }
}

#[test]
fn a_mistake_in_the_format_names_its_line() {
    for (rest, line, what) in [
        ("sents = true", 4, "unknown field `sents`"),
        ("does = \"does\"", 4, "unknown field `does`"),
        ("options = \"-a\"", 4, "invalid type: string"),
        (
            "updates = \"does\"",
            1,
            "`x` needs exactly one of `reads`, `creates`",
        ),
        (
            "names = [\"y\"]",
            1,
            "the name of the file is missing; add `x` to `names`",
        ),
        (
            "[[program]]\nnames = [\"y\"]\nreads = \"does\"",
            3,
            "unknown field `reads`",
        ),
        ("use = [\"all\"]", 1, "unknown group `all`"),
        (
            "[groups]\nall = [\"-a\"]",
            1,
            "no command uses the group `all`",
        ),
        ("[commands]\na = 1", 5, "expected a table"),
        (
            "[commands]\na = { options = [] }",
            5,
            "`a` needs exactly one of",
        ),
        (
            "[commands]\na = { reads = \"does\", sents = true }",
            5,
            "unknown field `sents`",
        ),
        (
            "[commands]\n\"a b\" = { reads = \"does\" }",
            5,
            "unknown command `a`; put its entry before",
        ),
        (
            "[commands]\na = { names = [\"b\"], reads = \"does\" }",
            5,
            "`names` must contain all names of the command, including `a`",
        ),
        (
            "[commands]\na = { same_as = \"b\" }",
            5,
            "`same_as` names no other command of the program: `b`",
        ),
        (
            "[commands]\na = { same_as = \"a\" }",
            5,
            "`same_as` names no other command of the program: `a`",
        ),
        (
            "[commands]\na = { reads = \"does\" }\nb = { same_as = \"a\", style = \"none\" }",
            6,
            "unknown field `style`",
        ),
        (
            "[commands]\na = { reads = \"does\" }\nb = { same_as = \"a\" }\n\"b c\" = { reads = \"does\" }",
            7,
            "`b` is a copy of `a`, so it cannot have commands",
        ),
        (
            "[commands]\na = { reads = \"does\", every_command = true }",
            5,
            "a command can only set `every_command` to `false`",
        ),
    ] {
        let found = mistakes(rest);
        let begin = format!("programs/family/x.toml:{line}: {what}");
        assert!(
            matches!(found.as_slice(), [one] if one.starts_with(&begin)),
            "{rest}\n{begin}\n{found:?}"
        );
    }
}

#[test]
fn groups_aliases_and_copies_of_commands_are_expanded() {
    let text = r#"
        names = ["x", "Long-Name"]
        any_case = true
        reads = "does"
        use = ["shared"]
        every_command = { style = "posix", options = ["--help only read"] }

        [groups]
        shared = ["-v --[no-]color =?", "--[no-]force raises delete"]

        [commands]
        "list|ls" = { reads = "lists", use = ["shared"], options = ["-a"] }
        remove = { deletes = "removes", every_command = false }
        group = { reads = "does", style = "single-dash" }
        "group show" = { same_as = "ls" }
        other = { same_as = "group" }
    "#;
    let entries = load(text).expect("a table");
    assert_eq!(entries[0].names, ["x", "Long-Name", "long-name"]);
    let shared = [
        "--color Joined -",
        "--force None OptionEffect::AtLeast(Effect::Delete)",
        "--no-color None -",
        "--no-force None -",
    ];
    assert_eq!(
        options(&entries, ""),
        [&shared[..], &["-v Joined -"]].concat()
    );
    let help = "--help None OptionEffect::Forces(Effect::Read)";
    let listed = [
        &shared[..2],
        &[help],
        &shared[2..],
        &["-a None -", "-v Joined -"],
    ]
    .concat();
    for path in ["list", "ls", "group show", "other show"] {
        assert_eq!(options(&entries, path), listed, "{path}");
    }
    assert_eq!(options(&entries, "remove"), Vec::<String>::new());
    let style = |path: &str| {
        let mut program = &entries[0].program;
        for word in path.split_whitespace() {
            program = &program.commands[word];
        }
        program.style.clone()
    };
    let styles = ["", "list", "remove", "group", "group show", "other"].map(style);
    let wanted = ["Gnu", "Posix", "Gnu", "SingleDash", "Posix", "SingleDash"];
    assert_eq!(styles, wanted.map(|name| format!("Style::{name}")));
}

#[test]
fn negatable_options_get_a_negation_unless_it_is_declared() {
    let text = r#"
        reads = "does"
        every_command = { negatable = true, options = ["--help only read"] }
        [commands]
        a = { reads = "does", options = ["-v --dry-run only read", "--force --no-force --* =?", "--no-index --value=x"] }
        b = { reads = "does", options = ["--dry-run"], negatable = false }
    "#;
    let entries = load(text).expect("a table");
    let read = "None OptionEffect::Forces(Effect::Read)";
    let wanted = [
        "--* Joined -".to_owned(),
        format!("--dry-run {read}"),
        "--force Joined -".to_owned(),
        format!("--help {read}"),
        "--no-dry-run None -".to_owned(),
        "--no-force Joined -".to_owned(),
        "--no-help None -".to_owned(),
        "--no-index None -".to_owned(),
        "--value=x None -".to_owned(),
        format!("-v {read}"),
    ];
    assert_eq!(options(&entries, "a"), wanted);
    let plain = ["--dry-run None -".to_owned(), format!("--help {read}")];
    assert_eq!(options(&entries, "b"), plain);
}

#[test]
fn patterns_keep_the_order_of_the_file() {
    let text = "reads = \"does\"\n[commands]\n\"z*\" = { reads = \"1\" }\n\"get-*|a*\" = { reads = \"2\" }\n\"*\" = { reads = \"3\" }";
    let entries = load(text).expect("a table");
    let patterns: Vec<&str> = entries[0]
        .program
        .patterns
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(patterns, ["z*", "get-*", "a*", "*"]);
}

#[test]
fn every_program_of_a_file_is_checked() {
    let one = |name: &str, style: &str| {
        format!("[[program]]\nnames = [\"{name}\"]\nreads = \"does\"\nstyle = \"{style}\"\n")
    };
    let text = one("x", "loose") + &one("y", "gnu") + &one("z", "strict");
    assert_eq!(
        load(&text).err(),
        Some(vec![
            "programs/family/x.toml:1: `x`: unknown style `loose`; see the page about tables"
                .to_owned(),
            "programs/family/x.toml:9: `z`: unknown style `strict`; see the page about tables"
                .to_owned(),
        ])
    );
    assert_eq!(
        load(&text.replace("loose", "posix").replace("strict", "none"))
            .map(|programs| programs.len()),
        Ok(3)
    );
}

/// Returns the mistakes of a file with formats of tokens, with `entry` for the values of the keys.
fn token_mistakes(entry: [&str; 4]) -> Vec<String> {
    let [issuer, source, formats, samples] = entry;
    let text = format!(
        "# A comment.\n[[token]]\nissuer = \"{issuer}\"\nsource = \"{source}\"\n\
         formats = [{formats}]\nsamples = [{samples}]\n"
    );
    let loaded = tokens::load(&self::source(tokens::FILE, &text));
    let mistakes = loaded.err().unwrap_or_default();
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_mistake_in_a_format_of_tokens_stops_the_build() {
    const URL: &str = "https://x.example/keys";
    const SAMPLE: &str = "'x_{hex 40}'";
    for (formats, sample) in [
        ("'x_{hex 32+}'", SAMPLE),
        ("'x_{hex 40} whole word'", SAMPLE),
        ("'x_{word. 10-40}'", SAMPLE),
        ("'{word 8+}-x{digit 1-2}'", "'{alnum 8}-x7'"),
        ("'{hex 8}-x{alnum 0}'", "'{hex 8}-x'"),
        ("'x{lower 2}-{hex 4}.{hex 4+}'", "'xab-{hex 4}.{hex 9}'"),
        ("'|{base64url 9+}'", "'|{base64url 9}'"),
    ] {
        let mistakes = token_mistakes(["X", URL, formats, sample]);
        assert!(mistakes.is_empty(), "{formats}: {mistakes:?}");
    }
    for (line, entry, what) in [
        (3, ["", URL, "'x_{hex 9+}'", SAMPLE], "`issuer` is empty"),
        (4, ["X", "", "'x_{hex 9+}'", SAMPLE], "source `` is neither"),
        (4, ["X", "http://x", "'x_{hex 9+}'", SAMPLE], "is neither"),
        (
            4,
            ["X", "own er/name", "'x_{hex 9+}'", SAMPLE],
            "is neither",
        ),
        (
            5,
            ["X", URL, "'x_{octal 9+}', 'x_{hex 9+}'", SAMPLE],
            "unknown alphabet `octal`",
        ),
        (
            5,
            ["X", URL, "'x_{hexé 9+}', 'x_{hex 9+}'", SAMPLE],
            "is not punctuation",
        ),
        (
            5,
            ["X", URL, "'x_{hex some}', 'x_{hex 9+}'", SAMPLE],
            "unknown count `some`",
        ),
        (
            5,
            ["X", URL, "'x_{hex 9-8}', 'x_{hex 9+}'", SAMPLE],
            "unknown count `9-8`",
        ),
        (
            5,
            ["X", URL, "'x_{hex}', 'x_{hex 9+}'", SAMPLE],
            "needs an alphabet and a count",
        ),
        (
            5,
            ["X", URL, "'x_{hex 9+', 'x_{hex 9+}'", SAMPLE],
            "a brace is not closed",
        ),
        (
            5,
            ["X", URL, "'x_}', 'x_{hex 9+}'", SAMPLE],
            "`}` is unexpected",
        ),
        (
            5,
            ["X", URL, "'x y{hex 9}', 'x_{hex 9+}'", SAMPLE],
            "` ` is unexpected",
        ),
        (5, ["X", URL, "'', 'x_{hex 9+}'", SAMPLE], "has no keyword"),
        (
            5,
            ["X", URL, "'{hex 9+}', 'x_{hex 9+}'", SAMPLE],
            "has no keyword",
        ),
        (
            5,
            ["X", URL, "'x_', 'x_{hex 9+}'", SAMPLE],
            "has no `{…}` behind its keyword",
        ),
        (
            5,
            ["X", URL, "'x_{hex 2}ab{hex 9+}', 'x_{hex 9+}'", SAMPLE],
            "the alphabet of a run contains the next character",
        ),
        (
            5,
            ["X", URL, "'x_{hex 2}{word 9+}', 'x_{hex 9+}'", SAMPLE],
            "the alphabet of a run contains the next character",
        ),
        (
            5,
            ["X", URL, "'x_{hex 9+}', 'y_{hex 9+}'", SAMPLE],
            "`y_{hex 9+}` has no sample",
        ),
        (
            5,
            ["X", URL, "'x_{hex 9+}', 'x_{hex 9+}'", SAMPLE],
            "duplicate format; see also line 5",
        ),
        (
            6,
            ["X", URL, "'x_{hex 9+}'", "'x_{hex 40}', 'y_{hex 40}'"],
            "has none of the formats",
        ),
        (
            6,
            ["X", URL, "'x_{hex 9+}'", "'x_{hex 40}', 'x_{hex 8}'"],
            "has none of the formats",
        ),
        (
            6,
            ["X", URL, "'x_{hex 9+}'", "'x_{hex 40}', 'x_{alnum 40}'"],
            "has none of the formats",
        ),
        (
            6,
            [
                "X",
                URL,
                "'x_{hex 9+}'",
                "'x_{hex 40}', 'x_{hex 40}-{hex 9}'",
            ],
            "none of the formats",
        ),
        (
            6,
            ["X", URL, "'x_{hex 9+}'", "'x_{hex 40}', 'x_{hex 9+}'"],
            "has no exact count",
        ),
    ] {
        let found = token_mistakes(entry);
        let begin = format!("{}:{line}: `{}`: ", tokens::FILE, entry[0]);
        assert_eq!(found.len(), 1, "{entry:?}: {found:?}");
        assert!(found[0].starts_with(&begin), "{entry:?}: {found:?}");
        assert!(found[0].contains(what), "{entry:?}: {found:?}");
    }
    let unknown = tokens::load(&source(tokens::FILE, "[[token]]\nissuers = 'X'\n"));
    let unknown = unknown.expect_err("an unknown key")[0].to_string();
    assert!(unknown.contains(":2: unknown field `issuers`"), "{unknown}");
}

#[test]
fn the_files_of_the_crate_are_checked_together() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = || read::sources(root).expect("the files of the crate");
    assert!(load::tables(&sources()).is_ok());

    let mut wrong = sources();
    wrong.retain(|source| {
        ![
            "languages/any.toml",
            "programs/secrets.toml",
            "secrets/tokens.toml",
        ]
        .contains(&source.file.as_str())
    });
    for source in &mut wrong {
        match source.file.as_str() {
            "languages/words.toml" => source.text.push_str("\nbasic = ['PRINT']\n"),
            "languages/mongo.toml" => source.text = source.text.replace("reads = [", "read = ["),
            "programs/variables.toml" => source.text.push_str("\n[[variables]]\n"),
            _ => {}
        }
    }
    wrong.push(source(
        "programs/text/z.toml",
        "names = [\"z\", \"ls\"]\nreads = \"does\"\n",
    ));
    wrong.push(source("programs/new/y.toml", "reads = \"does\"\n"));
    wrong.push(source("languages/basic.toml", ""));
    let found = load::tables(&wrong).expect_err("mistakes");
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    for wanted in [
        "languages/any.toml: the file is missing",
        "programs/secrets.toml: the file is missing",
        "secrets/tokens.toml: the file is missing",
        ": unknown list `basic`",
        "languages/mongo.toml: the list `reads` is missing",
        ": unknown field `variables`",
        "programs/text/z.toml: duplicate program `ls`; see also programs/coreutils/ls.toml",
        "programs/new/family.toml: the file is missing",
        "languages/basic.toml: no part of the crate reads this file",
    ] {
        assert!(
            found.iter().any(|one| one.contains(wanted)),
            "{wanted}: {found:?}"
        );
    }
    assert_eq!(found.len(), 9, "{found:?}");
}

/// Maximum number of names in a file with the name of a program.
const MAX_NAMES: usize = 15;

/// Files with more names, all of which are variants of the program.
const FILES_OF_VARIANTS: [&str; 2] = ["programs/native/gcc.toml", "programs/search/grep.toml"];

#[test]
fn a_file_with_the_name_of_a_program_has_few_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = read::sources(root).expect("the files of the crate");
    let names = |source: &Source| {
        let table: toml::Table = toml::from_str(&source.text).expect("a table");
        let names = table.get("names").and_then(toml::Value::as_array);
        names.map_or(0, Vec::len)
    };
    let with_many: Vec<&str> = sources
        .iter()
        .filter(|source| source.file.starts_with("programs/") && names(source) > MAX_NAMES)
        .map(|source| source.file.as_str())
        .collect();
    assert_eq!(
        with_many, FILES_OF_VARIANTS,
        "write `[[program]]`, and give the file a name that describes its programs"
    );
}

/// The page about tables.
const PAGE: &str = include_str!("../../docs/classifier-tables.md");

/// Returns the section of the page below a heading.
fn section(heading: &str) -> &'static str {
    let (_, rest) = PAGE
        .split_once(&format!("\n## {heading}\n"))
        .unwrap_or_else(|| panic!("the page has no section `{heading}`"));
    rest.split("\n## ").next().unwrap_or(rest)
}

/// Returns the texts in backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Returns the texts in backticks in the first cells of the tables of a section.
fn rows(heading: &str) -> BTreeSet<String> {
    let rows = section(heading).lines();
    let cells = rows.filter_map(|row| row.strip_prefix("| ")?.split(" | ").next());
    cells.flat_map(quoted).collect()
}

/// Returns the keys that a mistake lists as those it expected.
fn expected(mistake: &str) -> BTreeSet<String> {
    let (_, list) = mistake
        .split_once(", expected ")
        .unwrap_or_else(|| panic!("no list of keys in `{mistake}`"));
    let list = list.split(';').next().unwrap_or(list);
    quoted(list)
}

/// Returns the keys that `build/format.rs` takes from a table by their names.
fn taken() -> BTreeSet<String> {
    let source = include_str!("../build/format.rs");
    let mut keys = BTreeSet::new();
    for call in [".take(\"", ".take_value(\"", ".take::<Vec<String>>(\""] {
        let calls = source.split(call).skip(1);
        keys.extend(calls.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
    }
    assert!(keys.len() >= 9, "{keys:?}");
    keys
}

#[test]
fn the_page_about_tables_lists_all_keys_styles_and_roles() {
    let mut keys = expected(&mistakes("sents = true")[0]);
    keys.extend(format::EFFECTS.map(|(key, _)| key.to_owned()));
    keys.extend(taken());
    // The page names it outside of the table of keys.
    assert!(keys.remove("program"));
    assert!(section("The keys of a program").contains("`[[program]]`"));
    assert_eq!(rows("The keys of a program"), keys);

    let names = |list: &[(&str, &str)]| -> BTreeSet<String> {
        list.iter().map(|(name, _)| (*name).to_owned()).collect()
    };
    assert_eq!(rows("Styles"), names(words::STYLES));
    let mut roles = names(words::ROLES);
    roles.insert("script:LANGUAGE".to_owned());
    assert_eq!(rows("Roles of values and operands"), roles);
    let row = section("Roles of values and operands")
        .lines()
        .find(|line| line.starts_with("| `script:LANGUAGE`"));
    let mut languages = quoted(row.expect("a row of the languages"));
    assert!(languages.remove("script:LANGUAGE"));
    assert_eq!(languages, names(words::LANGUAGES));
}

#[test]
fn the_page_about_tables_lists_the_fields_of_keys() {
    for key in ["checked", "contents", "recurses", "pager", "terminal"] {
        let found = mistakes(&format!("{key} = {{ sents = 1 }}"));
        let begin = format!("| `{key}` |");
        let row = section("The keys of a program")
            .lines()
            .find(|line| line.starts_with(&begin));
        let row = row.expect("a row of the key");
        let fields = rows("Programs that take commands from a terminal");
        for field in expected(&found[0]) {
            let in_row = [format!("{field} = "), format!("`{field}`")]
                .iter()
                .any(|text| row.contains(text));
            assert!(in_row || fields.contains(&field), "`{field}` of `{key}`");
        }
    }
}

#[test]
fn the_page_about_tables_lists_the_keys_of_secrets_and_variables() {
    let secrets = toml::from_str::<RawSecrets>("sents = 1").err();
    let private = toml::from_str::<RawSecrets>("[private]\nsents = 1").err();
    let variables = toml::from_str::<RawVariables>("[[variable]]\nsents = 1").err();
    let tokens = toml::from_str::<RawTokens>("[[token]]\nsents = 1").err();
    let mut keys = BTreeSet::new();
    for mistake in [secrets, private, variables, tokens] {
        keys.extend(expected(mistake.expect("a mistake").message()));
    }
    assert_eq!(rows("Secrets and variables"), keys);
}

#[test]
fn the_page_about_tables_lists_the_alphabets_of_tokens() {
    let line = section("Secrets and variables")
        .lines()
        .find(|line| line.starts_with("Alphabets: "));
    let alphabets = quoted(line.expect("a line with the alphabets"));
    let known = tokens::ALPHABETS.iter().map(|(name, _)| (*name).to_owned());
    assert_eq!(alphabets, known.collect());
}

#[test]
fn the_example_tables_on_the_page_are_valid() {
    let blocks: Vec<&str> = PAGE
        .split("```toml\n# programs/")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let (file, text) = block.split_once('\n').expect("the name of the file");
        let source = source(&format!("programs/{file}"), text);
        let loaded = load::programs_of(&source, Family::default());
        let mistakes = loaded.err().unwrap_or_default();
        assert!(mistakes.is_empty(), "{}", mistakes[0]);
    }
}
