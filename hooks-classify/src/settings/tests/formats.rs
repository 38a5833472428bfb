//! Values, lines and errors of each format.

use super::super::value::SettingKind;
use super::super::{Settings, SettingsError, SettingsFormat as Format, git_variables};
use super::{FORMATS, listing, read};

fn lines(format: Format, text: &str) -> Vec<String> {
    listing(&read(format, text))
}

fn kind(format: Format, text: &str, path: &[&str]) -> SettingKind {
    read(format, text).values(path)[0].kind
}

fn error_line(format: Format, text: &str) -> usize {
    match Settings::read(format, text) {
        Ok(settings) => panic!("{text:?} is {:?}", listing(&settings)),
        Err(error) => error.line(),
    }
}

#[test]
fn an_empty_text_and_a_byte_order_mark_have_no_settings() {
    for format in FORMATS {
        for text in ["", "\u{feff}", "\n\n"] {
            assert!(lines(format, text).is_empty(), "{format:?} {text:?}");
        }
    }
}

#[test]
fn a_toml_value_has_the_line_of_its_key() {
    let text = "a.b = 1\n[tool.ruff]\nfix = true\nselect = [\n  \"E\",\n  'F',\n]\n[[x]]\ny = 1.5\n[[x]]\ny = 2026-01-02\n[e]\n";
    let settings = read(Format::Toml, text);
    assert_eq!(
        listing(&settings),
        [
            "a.b=1",
            "tool.ruff.fix=true",
            "tool.ruff.select[0]=E",
            "tool.ruff.select[1]=F",
            "x[0].y=1.5",
            "x[1].y=2026-01-02"
        ]
    );
    let line = |path: &[&str]| settings.values(path)[0].line;
    assert_eq!(line(&["a", "b"]), 1);
    assert_eq!(line(&["tool", "ruff"]), 2);
    assert_eq!(line(&["tool", "ruff", "fix"]), 3);
    assert_eq!(line(&["tool", "ruff", "select"]), 4);
    assert_eq!(line(&["tool", "ruff", "select", "1"]), 6);
    assert_eq!(line(&["x", "1", "y"]), 11);
    assert_eq!(
        settings.values(&["e"])[0].kind,
        SettingKind::EmptyCollection
    );
    assert_eq!(error_line(Format::Toml, "a = 1\nb\n"), 2);
    assert_eq!(error_line(Format::Toml, "a = 1\na = 2\n"), 2);
}

#[test]
fn json_may_have_comments_trailing_commas_and_names_without_quotes() {
    let text = "// c\n{\n  \"a\": {\"b\": true, /* c */ \"b\": null,},\n  'c': [1,\n    {d: 'x'},],\n  \"e\\u0041\": \"\\n\", \"f\": {}\n}";
    let settings = read(Format::Json, text);
    assert_eq!(
        listing(&settings),
        ["a.b=true", "a.b=", "c[0]=1", "c[1].d=x", "eA=\n"]
    );
    assert_eq!(settings.values(&["c", "*", "d"])[0].line, 5);
    assert_eq!(settings.values(&["c"])[0].line, 4);
    assert_eq!(lines(Format::Json, "[{\"a\": 1}, 2]"), ["[0].a=1", "[1]=2"]);
    assert_eq!(error_line(Format::Json, "{\n\"a\": }"), 2);
    assert_eq!(error_line(Format::Json, "{\n\n"), 1);
}

#[test]
fn yaml_counts_all_documents_and_copies_aliases() {
    let text = "a: &x\n  b: 1\n  c: [u, v]\nd: *x\n---\na: two\n...\n- 3\n";
    assert_eq!(
        lines(Format::Yaml, text),
        [
            "a.b=1", "a.c[0]=u", "a.c[1]=v", "d.b=1", "d.c[0]=u", "d.c[1]=v", "a=two", "[0]=3"
        ]
    );
    let settings = read(Format::Yaml, "a:\n  - b\n  -\n    c: d\n");
    assert_eq!(settings.values(&["a"])[0].line, 1);
    assert_eq!(settings.values(&["a", "0"])[0].line, 2);
    assert_eq!(settings.values(&["a", "1", "c"])[0].line, 4);
}

