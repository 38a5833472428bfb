//! What stands in every text in which a rule finds something: quicker to look for than to compile
//! the rule's pattern, which most commands never need.

/// What a rule needs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Need {
    /// One of these, in any case; written in lower case.
    Any(&'static [&'static str]),
    /// As [`Any`](Self::Any), and such a character.
    AnyWith(&'static [&'static str], fn(char) -> bool),
    /// So many of these characters in a row.
    Run(usize, fn(u8) -> bool),
    /// This text, and so many of these characters in a row.
    RunWith(&'static str, usize, fn(u8) -> bool),
}

/// A text, ready to be asked what is in it.
pub(super) struct Text<'a> {
    text: &'a str,
    lower: String,
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let lower = match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            // With what a pattern takes for the same letter as well.
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

/// What is in every name behind which a secret stands.
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

/// What programs are told that read a password.
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
