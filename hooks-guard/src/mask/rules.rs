//! Masking rules for all commands. Returns all rules, including those of single [`programs`] and of
//! [`sql`].

use std::sync::LazyLock;

use regex::Captures;

use super::hidden::HiddenKind;
use super::precondition::NAMES;
use super::precondition::Precondition::{Any, AnyWith, OptionWith, Run, RunWith};
use super::rule::PatternSource::Built;
use super::rule::{
    FalsePositiveRisk, LazyRegex, MaskRule, VALUE, always, literal, literal_no_option,
    names_a_source, secret,
};
use super::{programs, sql};

/// A name of a secret.
pub(super) const NAME: &str = r"[A-Za-z0-9_.-]*(?:(?:token|secret|passw(?:or)?d|passphrase|passwort|passcode|passkey|pwd|credentials?|cookie|signature|(?:api|auth|private|access|account|secret|encryption|master|signing)_?key|(?:[tm]?otp|mfa|2fa)_?seed|mnemonic|(?:db|user|root|admin|sudo|become|ssh|smtp|mail|ftp|http|proxy|bind|login)_?pass)[A-Za-z0-9_-]*|(?:[_.-]|\b)(?:key|pass|psk|pw|pin|otp|auth|sig|sid|session|pat)(?:s|[0-9]+|_[A-Za-z0-9_]*)?|pass[0-9]*)";

/// Suffixes of names of measures: their numbers are not secrets.
const MEASURES: &[&str] = &[
    "size",
    "bits",
    "bytes",
    "length",
    "len",
    "count",
    "limit",
    "max",
    "min",
    "ttl",
    "timeout",
    "age",
    "days",
    "hours",
    "minutes",
    "seconds",
    "secs",
    "interval",
    "expiry",
    "expires",
    "lifetime",
    "rounds",
    "iterations",
    "cost",
    "port",
    "version",
    "id",
    "index",
    "number",
    "slots",
];

/// Words with the suffix of a password's name.
const WORDS_IN_PASS: &[&str] = &[
    "bypass",
    "compass",
    "surpass",
    "encompass",
    "trespass",
    "overpass",
    "underpass",
    "stdinpass",
];

pub(super) static RULES: LazyLock<Vec<MaskRule>> = LazyLock::new(|| {
    let mut rules = general();
    rules.extend(programs::rules());
    rules.extend(sql::rules());
    rules
});

/// Digests with the name of their algorithm, and labelled files.
pub(super) static DIGESTS: LazyLock<LazyRegex> = LazyLock::new(|| {
    LazyRegex::new(concat!(
        r"\b(?:sha(?:1|256|384|512)-|SHA256:|h1:)[A-Za-z0-9+/]{27,88}={0,2}",
        // Content ids of IPFS.
        r"|\bQm[A-Za-z0-9]{44}\b|\bbaf[ky][a-z2-7]{55,}\b",
        // Files in base64: images, archives, documents, fonts, sounds.
        r"|(?:iVBORw0KGg|/9j/[2-4]|R0lGODlh|R0lGODdh|UklGR|AAABAA|PHN2Zy|PD94bWwg|UEsDB|JVBERi0|H4sI[AC]",
        r"|QlpoO|KLUv/[QS]|/Td6WFo|N3q8ry|f0VMR|AGFzbQ|d09GM|d09GR|T2dnUw|SUQz|ZkxhQ)[A-Za-z0-9+/]{16,}={0,2}",
    ))
});

/// Words after an option or a command that suggests a secret: the name of an account or a setting,
/// or the key of an entry.
pub(super) static NAMES_OF_ENTRIES: LazyLock<LazyRegex> = LazyLock::new(|| {
    LazyRegex::new(concat!(
        r"\bpulumi\s+config\s+set\b[^;|&\n]*?\s--secret\s+([^-\s]\S*)",
        // `git commit -m 'token: fix the parser'`
        r#"|\bgit\s+(?:commit|tag|merge|stash)\b[^;|&\n]*?\s-\w*m\s*["'][\w()/-]+:\s+([a-z]+)\s"#,
        r"|\b(?:docker|podman|nerdctl|buildah)\b[^;|&\n]*?\s--secret[ =](\S+)",
        r"|\bdscl\b[^;|&\n]*?\s-passwd\s+(/Users/\S+)",
        r"|\b(?i:redis|valkey|keydb)-cli\s(?:-\S+\s+(?:[^-\s]\S*\s+)??)*?(?i:get|del|unlink|exists|ttl|pttl|persist|type|hgetall|hkeys|llen|lrange|smembers|scard|incr|decr|expire|keys)((?:\s+[\w:.*{}-]+)+)",
    ))
});