#[test]
fn yaml_merges_tables() {
    let text = "x: &x {a: 1, n: {o: 2}}\ny: &y {b: 2}\nc:\n  <<: *x\nd:\n  <<: [*x, *y]\ne:\n  \"<<\": *y\n";
    let settings = read(Format::Yaml, text);
    let texts = |path: &[&str]| -> Vec<_> {
        let values = settings.values(path);
        values.into_iter().map(|value| value.text).collect()
    };
    assert_eq!(texts(&["c", "a"]), ["1"]);
    assert_eq!(texts(&["c", "n", "o"]), ["2"]);
    assert_eq!(texts(&["d", "n", "o"]), ["2"]);
    assert_eq!(texts(&["d", "b"]), ["2"]);
    assert!(texts(&["e", "b"]).is_empty());
}

#[test]
fn yaml_scalars_have_the_type_of_their_notation_and_tag() {
    for (value, expected) in [
        ("true", SettingKind::Boolean),
        ("FALSE", SettingKind::Boolean),
        ("'true'", SettingKind::Text),
        ("!!str true", SettingKind::Text),
        ("! true", SettingKind::Text),
        ("!!bool 'true'", SettingKind::Boolean),
        ("!<tag:yaml.org,2002:bool> true", SettingKind::Boolean),
        ("no", SettingKind::BooleanOrText),
        ("'no'", SettingKind::Text),
        ("", SettingKind::Null),
        ("~", SettingKind::Null),
        ("-1.5e3", SettingKind::Number),
        ("1.2.3", SettingKind::Text),
        (".inf", SettingKind::Text),
        ("!ENV x", SettingKind::Expression),
        ("!ENV [a, true]", SettingKind::Expression),
        ("!!python/name:a.b", SettingKind::Expression),
        ("${HOME}/x", SettingKind::Expression),
        ("|\n  true\n", SettingKind::Text),
        ("[]", SettingKind::EmptyCollection),
        ("{a: }", SettingKind::Collection),
    ] {
        let text = format!("k: {value}\n");
        assert_eq!(kind(Format::Yaml, &text, &["k"]), expected, "{value}");
    }
}

#[test]
fn yaml_errors_have_lines() {
    assert_eq!(error_line(Format::Yaml, "a: 1\nb: [\n"), 3);
    assert_eq!(error_line(Format::Yaml, "a: 1\n? [b]\n: c\n"), 2);
    assert_eq!(error_line(Format::Yaml, "a: *b\n"), 1);
    assert_eq!(error_line(Format::Yaml, "a: &a\n  b: *a\n"), 2);
}

#[test]
fn ini_follows_python() {
    let text = "; c\n[a b]  ; c\nOne = 1\ntwo : x = y\n  more # c\n  # c\n\n  last\nflag\nempty =\n[DEFAULT]\nthree=%(one)s\n";
    let settings = read(Format::Ini, text);
    assert_eq!(
        listing(&settings),
        [
            "\"a b\".one=1",
            "\"a b\".two=x = y\nmore # c\n\nlast",
            "\"a b\".flag=",
            "\"a b\".empty=",
            "DEFAULT.three=%(one)s"
        ]
    );
    let value = |name: &str| settings.values(&["a b", name])[0].clone();
    assert_eq!(value("ONE").kind, SettingKind::Untyped);
    assert_eq!(value("flag").kind, SettingKind::Flag);
    assert_eq!(value("empty").kind, SettingKind::Untyped);
    assert_eq!(value("three").kind, SettingKind::Expression);
    assert_eq!(value("empty").line, 10);
    assert!(settings.values(&["A B", "one"]).is_empty());
    assert_eq!(error_line(Format::Ini, "# c\na = 1\n"), 2);
    assert_eq!(error_line(Format::Ini, "[a]\n= 1\n"), 2);
    assert_eq!(error_line(Format::Ini, "[a]\nb\n  c\n"), 3);
}

