//! Substrings and character runs without which a rule cannot match. Takes a text; returns `false`
//! if a rule cannot match. This is cheaper than compiling the rule's pattern, which most commands
//! never need.

/// Precondition of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Precondition {
    /// One of these substrings, in any case; written in lower case.
    Any(&'static [&'static str]),
    /// Like [`Any`](Self::Any), and a character of this kind.
    AnyWith(&'static [&'static str], fn(char) -> bool),
    /// A run of these characters of this length.
    Run(usize, fn(u8) -> bool),
    /// This substring, and a run of these characters of this length.
    RunWith(&'static str, usize, fn(u8) -> bool),
    /// This text, and an option with this letter, in any case; written in lower case.
    OptionWith(&'static str, u8),
}

/// The pairs of neighbouring bytes of a text, hashed into a bitmap: a filter before a search. Mostly
/// none of the hundreds of words that are searched is in the text; `ls -la` −8 % instructions.
struct BytePairs([u64; 64]);

impl BytePairs {
    fn of(text: &str) -> Self {
        let mut pairs = Self([0; 64]);
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = Self::place(pair[0], pair[1]);
            pairs.0[word] |= bit;
        }
        pairs
    }

    fn place(first: u8, second: u8) -> (usize, u64) {
        (usize::from(first & 63), 1 << (second & 63))
    }

    /// Returns whether the text may contain a word; false is certain.
    fn may_contain(&self, word: &str) -> bool {
        let &[first, second, ..] = word.as_bytes() else {
            return true;
        };
        let (word, bit) = Self::place(first, second);
        self.0[word] & bit != 0
    }
}

/// A text, prepared for the checks.
pub(super) struct PreparedText<'a> {
    text: &'a str,
    lower: String,
    pairs: BytePairs,
    lower_pairs: BytePairs,
}

impl<'a> PreparedText<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let lower = match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            // Includes characters that patterns treat as case variants.
            false => text.to_lowercase().replace('\u{17f}', "s"),
        };
        Self {
            text,
            pairs: BytePairs::of(text),
            lower_pairs: BytePairs::of(&lower),
            lower,
        }
    }

    /// Returns whether a word may be in the text as it is written; false is certain.
    pub(super) fn may_contain(&self, word: &str) -> bool {
        self.pairs.may_contain(word)
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words
            .iter()
            .any(|word| self.lower_pairs.may_contain(word) && self.lower.contains(word))
    }

    fn has_option(&self, letter: u8) -> bool {
        self.lower.split('-').skip(1).any(|option| {
            let mut letters = option.bytes().take_while(u8::is_ascii_alphabetic);
            letters.any(|byte| byte == letter)
        })
    }

    fn has_run(&self, length: usize, of: fn(u8) -> bool) -> bool {
        let mut run = 0;
        self.text.bytes().any(|byte| {
            run = if of(byte) { run + 1 } else { 0 };
            run >= length
        })
    }

    pub(super) fn has(&self, need: Precondition) -> bool {
        match need {
            Precondition::Any(words) => self.has_any(words),
            Precondition::AnyWith(words, of) => self.has_any(words) && self.text.contains(of),
            Precondition::Run(length, of) => self.has_run(length, of),
            Precondition::RunWith(part, length, of) => {
                self.text.contains(part) && self.has_run(length, of)
            }
            Precondition::OptionWith(part, letter) => {
                self.text.contains(part) && self.has_option(letter)
            }
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
