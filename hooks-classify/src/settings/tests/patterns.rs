//! Grammar of the patterns, and the values that fulfil them.

use super::super::SettingsFormat as Format;
use super::super::pattern::{
    PatternKey, SettingCondition, SettingPattern, SettingPatternError as Error,
};
use super::read;

fn name(text: &str) -> PatternKey {
    PatternKey::Name(text.to_owned())
}

fn parse(text: &str) -> SettingPattern {
    SettingPattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns path, text and line of the matches.
fn matches(format: Format, pattern: &str, text: &str) -> Vec<(String, String, usize)> {
    parse(pattern)
        .all_matches(&read(format, text))
        .map(|found| (found.path, found.value.text, found.value.line))
        .collect()
}

fn is_match(format: Format, pattern: &str, text: &str) -> bool {
    parse(pattern).matches(&read(format, text)).is_some()
}

#[test]
fn a_pattern_has_keys_and_a_condition() {
    let (any, item) = (PatternKey::Any, PatternKey::Item);
    for (text, keys, condition) in [
        ("yarn-path", vec![name("yarn-path")], SettingCondition::Set),
        (
            "tool.ruff.fix=true",
            vec![name("tool"), name("ruff"), name("fix")],
            SettingCondition::OneOf(texts(&["true"])),
        ),
        (
            " core.fsmonitor != false | \"\"|true ",
            vec![name("core"), name("fsmonitor")],
            SettingCondition::NoneOf(texts(&["false", "", "true"])),
        ),
        (
            "plugins[]",
            vec![name("plugins"), item.clone()],
            SettingCondition::Set,
        ),
        ("[].a", vec![item.clone(), name("a")], SettingCondition::Set),
        (
            "a[][].b?",
            vec![name("a"), item.clone(), item, name("b")],
            SettingCondition::Present,
        ),
        (
            "*.\"a.\\\"b\".@c:d/e",
            vec![any, name("a.\"b"), name("@c:d/e")],
            SettingCondition::Set,
        ),
        (
            "a = x y = z|\"p|q\"",
            vec![name("a")],
            SettingCondition::OneOf(texts(&["x y = z", "p|q"])),
        ),
    ] {
        assert_eq!(parse(text), SettingPattern { keys, condition }, "{text}");
    }
}

#[test]
fn a_wrong_pattern_is_an_error() {
    for (text, error) in [
        ("", Error::MissingKey),
        ("a.", Error::MissingKey),
        ("a..b", Error::MissingKey),
        (".a", Error::MissingKey),
        ("a b", Error::Unexpected('b')),
        ("a*", Error::Unexpected('*')),
        ("*a", Error::Unexpected('a')),
        ("a[b]", Error::Unexpected('b')),
        ("a[0", Error::MissingBracket),
        ("a ? b", Error::Unexpected('b')),
        ("a =", Error::MissingText),
        ("a = b|", Error::MissingText),
        ("a = b \"c\"", Error::Unexpected('"')),
        ("a = \"b\" c", Error::Unexpected('c')),
        ("\"a", Error::MissingQuote),
        ("\"a\\n\"", Error::Unexpected('n')),
    ] {
        assert_eq!(SettingPattern::parse(text), Err(error), "{text}");
    }
}

#[test]
fn a_name_is_written_so_that_it_parses() {
    for key in ["a", "a.b", "", "a\"b\\", "*", "x y", "[]", "@a:b"] {
        let mut text = String::new();
        PatternKey::push_name(key, &mut text);
        assert_eq!(parse(&text).keys, [name(key)], "{text}");
    }
}

#[test]
fn a_match_has_path_text_and_line() {
    let text = "[tool.ruff]\nfix = true\n[tool.x]\nfix = true\n";
    let found = |pattern| matches(Format::Toml, pattern, text);
    let first = ("tool.ruff.fix".to_owned(), "true".to_owned(), 2);
    let second = ("tool.x.fix".to_owned(), "true".to_owned(), 4);
    assert_eq!(found("tool.ruff.fix = true"), std::slice::from_ref(&first));
    assert_eq!(found("tool.*.fix"), [first, second]);
    assert!(found("tool.ruff").len() == 1 && found("tool.ruff.fix.x").is_empty());
}

#[test]
fn a_pattern_without_condition_needs_a_value_that_is_not_off() {
    for (format, off, on) in [
        (
            Format::Toml,
            &["k = false", "k = \"\"", "k = []", "k = {}", "k = 0", "[k]"][..],
            &[
                "k = true",
                "k = \"false\"",
                "k = [1]",
                "k = 1",
                "k.x = false",
            ][..],
        ),
        (
            Format::Json,
            &["{k: null}", "{k: false}", "{k: []}", "{k: -0.0}", "{}"],
            &["{k: 'no'}", "{k: [null]}", "{k: false, k: true}"],
        ),
        (
            Format::Yaml,
            &["k: false", "k:", "k: ''", "k: {}", "k: &a\nj: *a"],
            &["k: no", "k: 'false'", "k: !x ''", "k: false\n---\nk: true"],
        ),
        (
            Format::NpmRc,
            &["k=false", "k=null", "k=", "k=0", "k=\"\""],
            &["k", "k=no", "k=1", "k[]=0", "k=${X}"],
        ),
        (
            Format::YarnRc,
            &["k false", "k \"\"", "k 0"],
            &["k true", "k \"0\"", "k x"],
        ),
    ] {
        for text in off {
            assert!(!is_match(format, "k", text), "{format:?} {text}");
        }
        for text in on {
            assert!(is_match(format, "k", text), "{format:?} {text}");
            assert!(is_match(format, "k ?", text), "{format:?} {text}");
        }
    }
    for (format, section) in [(Format::Ini, "[s]\n"), (Format::GitConfig, "[s]\n")] {
        for off in ["k = No", "k = 0", "k ="] {
            assert!(
                !is_match(format, "s.k", &format!("{section}{off}")),
                "{off}"
            );
            assert!(
                is_match(format, "s.k ?", &format!("{section}{off}")),
                "{off}"
            );
        }
        for on in ["k", "K = ON", "k = x", "k = 1"] {
            assert!(is_match(format, "s.k", &format!("{section}{on}")), "{on}");
        }
    }
}

#[test]
fn a_condition_compares_texts_and_booleans() {
    let git = |pattern, value: &str| {
        is_match(
            Format::GitConfig,
            pattern,
            &format!("[core]\nfsmonitor{value}"),
        )
    };
    let fsmonitor = "core.fsmonitor != false|\"\"|true";
    assert!(git(fsmonitor, " = .git/hooks/x"));
    assert!(git(fsmonitor, " = False x"));
    for value in ["", " =", " = no", " = TRUE", " = 1", " = off # c"] {
        assert!(!git(fsmonitor, value), "{value}");
    }
    assert!(git("core.fsmonitor = true", ""));
    assert!(!is_match(Format::GitConfig, fsmonitor, "[core]\n"));

    let ini = |pattern, value| is_match(Format::Ini, pattern, &format!("[s]\nk = {value}\n"));
    assert!(ini("s.k = true", "YES") && !ini("s.k != true", "YES"));
    assert!(ini("s.k = true", "true  # c") && ini("s.k != true", "true  # c"));
    assert!(ini("s.k = true", "%(x)s") && ini("s.k != true", "%(x)s"));
    assert!(!ini("s.k = X", "x"));

    let json = |pattern, value| is_match(Format::Json, pattern, &format!("{{\"k\": {value}}}"));
    assert!(json("k = true", "true") && json("k = a|true", "\"true\""));
    assert!(!json("k = true", "\"yes\"") && !json("k = true", "1"));
    assert!(json("k != a", "[\"a\"]") && json("k = null", "null"));

    let yaml = |pattern, value| is_match(Format::Yaml, pattern, &format!("k: {value}"));
    assert!(yaml("k = true", "True") && yaml("k = true", "on") && yaml("k != true", "on"));
    assert!(!yaml("k = true", "'on'") && yaml("k = true", "!ENV X"));
}

#[test]
fn brackets_match_the_values_of_a_list_and_a_single_value() {
    let json = |pattern, text| {
        let found = matches(Format::Json, pattern, text);
        found
            .into_iter()
            .map(|(path, text, _)| format!("{path}={text}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(json("p[]", "{p: ['a', '', 'b']}"), ["p[0]=a", "p[2]=b"]);
    assert_eq!(json("p[]", "{p: 'a'}"), ["p=a"]);
    assert_eq!(json("p[].n = x", "{p: [{n: 'x'}, 'x']}"), ["p[0].n=x"]);
    assert!(json("p[]", "{p: {a: 1}}").is_empty());
    assert_eq!(json("p.*", "{p: {a: 1, b: 0}}"), ["p.a=1"]);
    assert_eq!(json("p[1]", "{p: [1, 2]}"), ["p[1]=2"]);
    assert_eq!(matches(Format::NpmRc, "p[]", "p[]=a\np[]=b\np=c").len(), 3);
}

#[test]
fn an_option_of_default_belongs_to_every_section() {
    let text = "[DEFAULT]\nfix = true\n[x]\n";
    assert!(is_match(Format::Ini, "x.fix", text));
    assert!(!is_match(
        Format::Ini,
        "x.fix",
        &text.replace("DEFAULT", "default")
    ));
}
