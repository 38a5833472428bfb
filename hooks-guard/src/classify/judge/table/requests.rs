//! Words that go into a request: hosts that give out the keys of the machine, and headers that
//! change the method.

use crate::classify::judge::special::method;
use crate::classify::judge::{Arg, Judge};
use crate::classify::tables::{Call, Effect};
use crate::host;

/// Headers and fields with which servers take a request for one with another method. The first that a
/// word contains counts.
const OVERRIDES: &[&str] = &[
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-request-method",
    "x-original-method",
    "_method",
];

impl Judge<'_> {
    /// Notes what the words of a call come to in a request, wherever they stand.
    pub(super) fn requests(&mut self, call: &Call) {
        if call.program.offline && !call.program.sends {
            return;
        }
        let first = call.args.first().map_or(usize::MAX, |arg| arg.span.start);
        let values = call.options.iter().filter_map(|given| given.value.as_ref());
        let before = values.filter(|value| value.span.start < first);
        for word in before.chain(&call.args) {
            match word.text.contains("://") {
                true => self.own_keys(word),
                false => self.own_keys_within(word),
            }
            if let Some(effect) = overridden(&word.text)
                && effect > Effect::Read
            {
                let reason = format!("`{}` has the server use another method", call.path);
                self.find(effect, word.span, reason);
            }
        }
    }

    /// Asks about an address from which a machine in a cloud gets its own keys.
    pub(in crate::classify::judge) fn own_keys(&mut self, address: &Arg) {
        self.own_keys_within(address);
        let host = host::plain(host::of_address(&address.text));
        let written = host::of_address(&address.text).to_ascii_lowercase();
        if self.tables.gives_keys(&host) {
            self.gives_keys(address, &host);
        } else if let Some(host) = self.tables.may_give_keys(&written).map(str::to_owned) {
            self.gives_keys(address, &host);
        }
        // Not every program reads such a host as the same address.
        let digits = written.len() >= 8 && written.chars().all(|c| c.is_ascii_digit());
        if digits || written.starts_with("0x") {
            self.ask(address.span, "the host is written as a number");
        }
    }

    fn own_keys_within(&mut self, word: &Arg) {
        // A name of one word is much else, too.
        let keys = |host: &str| host.contains(['.', ':']) && self.tables.gives_keys(host);
        let read = |host| {
            let host = host::plain(host);
            host::address(&host).map_or(host, |address| address.to_string())
        };
        let mut hosts = host::candidates(&word.text).map(read);
        let found = hosts.find(|host| keys(host));
        let text = word.text.to_ascii_lowercase();
        let found = found.or_else(|| self.tables.names_keys(&text).map(str::to_owned));
        if let Some(host) = found {
            self.gives_keys(word, &host);
        }
    }

    fn gives_keys(&mut self, word: &Arg, host: &str) {
        let reason = format!("`{host}` gives out the keys of the machine");
        self.ask(word.span, reason);
    }
}

/// Returns the effect of the method that a word sets beside that of its request.
fn overridden(word: &str) -> Option<Effect> {
    let text = host::decoded(word).to_ascii_lowercase();
    let separates = |c: char| c.is_whitespace() || "'\"]:=>".contains(c);
    OVERRIDES.iter().find_map(|name| {
        let (at, _) = text.match_indices(name).find(|(at, _)| {
            let before = text[..*at].chars().next_back();
            // `-HX-…`, but not `payment_method`.
            name.starts_with('x') || !before.is_some_and(char::is_alphanumeric)
        })?;
        let rest = text[at + name.len()..].strip_prefix(separates)?;
        let rest = rest.trim_start_matches(separates);
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let value = &rest[..end.unwrap_or(rest.len())];
        // A field may have that name by chance.
        let known = ["post", "put", "patch", "delete", "merge", "purge"];
        let header = name.starts_with('x') && !value.is_empty();
        (header || known.contains(&value)).then(|| method(value))
    })
}
