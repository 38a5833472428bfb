//! Passwords and keys in SQL statements. Returns masking rules.

use super::precondition::Precondition::Any;
use super::rule::PatternSource::Built;
use super::rule::{MaskRule, PatternSource, literal, secret};

/// Whitespace and comments between the words of a statement.
const GAP: &str = r"(?:\s|\\n|/\*[^*]*\*/)+";
const MAY_GAP: &str = r"(?:\s|\\n|/\*[^*]*\*/)*";

/// An SQL string, within any shell quotes: `'pw'`, `\'pw\'`, `'\''pw'\''`, `$$pw$$`.
const STRING: &str = r#"(?:[EeNnXx]|[Uu]&)?(?:'"'"'[^'"]*'"'"'|'"'[^'"]*'"|'\\''[^'\\]*'\\''|\\"[^"\\]*\\"|\\'[^'\\]*\\'|"[^"\n]*"|''[^']+''|'(?:[^'\\]|''|\\[^'])*(?:\\'[^';\n]*)*'|\\?\$\w*\\?\$.*?\\?\$\w*\\?\$)"#;

/// Matches a string or a word.
fn value() -> String {
    format!(r#"(?s:{STRING}|[^\s;'"(),\\$][^\s;'"(),\\]*)"#)
}

pub(super) fn rules() -> Vec<MaskRule> {
    let statement = |need, pattern: PatternSource, counts| secret(need, pattern, counts).strings();
    vec![
        // `IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin AS 'x'`, `IDENTIFIED VIA plugin USING PASSWORD('x')`
        statement(
            Any(&["identified"]),
            Built(|| format!(
                r"(?i)\bidentified{GAP}(?:(?:with|via){GAP}\S+?{GAP}(?:by|as|using)|by){GAP}(?:values{GAP}|password{GAP})?(?:password{MAY_GAP}\({MAY_GAP})?({value})",
                value = value(),
            )),
            |captures, text| {
                let word = text.to_ascii_lowercase();
                !matches!(&*word, "random" | "password" | "values") && literal(captures, text)
            },
        ),
        statement(
            Any(&["replace", "salt"]),
            Built(|| format!(r"(?i)\b(?:replace|salt){GAP}({value})", value = value())),
            literal,
        )
        .within(r"(?i)\bidentified\s[^;]*"),
        // `ALTER ROLE x PASSWORD 'y'`, `CREATE LOGIN x WITH PASSWORD = 'y'`, `OPTIONS (password 'y')`
        statement(
            Any(&["password"]),
            Built(|| format!(
                r"(?i)\b(?:old_)?password{MAY_GAP}(?:=|\bto\b|\bis\b)?{MAY_GAP}((?s:{STRING}))"
            )),
            literal,
        )
        .within(
            r"(?i)\b(?:create|alter|set|grant|backup|restore|open|change)\s[^;]*?\bpassword\b(?:[^;]*)",
        ),
        // `SET PASSWORD FOR x = PASSWORD('y')`
        statement(
            Any(&["password"]),
            Built(|| format!(r"(?i)\w*password{MAY_GAP}\({MAY_GAP}((?s:{STRING})){MAY_GAP}\)")),
            literal,
        ),
        statement(
            Any(&["password"]),
            Built(|| format!(
                r"(?i)\bset{GAP}password(?:{GAP}for{GAP}[^=;]+?)?{MAY_GAP}(?:=|\bto\b){MAY_GAP}((?s:{STRING}))"
            )),
            literal,
        ),
        statement(
            Any(&["crypt"]),
            Built(|| format!(r"(?i)\bcrypt\({MAY_GAP}((?s:{STRING})){MAY_GAP},")),
            literal,
        ),
        statement(
            Any(&["crypt"]),
            Built(|| format!(
                r"(?i)\b(?:pgp_sym_(?:en|de)crypt|aes_(?:en|de)crypt|des_(?:en|de)crypt)(?:_bytea)?\([^;]*?,{MAY_GAP}((?s:{STRING})){MAY_GAP}[,)]"
            )),
            literal,
        ),
        statement(
            Any(&["bypassphrase"]),
            Built(|| format!(r"(?i)\b(?:en|de)cryptbypassphrase\({MAY_GAP}((?s:{STRING}))")),
            literal,
        ),
        // Options of statements: `CREATE SECRET s (TYPE s3, SECRET 'x')`.
        statement(
            Any(&["secret", "token", "passphrase", "_key", "connection_string"]),
            Built(|| format!(
                r"(?i)[(,\s]\w*(?:secret|secret_key|token|passphrase|password|access_key|account_key|encryption_key|private_key|connection_string){GAP}((?s:{STRING}))"
            )),
            literal,
        )
        .within(r"(?i)\b(?:create|alter|attach|copy|set|use)\s[^;]*"),
        // Functions with keys as arguments.
        statement(
            Any(&["add_parquet_key"]),
            Built(|| format!(
                r"(?i)\badd_parquet_key\({MAY_GAP}{STRING}{MAY_GAP},{MAY_GAP}((?s:{STRING}))"
            )),
            literal,
        ),
        statement(
            Any(&["s3"]),
            Built(|| format!(
                r"(?i)\bs3(?:cluster)?\({MAY_GAP}(?:{STRING}{MAY_GAP},{MAY_GAP}){{2,3}}((?s:{STRING})){MAY_GAP}[,)]"
            )),
            literal,
        ),
        statement(
            Any(&["mysql(", "postgresql(", "remote(", "remotesecure(", "mongodb("]),
            Built(|| format!(
                r"(?i)\b(?:mysql|postgresql|mongodb|remote(?:secure)?)\({MAY_GAP}(?:(?:{STRING}|[\w.]+){MAY_GAP},{MAY_GAP}){{4}}((?s:{STRING})){MAY_GAP}[,)]"
            )),
            literal,
        ),
        // Encrypted SQLite files.
        statement(
            Any(&["attach"]),
            Built(|| format!(r"(?i)\battach\b[^;]*?\bkey{GAP}((?s:{STRING}))")),
            literal,
        ),
        statement(
            Any(&["pragma"]),
            Built(|| format!(
                r"(?i)\bpragma{GAP}(?:\w+\.)?(?:re|hex|hexre|text|textre)?key{MAY_GAP}[=(]{MAY_GAP}((?s:{STRING}))"
            )),
            literal,
        ),
    ]
}
