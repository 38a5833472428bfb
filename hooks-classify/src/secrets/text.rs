//! Secrets in plain text, judged by the text around them: a text in, the ranges of its secrets out.

use std::ops::Range;

use regex::Captures;

use super::code::CODE_RULES;
use super::names::{LOGINS, OTP_SUBJECTS, SETTINGS, SHARED_USERS, SecretName};
use super::rule::{ContextRule, VALUE, always, find_all, is_literal, literal, rule};
use super::sql::SQL_RULES;
use crate::model::lazy_regex::LazyRegex;

/// Returns the secrets of a text that their context shows, in no order.
pub(crate) fn secrets_by_context(text: &str) -> Vec<Range<usize>> {
    let mut found = find_all(RULES.iter().chain(&CODE_RULES).chain(&SQL_RULES), text);
    bot_tokens(text, &mut found);
    named_values(text, &mut found);
    found
}

/// Adds the tokens of bots, which have no mark: three parts with dots between them.
fn bot_tokens(text: &str, found: &mut Vec<Range<usize>>) {
    static TOKEN: LazyRegex = LazyRegex::new(|| {
        r"\b[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}".to_owned()
    });
    const MIN_LENGTH: usize = 58;
    let is_long = |word: &str| word.len() >= MIN_LENGTH && word.matches('.').count() >= 2;
    if text.split_whitespace().any(is_long) {
        found.extend(TOKEN.get().find_iter(text).map(|token| token.range()));
    }
}

/// Returns the private keys of a text in the format of PEM, also without their ends.
pub(super) fn private_keys(text: &str) -> Vec<Range<usize>> {
    static KEY: LazyRegex = LazyRegex::new(|| {
        r#"-----BEGIN [^-]*-----(?:[A-Za-z0-9+/=\s\\:,.-]*?-----END [^-]*-----|[^\s'";|&<>()$`]*)"#
            .to_owned()
    });
    match text.contains("-----BEGIN ") {
        true => KEY.get().find_iter(text).map(|key| key.range()).collect(),
        false => Vec::new(),
    }
}

/// Returns the passwords of a `.pgpass` file: `HOST:PORT:DATABASE:USER:PASSWORD`.
pub(crate) fn passwords_of_pgpass(text: &str) -> Vec<Range<usize>> {
    static LINE: LazyRegex = LazyRegex::new(|| {
        r#"[\w.*-]+:(?:[0-9]+|\*):[^:\s"']+:[^:\s"']+:((?:[^\s"'\\]|\\[^n])+)"#.to_owned()
    });
    let found = LINE.get().captures_iter(text);
    let found = found.filter_map(|captures| captures.get(1));
    found
        .filter(|found| is_literal(found.as_str()))
        .map(|found| found.range())
        .collect()
}

/// Returns the secrets that follow options in a text that no parser has read as a command.
pub(crate) fn secrets_after_options(text: &str) -> Vec<Range<usize>> {
    match has_secret_option(text) {
        true => find_all(&OPTION_RULES, text),
        false => find_all(&OPTION_RULES[1..], text),
    }
}

/// Returns `true` if an option in a text may have a secret as its value. Compiling the expression for
/// options takes a million instructions.
fn has_secret_option(text: &str) -> bool {
    let mut options = text.split_whitespace().filter(|word| word.starts_with('-'));
    options.any(|option| !option.is_ascii() || SecretName::new(option).is_secret())
}