#[test]
fn npm_rc_follows_the_package_ini() {
    let text = "script-shell=/bin/x ; c\n//r.example/:_authToken = ${T}\nflag\nq = \"a;b\"\ns = 'c;d'\ne = a\\;b\\\\c\\d\nl[] = 1\nl[] = 2\n[a.b]\nx = false\n[c\\.d]\ny = null\n=z\n";
    let settings = read(Format::NpmRc, text);
    assert_eq!(
        listing(&settings),
        [
            "script-shell=/bin/x",
            "\"//r.example/:_authToken\"=${T}",
            "flag=true",
            "q=a;b",
            "s=c;d",
            "e=a;b\\c\\d",
            "l[0]=1",
            "l[0]=2",
            "a.b.x=false",
            "\"c.d\".y=null"
        ]
    );
    assert_eq!(settings.values(&["flag"])[0].kind, SettingKind::Boolean);
    assert_eq!(settings.values(&["a", "b", "x"])[0].line, 10);
}

#[test]
fn yarn_rc_follows_yarn_1() {
    let text = "# c\nyarn-path \"./a b.cjs\"\r\nlastUpdateCheck 123\n--install.frozen-lockfile true\n\"@x:registry\" \"https://r.example\"\nb, c false\nd:\n  e 1\n  f:\n    g \"h\"\ni ./j # k\n";
    let settings = read(Format::YarnRc, text);
    assert_eq!(
        listing(&settings)[..8],
        [
            "yarn-path=./a b.cjs",
            "lastUpdateCheck=123",
            "\"--install.frozen-lockfile\"=true",
            "@x:registry=https://r.example",
            "b=false",
            "c=false",
            "d.e=1",
            "d.f.g=h",
        ]
    );
}

#[test]
fn yarn_rc_falls_back_to_yaml() {
    assert_eq!(
        lines(Format::YarnRc, "yarn-path: '~/a.cjs'\n"),
        ["yarn-path=~/a.cjs"]
    );
    assert_eq!(error_line(Format::YarnRc, "a 1\nb\n"), 2);
    assert_eq!(error_line(Format::YarnRc, "a 'x y'\n"), 1);
}

#[test]
fn variables_of_git_in_subsections_are_left_out() {
    let text = "[Core] bare = false ; no\n\tfileMode\n[core \"x\"]\nbare = true\n# c\n\
                [include]\npath = \"a # b\"\n[a]\nb = x \\\n y\n";
    let expected = [
        ("core.bare", "false"),
        ("core.filemode", "true"),
        ("include.path", "a # b"),
        ("a.b", "x  y"),
    ];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(git_variables(text).as_deref(), Some(&expected[..]));
    let refused = format!("{text}[core\nbare = true\n");
    assert_eq!(git_variables(&refused), None);
}

#[test]
fn git_config_follows_git() {
    let text = "[Core]\n\tFSMonitor = \"a \\\"b\\\" \" c ; d\n\tbare\n[filter \"L.fs\"] clean = x \\\n  y\n[a.B]z=\"#\"\n[url \"\\x\"]\r\nk=\r\n";
    let settings = read(Format::GitConfig, text);
    assert_eq!(
        listing(&settings),
        [
            "core.fsmonitor=a \"b\"  c",
            "core.bare=true",
            "filter.\"L.fs\".clean=x   y",
            "a.b.z=#",
            "url.x.k="
        ]
    );
    assert_eq!(settings.values(&["CORE", "fsMonitor"])[0].line, 2);
    assert_eq!(settings.values(&["Filter", "L.fs", "CLEAN"])[0].line, 4);
    assert!(settings.values(&["filter", "l.fs", "clean"]).is_empty());
    assert_eq!(settings.values(&["a", "b", "z"])[0].line, 6);
    for (text, line) in [
        ("[a]\nb = \"\n", 2),
        ("[a]\nb = \\x\n", 2),
        ("[a\n]", 1),
        ("\n[a \"b]", 2),
        ("[a]\n1 = 2", 2),
        ("[a]\nb_c = 2", 2),
        ("[]", 1),
    ] {
        assert_eq!(error_line(Format::GitConfig, text), line, "{text:?}");
    }
}

#[test]
fn a_long_text_is_an_error() {
    let text = " ".repeat(1 << 20);
    assert!(Settings::read(Format::Json, &text).is_ok());
    assert_eq!(
        Settings::read(Format::Json, &(text + " ")).unwrap_err(),
        SettingsError::TooLong {
            length: (1 << 20) + 1
        }
    );
}
