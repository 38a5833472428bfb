//! Secrets in source code and in scripts that type passwords: rules for calls of common libraries.

use regex::Captures;

use super::rule::{ContextRule, QUOTED, literal, rule};

pub(super) static CODE_RULES: [ContextRule; 9] = [
    // Input that scripts type at password prompts.
    rule(
        &["send"],
        || {
            format!(
                r"(?is)(?:assw(?:or)?d|assphrase|\bpin\b|\botp\b|verification code|one-time).{{0,120}}?\bsend(?:_user)?\s+(?:--?\w*\s+)*({QUOTED}|\{{[^}}]*\}}|[^\s;\x22'{{}}]+)"
            )
        },
        no_variable,
    ),
    rule(
        &["send", "write("],
        || {
            format!(
                r"(?is)(?:assw(?:or)?d|assphrase|\bpin\b|\botp\b).{{0,120}}?\.(?:send|sendline|write)\(\s*b?({QUOTED})"
            )
        },
        no_variable,
    ),
    rule(
        &["pexpect"],
        || format!(r"\bpexpect\.sendline\(\s*b?({QUOTED})"),
        no_variable,
    ),
    // Calls with a name and a password.
    rule(
        &["auth", "changeuserpassword", ".login", "credential"],
        || {
            format!(
                r"(?i)(?:\.auth|changeUserPassword|\.login|(?:basic|digest)auth|\bauth\s*=\s*|NetworkCredential)\(\s*{QUOTED}\s*,\s*b?({QUOTED})"
            )
        },
        literal,
    ),
    rule(
        &["pdo(", "connect", "mysqli("],
        || {
            format!(
                r"(?i)(?:\bPDO|\bmysqli|connect(?:ion)?)\(\s*{QUOTED}\s*,\s*{QUOTED}\s*,\s*({QUOTED})"
            )
        },
        literal,
    ),
    rule(
        &["create_"],
        || format!(r"(?i)\bcreate_(?:super)?user\(\s*{QUOTED}\s*,\s*{QUOTED}\s*,\s*({QUOTED})"),
        literal,
    ),
    rule(
        &[
            "bcrypt",
            "hash::make",
            "password_hash",
            "make_password",
            "hashpw",
        ],
        || {
            format!(
                r"(?i)\b(?:bcrypt(?:\.\w+)?|Hash::make|(?:generate_)?password_hash|make_password|hashpw)\(\s*b?({QUOTED})"
            )
        },
        literal,
    ),
    rule(
        &["setenvironmentvariable", "putenv", "setdefault"],
        || {
            format!(
                r#"(?i)\b(?:SetEnvironmentVariable|putenv|setdefault)\(\s*\\?["'][^"']*(?:token|secret|passw(?:or)?d|api_?key|_key)[^"']*["']\s*,\s*({QUOTED})"#
            )
        },
        literal,
    ),
    rule(
        &["securestring"],
        || format!(r"(?i)\bConvertTo-SecureString\s+(?:-String\s+)?({QUOTED})"),
        literal,
    ),
];

/// Returns `false` for a variable, also if a line break follows it.
fn no_variable(_: &Captures<'_>, text: &str) -> bool {
    let text = text.trim_matches(['"', '\'', '\\', '{', '}']);
    let text = text.trim_end_matches("\\r").trim_end_matches("\\n");
    let text = text.trim_end_matches(['\\', 'r', 'n']);
    !text.is_empty() && !text.trim_start_matches('\\').starts_with('$')
}
