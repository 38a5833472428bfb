//! Hosts that give out keys: a text in, the first such host that it names out.

/// A spelling of a host that gives out keys.
#[derive(Debug)]
pub(super) struct HostSpelling {
    pub(super) text: &'static str,
    pub(super) host: &'static str,
    /// `true` if it counts within a longer name, `false` if it counts as a whole name.
    pub(super) in_name: bool,
}

impl HostSpelling {
    /// Returns `true` if a text continues with this spelling.
    fn begins(&self, before: Option<u8>, rest: &[u8]) -> bool {
        if rest.first() != self.text.as_bytes().first() {
            return false;
        }
        let Some(after) = rest.strip_prefix(self.text.as_bytes()) else {
            return false;
        };
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        match (self.in_name, after) {
            (true, [b'.' | b'-', next, ..]) => next.is_ascii_alphanumeric(),
            (true, _) => false,
            (false, _) if before.is_some_and(|byte| matches!(byte, b'-' | b'.')) => false,
            (false, [b'.', next, ..]) => !is_of_name(next),
            (false, [b'.']) => true,
            (false, after) => !after.first().is_some_and(is_of_name),
        }
    }
}

/// Returns the host of the first of the spellings that a text in lower case contains.
pub(super) fn find(spellings: &'static [HostSpelling], text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let mut found = spellings.len();
    for at in 0..bytes.len() {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            continue;
        }
        let mut earlier = spellings[..found].iter();
        let spelling = earlier.position(|one| one.begins(before, &bytes[at..]));
        found = spelling.unwrap_or(found);
    }
    spellings.get(found).map(|spelling| spelling.host)
}
