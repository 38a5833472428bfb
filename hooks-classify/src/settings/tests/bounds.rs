//! Bounds: no text panics, overflows the stack or needs more than linear memory.

use proptest::prelude::*;

use super::super::pattern::SettingPattern;
use super::super::{MAX_SETTINGS_BYTES, Settings, SettingsError, SettingsFormat as Format};
use super::{FORMATS, listing};

/// Pieces of which all formats have some meaning.
const PIECES: &str = r##"[ ] { } "a" 'b' a b.c = : , - ? ! & * | > # ; // /* */ \ \n \t % ${x} <<: &a *a !!str !x true no 1 0.5 [[ ]] """ ''' --- ... [a "b"] [a.b] ~ é"##;

fn text_of_pieces() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES
        .split(' ')
        .chain([" ", " ", "\n", "\n", "\n  ", "\r\n", "\t", ": ", "- "])
        .collect();
    let piece = proptest::sample::select(pieces);
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in text_of_pieces(), other in any::<String>()) {
        for text in [&text, &other] {
            for format in FORMATS {
                match Settings::read(format, text) {
                    Ok(settings) => for node in 0..settings.len() {
                        let line = settings.value(node).line;
                        prop_assert!((1..=text.len() + 1).contains(&line), "{format:?} {line}");
                    },
                    Err(error) => prop_assert!(error.line() >= 1),
                }
            }
            if let Ok(pattern) = SettingPattern::parse(text) {
                prop_assert!(!pattern.keys.is_empty());
            }
        }
    }

    #[test]
    fn the_path_of_a_value_finds_the_value(text in text_of_pieces()) {
        for format in FORMATS {
            let Ok(settings) = Settings::read(format, &text) else { continue };
            for node in 0..settings.len() {
                let path = settings.path_text(node);
                let pattern = SettingPattern::parse(&format!("{path} ?")).expect("a path is a pattern");
                let found: Vec<_> = pattern.all_matches(&settings).collect();
                let expected = settings.value(node);
                prop_assert!(found.iter().any(|found| found.value == *expected), "{path}");
            }
        }
    }
}

/// Texts with many levels.
fn deep_texts() -> Vec<(Format, String)> {
    let repeat = |open: &str, close: &str| {
        let count = (MAX_SETTINGS_BYTES - 10) / (open.len() + close.len());
        format!("{}{}", open.repeat(count), close.repeat(count))
    };
    let dotted = "a.".repeat(70) + "a";
    let dotted_tables: String =
        format!("a = {}1", format!("{{{dotted} = ").repeat(70)) + &"}".repeat(70);
    let indented: String = (0..1400)
        .map(|level| format!("{}a:\n", " ".repeat(level)))
        .collect();
    let indented_yarn: String = (0..700)
        .map(|level| format!("{}a:\n", "  ".repeat(level)))
        .collect();
    vec![
        (Format::Toml, "a=".to_owned() + &repeat("[", "]")),
        (Format::Toml, "a=".to_owned() + &repeat("{a=", "}")),
        (Format::Toml, repeat("a.", "") + "a=1"),
        (Format::Toml, format!("[{}a]", repeat("a.", ""))),
        (
            Format::Toml,
            format!("[{dotted}]\n{dotted} = {{{dotted} = 1}}"),
        ),
        (Format::Toml, dotted_tables),
        (Format::Json, repeat("[", "]")),
        (Format::Json, repeat("{\"a\":", "}")),
        (Format::Yaml, repeat("[", "]")),
        (Format::Yaml, repeat("{a: ", "}")),
        (Format::Yaml, repeat("- ", "")),
        (Format::Yaml, repeat("? ", "")),
        (Format::Yaml, indented),
        (Format::YarnRc, repeat("a:", "")),
        (Format::YarnRc, indented_yarn),
        (Format::NpmRc, format!("[{}]", repeat("a.", ""))),
    ]
}

#[test]
fn deep_nesting_is_an_error() {
    for (format, text) in deep_texts() {
        let start: String = text.chars().take(20).collect();
        assert!(Settings::read(format, &text).is_err(), "{format:?} {start}");
    }
}

#[test]
fn nesting_below_the_bound_is_read() {
    for (format, text) in [
        (
            Format::Toml,
            format!("a = {}{}", "[".repeat(63), "]".repeat(63)),
        ),
        (
            Format::Json,
            format!("{}1{}", "[".repeat(64), "]".repeat(64)),
        ),
        (
            Format::Yaml,
            format!("{}1{}", "[".repeat(64), "]".repeat(64)),
        ),
        (Format::NpmRc, format!("[{}a]\nb", "a.".repeat(62))),
    ] {
        assert!(Settings::read(format, &text).is_ok(), "{format:?}");
    }
}

#[test]
fn aliases_are_bounded() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let alias = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 9].join(", "));
    }
    let error = Settings::read(Format::Yaml, &bomb).unwrap_err();
    assert!(
        matches!(error, SettingsError::TooManyCopies { .. }),
        "{error}"
    );
    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(1 << 19),
        "*a, ".repeat(1000)
    );
    let error = Settings::read(Format::Yaml, &long).unwrap_err();
    assert!(
        matches!(error, SettingsError::TooManyCopies { .. }),
        "{error}"
    );
    let keys = format!("&a {}: 1\n", "x".repeat(100));
    assert!(listing(&Settings::read(Format::Yaml, &keys).unwrap()).len() == 1);
    let names = format!("{}:\n  b 1\n", ["a"; 1000].join(", "));
    let settings = Settings::read(Format::YarnRc, &names).unwrap();
    assert_eq!(settings.values(&["a", "b"]).len(), 1000);
}