static RULES: [ContextRule; 17] = [
    rule(
        &["-----begin"],
        || r"(?s)-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\z)".to_owned(),
        always,
    ),
    // A JSON Web Token, whose parts are separated by dots.
    rule(
        &["eyj"],
        || r"\beyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)*".to_owned(),
        always,
    ),
    rule(
        &[
            "hooks.slack.com/",
            "/api/webhooks/",
            "/webhookb2/",
            "/webhook/",
            "hooks.zapier.com/",
            ".make.com/",
            "/with/key/",
            "/bot/v2/hook/",
        ],
        || {
            r"(?i)\b(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks|webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|hooks\.zapier\.com/hooks/catch|hook\.\w+\.make\.com|maker\.ifttt\.com/trigger/[^\s/]+/(?:json/)?with/key|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/([^\s'\x22]+)".to_owned()
        },
        always,
    ),
    // Tokens that are recognised by more than a mark.
    rule(
        &["re_", "pat-", "pk_"],
        || {
            r"\b(?:re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,28}|pat-[a-z]{2,3}[0-9]-[0-9a-f-]{36}|pk_[0-9]{5,}_[A-Z0-9]{30,})\b".to_owned()
        },
        always,
    ),
    rule(
        &["/1"],
        || r"\b[12]/[0-9]{10,}(?:/[0-9]{10,})?:[0-9a-f]{32}\b".to_owned(),
        always,
    ),
    // Hashes of passwords, as `crypt` writes them.
    rule(
        &["$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$gy$", "$argon2"],
        || r"\$(?:1|2[abxy]?|5|6|7|y|gy|argon2[id]{1,2})\$[A-Za-z0-9./$,=+-]{20,}".to_owned(),
        always,
    ),
    // Credentials before the host of a URL, up to the last `@` before the path, or after a slash
    // that belongs to a password. A user name alone may be a token where a forge accepts one.
    rule(
        &["http://", "https://"],
        || r#"(?i)https?://([^\s/:"'<>]+)@"#.to_owned(),
        |_, text| !SHARED_USERS.contains(&text),
    ),
    rule(
        &["://"],
        || r#"(?i)[a-z][a-z0-9+.-]*://([^\s/:@"'<>]*:[^\s"'<>]*)@"#.to_owned(),
        |_, text| {
            let password = text.rsplit(':').next().unwrap_or_default();
            !begins_with_a_name(text) && (password.is_empty() || is_literal(password))
        },
    ),
    rule(
        &["://"],
        || r#"(?i)[a-z][a-z0-9+.-]*://[^\s/:@"'<>]*:([^\s"'<>]*)@"#.to_owned(),
        |captures, password| {
            let whole = captures.get(0).map_or("", |group| group.as_str());
            let user = whole.split_once("://").map_or("", |(_, user)| user);
            begins_with_a_name(user.trim_end_matches('@')) && is_literal(password)
        },
    ),
    // Headers.
    rule(
        &["bearer", "negotiate", "aws4-hmac-sha256"],
        || format!(r"(?i)\b(?:bearer|negotiate|aws4-hmac-sha256)[ \t]+({VALUE})"),
        |captures, text| {
            let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
            !methods.contains(&text) && !text.starts_with('-') && literal(captures, text)
        },
    ),
    rule(
        &["authorization"],
        || {
            r#"(?i)\b(?:proxy-|x-)?authorization\\*["']?[ \t]*[:=][ \t]*\\*["']?(?:[a-z][\w.-]*\\?[ \t]+)?((?:[^"'\\\s]|\\[^rn"'])(?:="[^"\n]*"|=\\"[^"\n]*\\"|[^"'\\\r\n]|\\[^rn"'])*)"#.to_owned()
        },
        is_credential,
    ),
    rule(
        &["cookie:"],
        || r#"(?i)\b(?:set-)?cookie:\s*([^"'\n]+)"#.to_owned(),
        always,
    ),
    // `.netrc`
    rule(
        &["machine", "default"],
        || {
            const GAP: &str = r"(?:\s|\\n|\\t|\\r)+";
            format!(
                r#"\b(?:machine{GAP}\S+?|default)(?:{GAP}(?:login|user|account){GAP}[^\s\\]+)*{GAP}passw(?:or)?d{GAP}("[^"]*"|[^\s"'\\]+)"#
            )
        },
        literal,
    ),
    // The protocol of FTP, and of Redis.
    rule(
        &["pass ", "user ", "auth "],
        || {
            r"(?m)^(?:quote\s+)?(?:PASS[ \t]+|AUTH[ \t]+(?:[^\s\\]+[ \t]+)?)([^\s\\]+)(?:\\r|\\n|\r|$)".to_owned()
        },
        literal,
    ),
    // An option of a mount.
    rule(
        &["user=", "username="],
        || r#"\buser(?:name)?=[^\s,%'"=]+%([^\s,'"]+)"#.to_owned(),
        literal,
    ),
    // A shared signature in the query of a URL.
    rule(
        &["sig=", "sid=", "key="],
        || r"[?&](?:sig|sid|key|auth|session)=([^&\s'\x22]+)".to_owned(),
        literal,
    ),
    // The argument of a function that hashes or checks a one-time password.
    rule(
        &["otp("],
        || format!(r"(?i)\b[TH]OTP\(\s*({})", super::rule::QUOTED),
        literal,
    ),
];

