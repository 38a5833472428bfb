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

mod words {
    //! The lists of `secrets/words.toml`.

    include!(concat!(env!("OUT_DIR"), "/secret_words.rs"));
}

use words::{
    AMBIGUOUS, ANY_WORDS, ENDINGS, FOLDERS, KEY_FILES, LAST_WORDS, MEASURES, PARTS, PROGRAMS,
    SHORT_SOURCES, SOURCES, SWITCHES, WORDS_IN_PASS,
};
pub(crate) use words::{FILE_WORDS, LABELS, SETTERS};
pub(super) use words::{LOGINS, OTP_SUBJECTS, SETTINGS, SHARED_USERS};

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

    /// Returns `true` if the name, or any end of it, may be the name of a secret.
    pub(super) fn may_end_with_a_secret(&self) -> bool {
        let joined: String = self.lower.chars().filter(|c| c.is_alphanumeric()).collect();
        let lists = [PARTS, LAST_WORDS, ANY_WORDS, ENDINGS];
        let mut words = lists.into_iter().flatten();
        words.any(|word| joined.contains(word))
    }

    /// Returns `true` if the name denotes the source of a secret, or the program that provides it.
    pub(crate) fn names_a_source(&self) -> bool {
        // `tokenHelper`, but not `paid`
        let is_word = |end: &&str| {
            let before = self.lower.strip_suffix(end);
            before.is_some_and(|before| before.ends_with(['_', '-', '.']))
        };
        SOURCES.iter().any(|end| self.lower.ends_with(end)) || SHORT_SOURCES.iter().any(is_word)
    }

    /// Returns `true` if the name may denote a kind of login: `--auth password`.
    pub(crate) fn names_a_login(&self) -> bool {
        self.lower.ends_with("auth")
    }

    /// Returns `true` if a value of the name is a path: a working directory, the file of a key, the
    /// name of a setting of Git.
    pub(crate) fn is_path(&self, value: &str) -> bool {
        let last = self.words().last().unwrap_or_default();
        let is_file = || {
            value.starts_with(['/', '~', '.']) || KEY_FILES.iter().any(|end| value.ends_with(end))
        };
        let is_path = match FOLDERS.contains(&last) {
            true => value.starts_with('/'),
            false => matches!(last, "key" | "keys") && is_file(),
        };
        is_path || self.lower.starts_with("git_config_key")
    }

    /// Returns `true` if the value of a variable or setting with the name is a program or options of
    /// one.
    pub(crate) fn names_a_program(&self) -> bool {
        let last = self.words().last().unwrap_or_default();
        PROGRAMS
            .iter()
            .any(|end| last == *end || end.len() > 5 && last.ends_with(end))
    }

    /// Returns `true` if the name denotes a measure of a secret: `KEY_SIZE`.
    pub(crate) fn names_a_measure(&self) -> bool {
        let last = self.words().last().unwrap_or_default();
        let singular = last.strip_suffix('s').unwrap_or(last);
        MEASURES.contains(&last) || MEASURES.contains(&singular)
    }

    /// Returns `true` if the value is a program that prints a secret: `--password-command`.
    pub(crate) fn names_a_secret_of_a_program(&self) -> bool {
        let joined: String = self.lower.chars().filter(|c| c.is_alphanumeric()).collect();
        PARTS.iter().any(|part| joined.contains(part)) && self.names_a_source()
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
        let last = self.words().last().unwrap_or_default();
        LAST_WORDS.contains(&stem(last).as_str())
            || self
                .words()
                .any(|word| ANY_WORDS.contains(&stem(word).as_str()))
            || ENDINGS.iter().any(|end| stem(last).ends_with(end))
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
