//! Substrings and character runs without which a rule cannot match. Takes a text; returns `false`
//! if a rule cannot match. This is cheaper than compiling the rule's pattern, which most commands
//! never need.

/// Precondition of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// One of these substrings, in any case; written in lower case.
    Any(&'static [&'static str]),
    /// Like [`Any`](Self::Any), and a character of this kind.
    AnyWith(&'static [&'static str], fn(char) -> bool),
    /// A run of these characters of this length.
    Run(usize, fn(u8) -> bool),
    /// This substring, and a run of these characters of this length.
    RunWith(&'static str, usize, fn(u8) -> bool),
}

/// A text, prepared for the checks.
pub(super) struct Text<'a> {
    text: &'a str,
    lower: String,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let lower = match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            // Includes characters that patterns treat as case variants.
            false => text.to_lowercase().replace('\u{17f}', "s"),
        };
        Self { text, lower }
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.lower.contains(word))
    }

    fn has_run(&self, length: usize, of: fn(u8) -> bool) -> bool {
        let mut run = 0;
        self.text.bytes().any(|byte| {
            run = if of(byte) { run + 1 } else { 0 };
            run >= length
        })
    }

    pub(super) fn has(&self, need: Need) -> bool {
        match need {
            Need::Any(words) => self.has_any(words),
            Need::AnyWith(words, of) => self.text.contains(of) && self.has_any(words),
            Need::Run(length, of) => self.has_run(length, of),
            Need::RunWith(part, length, of) => self.text.contains(part) && self.has_run(length, of),
        }
    }
}

/// Substrings of the names that precede secrets.
pub(super) const NAMES: &[&str] = &[
    "token",
    "secret",
    "passw",
    "pwd",
    "credential",
    "cookie",
    "signature",
    "key",
    "pass",
    "pin",
    "otp",
    "auth",
    "sig",
    "sid",
    "session",
    "pat",
    "psk",
    "pw",
    "seed",
    "mnemonic",
];

/// Substrings of the commands that read a password.
pub(super) const READS: &[&str] = &[
    "sudo",
    "-stdin",
    "with-token",
    "passwd",
    "newusers",
    "cryptsetup",
    "pdbedit",
    "passphrase",
    "kinit",
    "su",
    "ssh-add",
    "secret-tool",
    "insert",
    "openssl",
    "vault",
    "rclone",
    "unlock",
    "secret",
    "htdigest",
    "kadmin",
    "keyctl",
    "doas",
    "gocryptfs",
    "encfs",
    "cryfs",
    "securefs",
    "crypt",
    "load-key",
    "signin",
    "pass",
    "systemd-creds",
    "wg",
    "x11vnc",
    "keyring",
    "env add",
    "\\password",
];
