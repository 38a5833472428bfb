//! Names of variables, settings and options: a name in, `true` out if its value is a secret.

/// Returns `true` if a program that prints the variable or the setting with this name prints a
/// secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    // The programs that split text are no secrets.
    let name = name.to_ascii_uppercase().replace("TOKENIZE", "");
    [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "ACCESSKEY",
        "PRIVATEKEY",
        "EXTRAHEADER",
    ]
    .iter()
    .any(|word| name.contains(word))
        || name
            .split('_')
            .any(|word| ["KEY", "PASS", "PAT"].contains(&word))
        || name.ends_with("_AUTH")
}

/// Parts of names of secrets, in lower case.
const PARTS: &[&str] = &[
    "token",
    "secret",
    "passwd",
    "password",
    "passphrase",
    "passwort",
    "passcode",
    "passkey",
    "pwd",
    "credential",
    "cookie",
    "signature",
    "mnemonic",
    "otpseed",
    "mfaseed",
    "2faseed",
    "apikey",
    "authkey",
    "privatekey",
    "accesskey",
    "accountkey",
    "encryptionkey",
    "masterkey",
    "signingkey",
];

/// Last words of names of secrets. Alone, the words of [`AMBIGUOUS`] have other meanings.
const LAST_WORDS: &[&str] = &[
    "key", "pass", "psk", "pw", "pin", "otp", "auth", "sig", "sid", "session", "pat",
];

/// Names that alone do not denote a secret: the key of an entry, a part of a session.
const AMBIGUOUS: &[&str] = &["key", "keys", "auth", "sig", "sid", "session", "pat"];

/// Endings of names that begin like the name of a secret but denote its source, its place, or the
/// program that provides it.
const SOURCES: &[&str] = &[
    "stdin", "file", "path", "dir", "fd", "id", "arn", "command", "cmd", "program", "helper",
    "prompt", "askpass", "extpass", "script", "name", "names", "eval", "exec", "provider",
    "process", "plugin", "hook", "agent", "callback", "address", "format", "env", "policy",
];

/// Endings of [`SOURCES`] that other words have, too: these must be whole words.
const SHORT_SOURCES: &[&str] = &["fd", "id", "dir", "arn", "env"];

/// Last words of names of measures, whose numbers are not secrets.
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
    "expire",
    "lifetime",
    "rounds",
    "iterations",
    "cost",
    "port",
    "version",
    "index",
    "number",
    "slots",
];

/// Words with the ending of a password's name.
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

/// First words of names of switches: `--no-password`, `--show-secrets`.
const SWITCHES: &[&str] = &[
    "no", "without", "with", "show", "list", "print", "check", "delete", "remove", "export",
    "import", "get", "reset", "use", "save", "ask", "prompt", "require", "allow", "skip",
    "disable", "enable", "recv", "send", "refresh", "search", "fetch", "edit", "sign", "gen",
    "generate", "locate", "verify", "renew", "rotate", "resolve", "from", "keep", "ignore",
];

/// Name of a variable, a setting or an option, in lower case.
pub(crate) struct SecretName {
    /// The name without the dashes of an option.
    lower: String,
}

impl SecretName {
    pub(crate) fn new(name: &str) -> Self {
        let trimmed = name.trim_matches(|c: char| !c.is_alphanumeric());
        Self {
            lower: trimmed.to_lowercase(),
        }
    }

    /// Returns `true` if the value of the name is a secret.
    pub(crate) fn is_secret(&self) -> bool {
        let joined: String = self.lower.chars().filter(|c| c.is_alphanumeric()).collect();
        let is_part = || PARTS.iter().any(|part| joined.contains(part));
        (is_part() || self.ends_like_a_secret())
            && !self.names_a_source()
            && !WORDS_IN_PASS.iter().any(|word| self.lower.ends_with(word))
    }

    /// Returns `true` if the name denotes the source of a secret, or the program that provides it.
    pub(crate) fn names_a_source(&self) -> bool {
        // `tokenHelper`, `password_file`
        SOURCES
            .iter()
            .any(|end| match self.lower.strip_suffix(end) {
                Some(before) if SHORT_SOURCES.contains(end) => before.ends_with(['_', '-', '.']),
                before => before.is_some(),
            })
    }

    /// Returns `true` if the name denotes a measure of a secret: `KEY_SIZE`.
    pub(crate) fn names_a_measure(&self) -> bool {
        let last = self.words().last().unwrap_or_default();
        let singular = last.strip_suffix('s').unwrap_or(last);
        MEASURES.contains(&last) || MEASURES.contains(&singular)
    }

    /// Returns `true` if an option with the name is a switch, whose next word is not its value.
    pub(crate) fn is_switch(&self) -> bool {
        let mut words = self.words();
        let first = words.next().unwrap_or_default();
        words.next().is_some() && SWITCHES.contains(&first)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.lower.split(|c: char| !c.is_alphanumeric())
    }

    fn ends_like_a_secret(&self) -> bool {
        if AMBIGUOUS.contains(&self.lower.as_str()) {
            return false;
        }
        let stem = |word: &str| {
            let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
            word.strip_suffix('s')
                .filter(|stem| LAST_WORDS.contains(stem))
                .unwrap_or(word)
                .to_owned()
        };
        // `DB_PASS_PROD`, but not `DBUS_SESSION_BUS_ADDRESS`.
        let is_long = |word: &str| matches!(word, "pass" | "key" | "psk" | "pw" | "pin" | "otp");
        let last = self.words().last().unwrap_or_default();
        LAST_WORDS.contains(&stem(last).as_str())
            || self.words().any(|word| is_long(&stem(word)))
            || stem(last).ends_with("pass")
    }
}

#[cfg(test)]
mod tests {
    use super::SecretName;

    #[test]
    fn names_of_secrets_are_told_from_names_of_their_sources() {
        for name in [
            "API_TOKEN",
            "--password",
            "client_secret",
            "AWS_SECRET_ACCESS_KEY",
            "MY_KEY",
            "DB_PASSWORD_FILE_X",
            "AccountKey",
            "SharedAccessKey",
            "PrivateKey",
            "rootpass",
            "MQTTPASS",
            "--passcode",
            "x.token",
            "//r.example/:_authToken",
            "ansible_password",
            "TOTP_SECRET",
            "psk",
            "--api-key",
            "db-pin",
            "wifi-sec.psk",
            "802-1x.password",
            "Smtp:Pass",
            "requirepass",
            "DB_PASS_PROD",
        ] {
            assert!(SecretName::new(name).is_secret(), "{name}");
        }
        for name in [
            "key",
            "session",
            "auth",
            "DB_PASSWORD_FILE",
            "RESTIC_PASSWORD_COMMAND",
            "tokenHelper",
            "credential.helper",
            "BYPASS",
            "COMPASS",
            "--secret-id",
            "DBUS_SESSION_BUS_ADDRESS",
            "FROB_TOKENCMD",
            "credential-provider",
            "author",
            "path",
            "passes",
            "pinned",
            "bearer_token_command",
            "--passwordeval",
            "keyboard",
        ] {
            assert!(!SecretName::new(name).is_secret(), "{name}");
        }
    }
}
