//! Passwords and keys in SQL statements: rules for their clauses and functions.

use super::rule::{ContextRule, literal, rule, rule_within};

/// Whitespace and comments between the words of a statement.
const GAP: &str = r"(?:\s|\\n|/\*[^*]*\*/)+";
const MAY_GAP: &str = r"(?:\s|\\n|/\*[^*]*\*/)*";

/// An SQL string, also within quotes of a shell: `'pw'`, `\'pw\'`, `$$pw$$`.
const STRING: &str = r#"(?:[EeNnXx]|[Uu]&)?(?:'"'"'[^'"]*'"'"'|'\\''[^'\\]*'\\''|\\"[^"\\]*\\"|\\'[^'\\]*\\'|"[^"\n]*"|''[^']+''|'(?:[^'\\]|''|\\.)*'|\\?\$\w*\\?\$.*?\\?\$\w*\\?\$)"#;

/// Matches a string or a word.
fn value() -> String {
    format!(r#"(?s:{STRING}|[^\s;'"(),\\$][^\s;'"(),\\]*)"#)
}

pub(super) static SQL_RULES: [ContextRule; 14] = [
    rule(
        &["identified"],
        || {
            format!(
                r"(?i)\bidentified{GAP}(?:(?:with|via){GAP}\S+?{GAP}(?:by|as|using)|by){GAP}(?:values{GAP}|password{GAP})?(?:password{MAY_GAP}\({MAY_GAP})?({value})",
                value = value(),
            )
        },
        |captures, text| {
            let word = text.to_ascii_lowercase();
            !matches!(&*word, "random" | "password" | "values") && literal(captures, text)
        },
    ),
    rule_within(
        &["identified"],
        || r"(?i)\bidentified\s[^;]*".to_owned(),
        || format!(r"(?i)\b(?:replace|salt){GAP}({value})", value = value()),
        literal,
    ),
    rule_within(
        &["password"],
        || {
            r"(?i)\b(?:create|alter|set|grant|backup|restore|open|change)\s[^;]*?\bpassword\b(?:[^;]*)".to_owned()
        },
        || format!(r"(?i)\b(?:old_)?password{MAY_GAP}(?:=|\bto\b|\bis\b)?{MAY_GAP}((?s:{STRING}))"),
        literal,
    ),
    rule(
        &["password"],
        || format!(r"(?i)\w*password{MAY_GAP}\({MAY_GAP}((?s:{STRING})){MAY_GAP}\)"),
        literal,
    ),
    rule(
        &["password"],
        || {
            format!(
                r"(?i)\bset{GAP}password(?:{GAP}for{GAP}[^=;]+?)?{MAY_GAP}(?:=|\bto\b){MAY_GAP}((?s:{STRING}))"
            )
        },
        literal,
    ),
    rule(
        &["crypt"],
        || format!(r"(?i)\bcrypt\({MAY_GAP}((?s:{STRING})){MAY_GAP},"),
        literal,
    ),
    rule(
        &["crypt"],
        || {
            format!(
                r"(?i)\b(?:pgp_sym_(?:en|de)crypt|aes_(?:en|de)crypt|des_(?:en|de)crypt)(?:_bytea)?\([^;]*?,{MAY_GAP}((?s:{STRING})){MAY_GAP}[,)]"
            )
        },
        literal,
    ),
    rule(
        &["bypassphrase"],
        || format!(r"(?i)\b(?:en|de)cryptbypassphrase\({MAY_GAP}((?s:{STRING}))"),
        literal,
    ),
    rule_within(
        &["secret", "token", "passphrase", "_key", "connection_string"],
        || r"(?i)\b(?:create|alter|attach|copy|set|use)\s[^;]*".to_owned(),
        || {
            format!(
                r"(?i)[(,\s]\w*(?:secret|secret_key|token|passphrase|password|access_key|account_key|encryption_key|private_key|connection_string){GAP}((?s:{STRING}))"
            )
        },
        literal,
    ),
    rule(
        &["add_parquet_key"],
        || format!(r"(?i)\badd_parquet_key\({MAY_GAP}{STRING}{MAY_GAP},{MAY_GAP}((?s:{STRING}))"),
        literal,
    ),
    rule(
        &["s3"],
        || {
            format!(
                r"(?i)\bs3(?:cluster)?\({MAY_GAP}(?:{STRING}{MAY_GAP},{MAY_GAP}){{2,3}}((?s:{STRING})){MAY_GAP}[,)]"
            )
        },
        literal,
    ),
    rule(
        &[
            "mysql(",
            "postgresql(",
            "remote(",
            "remotesecure(",
            "mongodb(",
        ],
        || {
            format!(
                r"(?i)\b(?:mysql|postgresql|mongodb|remote(?:secure)?)\({MAY_GAP}(?:(?:{STRING}|[\w.]+){MAY_GAP},{MAY_GAP}){{4}}((?s:{STRING})){MAY_GAP}[,)]"
            )
        },
        literal,
    ),
    rule(
        &["attach"],
        || format!(r"(?i)\battach\b[^;]*?\bkey{GAP}((?s:{STRING}))"),
        literal,
    ),
    rule(
        &["pragma"],
        || {
            format!(
                r"(?i)\bpragma{GAP}(?:\w+\.)?(?:re|hex|hexre|text|textre)?key{MAY_GAP}[=(]{MAY_GAP}((?s:{STRING}))"
            )
        },
        literal,
    ),
];