static OPTION_RULES: [ContextRule; 2] = [
    rule(
        &["-"],
        || format!(r"(?i)(?:^|\s)-{{1,2}}[A-Za-z][A-Za-z0-9_.-]*\s+({VALUE})"),
        |captures, text| {
            let whole = captures.get(0).map_or("", |group| group.as_str());
            let name = SecretName::new(whole.strip_suffix(text).unwrap_or(whole));
            !text.starts_with('-') && !name.is_switch() && is_value(&name, text)
        },
    ),
    // `--user NAME:PASSWORD`
    rule(
        &["-u", "--user", "--proxy-user"],
        || {
            r#"(?:^|\s)(?:-[a-zA-Z]*[uU]|--(?:proxy-)?user)[ =]?(?:"[^"':]*:([^"]+)|'[^"':]*:([^']+)|[^\s"':]*:((?:[^\s"'\\]|\\.)+))"#.to_owned()
        },
        |captures, text| !text.starts_with("//") && literal(captures, text),
    ),
];

/// Adds the values after the names of secrets: assignments, settings, JSON, queries of URLs.
fn named_values(text: &str, found: &mut Vec<Range<usize>>) {
    if has_secret_name_before_sign(text) {
        find_named_values(text, found);
    }
}

fn find_named_values(text: &str, found: &mut Vec<Range<usize>>) {
    static NAMED: LazyRegex = LazyRegex::new(|| {
        format!(
            r#"["']?([A-Za-z0-9_.-]*[A-Za-z0-9])(\\*["']?\]?(?:\s+\+?:?=\s+|\+?:?=|\s*:\s*))({VALUE})"#
        )
    });
    let mut from = 0;
    while let Some(captures) = NAMED.get().captures_at(text, from) {
        let group = |number: usize| captures.get(number).map_or(0..0, |group| group.range());
        let (name, sign, value) = (group(1), group(2), group(3));
        let (sign, shown) = (&text[sign], &text[value.clone()]);
        // A member of an object, from which a shell may have removed the quotes.
        let before = text[..name.start].trim_end();
        let is_member = before.ends_with(['{', ',']) && before.contains('{');
        let name = SecretName::new(&text[name]);
        let is_secret = name.is_secret()
            && !closes_a_quote(&captures, shown)
            && (sign.contains('=') || is_member || is_colon_value(text, sign, &value))
            && is_value(&name, shown);
        let line = shown.find('\n').unwrap_or(shown.len());
        let value = value.start..value.start + first_piece(shown).min(line);
        from = match is_secret {
            true => value.end,
            false => value.start,
        }
        .max(from + 1);
        if is_secret {
            found.push(value);
        }
        while from < text.len() && !text.is_char_boundary(from) {
            from += 1;
        }
        if from > text.len() {
            return;
        }
    }
}

/// Returns `true` if a `:` or `=` follows a name that may be the name of a secret, or end with one.
/// Compiling the expression for such names takes a million instructions.
fn has_secret_name_before_sign(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let may_precede_sign =
        |c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '\'' | ']' | '+');
    let signs = text.match_indices([':', '=']);
    let mut names = signs.map(|(at, _)| {
        let before = text[..at].trim_end_matches(may_precede_sign);
        &before[before.trim_end_matches(is_of_name).len()..]
    });
    names.any(|name| SecretName::new(name).may_end_with_a_secret())
}

/// Returns the length of the first piece of a value: a quoted string, or the text before one.
fn first_piece(value: &str) -> usize {
    let escapes = value.len() - value.trim_start_matches('\\').len();
    let Some(quote) = value[escapes..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''))
    else {
        let quote = value.find(['"', '\'']).unwrap_or(value.len());
        return value[..quote].trim_end_matches('\\').len().max(1);
    };
    let inside = escapes + 1;
    let mut from = inside;
    while let Some(at) = value[from..].find(quote).map(|at| from + at) {
        let before = value[inside..at].len() - value[inside..at].trim_end_matches('\\').len();
        if before == escapes || escapes == 0 && before & 1 == 0 {
            return at + 1;
        }
        from = at + 1;
    }
    value.len()
}

/// Returns `true` if a text after `NAME:` is a value, and neither the next part of a path
/// (`token::tests`, `otp:77`) nor the next word of a sentence (`token: fix the parser`).
fn is_colon_value(text: &str, sign: &str, value: &Range<usize>) -> bool {
    let shown = &text[value.clone()];
    let is_string = shown.starts_with(['"', '\'', '\\']);
    let is_word = shown.bytes().all(|byte| byte.is_ascii_alphabetic());
    let behind = text[value.end..].strip_prefix(' ').unwrap_or_default();
    let is_sentence = is_word && behind.starts_with(|c: char| c.is_ascii_alphabetic());
    is_string || sign.ends_with(char::is_whitespace) && !is_sentence
}