fn general() -> Vec<MaskRule> {
    vec![
        secret(
            Any(&["-----begin"]),
            r"(?s)-----BEGIN [^-]*-----.*?(?:-----END [^-]*-----|\z)",
            always,
        ),
        // A JSON Web Token, whose parts are separated by dots.
        secret(
            Any(&["eyj"]),
            r"\beyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)*",
            always,
        ),
        secret(
            Any(&[
                "hooks.slack.com/",
                "/api/webhooks/",
                "/webhookb2/",
                "/webhook/",
                "hooks.zapier.com/",
                ".make.com/",
                "/with/key/",
                "/bot/v2/hook/",
                "/triggers/",
            ]),
            r"(?i)\b(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/(?:v\d+/)?webhooks|webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook|hooks\.zapier\.com/hooks/catch|hook\.\w+\.make\.com|maker\.ifttt\.com/trigger/[^\s/]+/(?:json/)?with/key|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/([^\s'\x22]+)",
            always,
        ),
        // Tokens that are recognised by more than a mark.
        secret(
            RunWith(".", 22, |byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
            }),
            r"\b[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
            always,
        ),
        secret(
            Any(&["re_"]),
            r"\b(re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,28})\b",
            always,
        ),
        secret(
            Any(&["pat-"]),
            r"\b(pat-[a-z]{2,3}[0-9]-[0-9a-f-]{36})\b",
            always,
        ),
        secret(Any(&["pk_"]), r"\b(pk_[0-9]{5,}_[A-Z0-9]{30,})\b", always),
        secret(
            RunWith("/", 10, |byte| byte.is_ascii_digit()),
            r"\b([12]/[0-9]{10,}(?:/[0-9]{10,})?:[0-9a-f]{32})\b",
            always,
        ),
        // Hashes of passwords, as `crypt` writes them.
        secret(
            Any(&["$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$gy$", "$argon2"]),
            r"\$(?:1|2[abxy]?|5|6|7|y|gy|argon2[id]{1,2})\$[A-Za-z0-9./$,=+-]{20,}",
            always,
        ),
        // Credentials before the host of a URL, up to the last `@` before the path, or after a
        // slash that belongs to a password.
        secret(
            Any(&["://"]),
            r#"(?i)[a-z][a-z0-9+.-]*://([^\s/"'<>]+)@"#,
            |captures, text| not_git(captures, text) && !begins_with_a_name(text),
        ),
        secret(
            Any(&["://"]),
            r#"(?i)[a-z][a-z0-9+.-]*://([^\s/:@"'<>]*:[^\s"'<>]*)@"#,
            |_, text| !begins_with_a_name(text),
        ),
        secret(
            Any(&["://"]),
            r#"(?i)[a-z][a-z0-9+.-]*://[^\s/:@"'<>]*:([^\s"'<>]*)@"#,
            |captures, password| {
                let whole = captures.get(0).map_or("", |group| group.as_str());
                let user = whole.split_once("://").map_or("", |(_, user)| user);
                begins_with_a_name(user.trim_end_matches('@')) && literal(captures, password)
            },
        ),
        // Headers.
        secret(
            Any(&["bearer", "negotiate", "aws4-hmac-sha256"]),
            Built(|| format!(r"(?i)\b(?:bearer|negotiate|aws4-hmac-sha256)[ \t]+({VALUE})")),
            |captures, text| {
                let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
                !methods.contains(&text) && literal_no_option(captures, text)
            },
        ),
        secret(
            Any(&["authorization"]),
            Built(|| format!(
                r#"(?i)\bauthorization\\*["']?(?:\s*:[ \t]+(?-i:[A-Z][A-Za-z-]{{2,}})[ \t]+|\s*[:=]\s*(?:(?:basic|bearer|token|digest|api-?key|api-token|ssws|geniekey|splunk|oauth|hawk|bot|jwt|key|ntlm|mac|signature|sharedkey|zoho-oauthtoken|client-id)\\?\s+)?)({VALUE})"#
            )),
            is_credential,
        ),
        // Everything after the header name, for any scheme.
        secret(
            Any(&["authorization"]),
            concat!(
                r"(?i)(?:-H|--header)[ =]?'(?:proxy-|x-)?authorization:[ \t]*(?:[a-z][\w.-]*[ \t]+)?([^'\n]+)",
                r#"|(?:-H|--header)[ =]?"(?:proxy-|x-)?authorization:[ \t]*(?:[a-z][\w.-]*[ \t]+)?((?:[^"\\\n]|\\.)+)"#,
                r#"|(?:\\n|\n)(?:proxy-|x-)?authorization:[ \t]*(?:[a-z][\w.-]*[ \t]+)?((?:[^"'\\\n]|\\[^rn])+)"#,
            ),
            is_credential,
        )
        .strings(),
        secret(
            Any(&["authorization"]),
            r#"(?i)'(?:proxy-|x-)?authorization:[ \t]*(?:[a-z][\w.-]*[ \t]+)?([^'\s]+|[^'\n]*=[^'\n]*)'"#,
            is_credential,
        )
        .strings(),
        secret(
            Any(&["authorization"]),
            r#"(?i)"(?:proxy-|x-)?authorization:[ \t]*(?:[a-z][\w.-]*[ \t]+)?([^"\s]+|[^"\n]*=[^"\n]*)""#,
            is_credential,
        )
        .strings(),
        secret(
            Any(&["cookie:"]),
            r#"(?i)\b(?:set-)?cookie:\s*([^"'\n]+)"#,
            always,
        ),
        // Assignments, settings, JSON, URL queries, long options.
        secret(
            AnyWith(NAMES, |c| matches!(c, ':' | '=')),
            Built(|| format!(r#"(?i)["']?\b{NAME}\\*["']?\]?(?:\s+\+?:?=\s+|\+?:?=|\s*:\s*)({VALUE})"#)),
            is_value_of_secret_name,
        ),
        secret(
            AnyWith(NAMES, char::is_whitespace),
            Built(|| format!(r"(?i)(?:^|\s)-{{1,2}}{NAME}\s+({VALUE})")),
            |captures, text| !text.starts_with('-') && is_value_of_secret_name(captures, text),
        ),
        secret(
            Any(&["--from-literal"]),
            Built(|| format!(r"\s--from-literal[ =][\w.-]+=({VALUE})")),
            literal,
        ),
        secret(
            Any(&["secret"]),
            Built(|| format!(r"\bsecrets?\b[^;|&\n]*?\s(?:--(?:value|body)[ =]|-b[ =]?)({VALUE})")),
            literal,
        ),
        // `--user NAME:PASSWORD`; the name may be kept.
        secret(
            OptionWith(":", b'u'),
            r#"(?:^|\s)(?:-[a-zA-Z]*[uU]|--(?:proxy-)?user)[ =]?(?:"[^"':]*:([^"]+)|'[^"':]*:([^']+)|[^\s"':]*:((?:[^\s"'\\]|\\.)+))"#,
            |captures, text| !text.starts_with("//") && literal(captures, text),
        ),
        secret(
            Any(&["%"]),
            Built(|| format!(r"(?:^|\s)-U\s*[^\s%]+%({VALUE})")),
            literal,
        ),
        // Random-looking text.
        MaskRule {
            risk: FalsePositiveRisk::High,
            ..secret(
                Run(32, |byte| byte.is_ascii_hexdigit()),
                r"\b[0-9a-fA-F]{32,}\b",
                always,
            )
        },
        MaskRule {
            risk: FalsePositiveRisk::Some,
            ..secret(
                Run(20, |byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'_' | b'-')
                }),
                // Does not include a name before `=`.
                r"[A-Za-z0-9+_-]{20,}={0,2}",
                looks_random,
            )
        },
        MaskRule {
            risk: FalsePositiveRisk::Some,
            ..secret(
                Run(32, |byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
                }),
                r"[A-Za-z0-9+/]{32,}={0,2}",
                looks_random,
            )
        },
        MaskRule {
            need: Any(&["@"]),
            scope: None,
            pattern: LazyRegex::new(
                r#"[^\s@<>"'`(),;:=|&/\[\]{}$]+@[^\s@<>"'`(),;:=|&/\[\]{}$]+\.[^\s@<>"'`(),;:=.|&/\[\]{}$]{2,}"#,
            ),
            kind: HiddenKind::Mail,
            counts: |_, text| !text.starts_with("git@"),
            risk: FalsePositiveRisk::High,
            finds_words: false,
        },
    ]
}