/// Returns `true` for a value after the name of a secret, and `false` for its source, a switch or a
/// measure.
pub(crate) fn is_value(name: &SecretName, text: &str) -> bool {
    if !name.is_secret() {
        return false;
    }
    let bare = text.trim_start_matches(['"', '\'', '\\']);
    let is_elsewhere = ["env:", "file:", "fd:", "(\"", "('", "op://", "arn:"]
        .iter()
        .any(|source| bare.starts_with(source));
    // The file is read, and the person who decides has to see its name.
    let is_file = bare
        .strip_prefix('@')
        .is_some_and(|path| path.starts_with(['/', '~', '.']));
    let word = bare
        .trim_end_matches(['"', '\'', '\\', ',', '}'])
        .to_ascii_lowercase();
    let is_setting = SETTINGS.contains(&word.as_str());
    let is_kind_of_login = name.names_a_login() && LOGINS.contains(&bare);
    let digits = bare.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_measure = name.names_a_measure()
        && bare.len() - digits.len() <= 3
        && (1..=9).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_shown = is_elsewhere || is_file || is_setting || is_kind_of_login || is_measure;
    !(is_shown || name.is_path(bare)) && is_literal(text)
}

/// Returns `true` if the quote before a value closes one before its name: `"password:"` is a
/// prompt.
fn closes_a_quote(captures: &Captures<'_>, value: &str) -> bool {
    let whole = captures.get(0).map_or("", |group| group.as_str());
    let Some(quote) = whole.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return false;
    };
    let name = whole[1..].strip_suffix(value).unwrap_or("");
    let behind = value.strip_prefix(quote);
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | ')' | ']' | '}' | ',');
    !name.contains(quote)
        && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(ends))
}

/// Returns `true` if the text is a name and a password, and the name is not a secret: a token may
/// take the place of the name.
fn begins_with_a_name(text: &str) -> bool {
    let Some((name, password)) = text.split_once(':') else {
        return false;
    };
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let is_name = (1..=20).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-+%".contains(&b))
        && digits <= 4;
    is_name && !matches!(password, "" | "x" | "x-oauth-basic" | "api_token" | "@")
}

/// Returns `true` for the credentials of a header; the scheme alone is not a credential.
fn is_credential(_: &Captures<'_>, text: &str) -> bool {
    let word = text.trim_matches(['"', '\'']);
    let is_scheme = ["basic", "bearer", "digest", "token", "negotiate"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme));
    // `Authorization by owner: let the owner delete it`, `authorization::tests`
    !is_scheme && !text.starts_with(':') && is_literal(text)
}

/// Returns the seeds of one-time passwords, in a text that is about them.
pub(crate) fn one_time_seeds(text: &str) -> Vec<Range<usize>> {
    static SEED: LazyRegex = LazyRegex::new(|| {
        r"\b((?:[A-Z2-7]{16,}|[a-z2-7]{16,}|[A-Za-z2-7]{4}(?:[ -][A-Za-z2-7]{4}){3,})={0,6})"
            .to_owned()
    });
    let lower = text.to_ascii_lowercase();
    if !OTP_SUBJECTS.iter().any(|word| lower.contains(word)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for seed in SEED.get().find_iter(text) {
        let letters = seed.as_str().bytes().filter(u8::is_ascii_alphanumeric);
        let digits = letters.clone().filter(u8::is_ascii_digit).count();
        let is_upper = !seed.as_str().bytes().any(|byte| byte.is_ascii_lowercase());
        if digits > 0 || is_upper && matches!(letters.count(), 16 | 26 | 32 | 52 | 56 | 64) {
            found.push(seed.range());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces() -> impl Strategy<Value = String> {
        let name = prop_oneof![
            "[a-z]{0,3}[_.-]?(token|PASS|key|api[_-]key|x|compass|sig|2fa-seed)[0-9]?s?[_.-]?",
            "[A-Za-z0-9_.-]{0,6}",
        ];
        let sign = "[\\\\]?[\"']?\\]?[ \t]{0,2}[+]?[:=]{0,2}[ \n]{0,2}";
        let piece = (
            "[ \"'{,-]{0,3}",
            name,
            sign,
            "[\"']?[a-zA-Z0-9é$]{0,4}[\"' ]{0,2}",
        );
        let piece =
            piece.prop_map(|(before, name, sign, value)| format!("{before}{name}{sign}{value}"));
        prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn texts_without_names_of_secrets_have_no_named_values(text in pieces()) {
            let mut found = Vec::new();
            find_named_values(&text, &mut found);
            prop_assert!(found.is_empty() || has_secret_name_before_sign(&text), "{}", text);
            let found = find_all(&OPTION_RULES[..1], &text);
            prop_assert!(found.is_empty() || has_secret_option(&text), "{}", text);
        }
    }
}