/// Returns `true` if the text is a name and a password, and the name is not a secret: a token may
/// take the place of the name.
pub(super) fn begins_with_a_name(text: &str) -> bool {
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

/// Returns `false` for `git`, a user name that many servers share.
fn not_git(_: &Captures<'_>, text: &str) -> bool {
    text != "git" && text != "hg"
}

/// Returns `true` for a value after the name of a secret, if the name does not denote the source of
/// a secret or the program that provides it.
fn is_value_of_secret_name(captures: &Captures<'_>, text: &str) -> bool {
    let whole = captures.get(0).map_or("", |group| group.as_str());
    let name = whole.strip_suffix(text).unwrap_or(whole).to_lowercase();
    let name = name
        .trim_end_matches(|c: char| !c.is_alphanumeric())
        .trim_start();
    let is_elsewhere = ["env:", "file:", "fd:"]
        .iter()
        .any(|source| text.starts_with(source));
    // The elements of a pair or a list follow its name.
    let is_pair = text.starts_with("(\"") || text.starts_with("('");
    // The file is read, and the person who decides has to see its name.
    let is_file = text
        .trim_start_matches(['"', '\''])
        .strip_prefix('@')
        .is_some_and(|path| path.starts_with(['/', '~', '.']));
    // The working directory of a shell, the key of an object, or the name of a Git setting.
    let is_known = match name
        .rsplit(['$', '"', '\'', ' ', '-'])
        .next()
        .unwrap_or_default()
    {
        "pwd" => text.starts_with('/'),
        "key" => name.starts_with('-') && text.contains(['/', '.']),
        name => name.starts_with("git_config_key"),
    };
    let is_kind_of_login = name.ends_with("auth")
        && [
            "password", "basic", "bearer", "digest", "ntlm", "oauth", "oauth2", "token", "jwt",
        ]
        .contains(&text);
    let is_setting = ["true", "false", "null", "none", "yes", "no", "on", "off"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    // The next part of a module path: `token::tests`.
    let is_joined = whole.ends_with(&format!(":{text}"));
    let is_path = is_joined && text.starts_with(':');
    // `-storepass:env NAME`
    let is_elsewhere = is_elsewhere || is_joined && matches!(text, "env" | "file");
    !is_elsewhere
        && !is_path
        && !is_number_of(name, whole, text)
        && !WORDS_IN_PASS.iter().any(|word| name.ends_with(word))
        && !is_known
        && !is_file
        && !is_pair
        && !is_setting
        && !is_kind_of_login
        && !closes_a_quote(whole, text)
        && !names_a_source(name)
        && literal(captures, text)
}

/// Returns `true` for the credentials of a header; the scheme alone is not a credential.
fn is_credential(captures: &Captures<'_>, text: &str) -> bool {
    let word = text.trim_matches(['"', '\'']);
    let is_scheme = ["basic", "bearer", "digest", "token", "negotiate"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme));
    !is_scheme && !text.starts_with("::") && literal(captures, text)
}

/// Returns `true` if a value is a size or the number of an entry: `KEY_SIZE=4096`, `session:42`.
fn is_number_of(name: &str, whole: &str, text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.len() - digits.len();
    let is_number = |most: usize| {
        (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_entry = ["session", "key", "token", "auth", "cookie", "sid"]
        .iter()
        .any(|word| name.ends_with(word))
        && unit == 0
        && whole.ends_with(&format!(":{text}"));
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default();
    let measures = || {
        MEASURES
            .iter()
            .any(|end| last == *end || last == format!("{end}s"))
    };
    is_entry && is_number(9) || unit <= 3 && is_number(9) && measures()
}

/// Returns `true` if the quote before a value closes one before its name: `"password:"` is a
/// prompt.
fn closes_a_quote(whole: &str, value: &str) -> bool {
    let Some(quote) = whole.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return false;
    };
    let name = whole[1..].strip_suffix(value).unwrap_or("");
    let behind = value.strip_prefix(quote);
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | ')' | ']' | '}' | ',');
    !name.contains(quote)
        && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(ends))
}

/// Returns `true` if letters of both cases and digits alternate as in no word.
fn looks_random(_: &Captures<'_>, text: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        _ => 0,
    };
    let changes = text
        .as_bytes()
        .windows(2)
        .filter(|pair| {
            let (one, other) = (class(pair[0]), class(pair[1]));
            one != other && one != 0 && other != 0
        })
        .count();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    letters && (digits && (plain || changes * 5 >= text.len()) || changes * 2 >= text.len())
}
