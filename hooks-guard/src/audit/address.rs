//! Parses the address of an audit trail: takes a URL or a path, returns the backend that it
//! selects.

use std::path::Path;

use hooks_runtime::display::escape;

/// Parsed address of an audit trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailAddress<'a> {
    /// A PostgreSQL database, by its URL.
    Postgres(&'a str),
    /// A SQLite file.
    File(&'a Path),
    /// An in-memory database, deleted with the store.
    Memory,
}

impl<'a> TrailAddress<'a> {
    /// Parses an address as accepted by [`AuditStore::open`](super::AuditStore::open). Returns
    /// `None` if `url` is not the address of an audit trail.
    #[must_use]
    pub fn read(url: &'a str) -> Option<Self> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Some(Self::Postgres(url));
        }
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        match path.strip_prefix("//").unwrap_or(path) {
            "" => None,
            ":memory:" => Some(Self::Memory),
            path if path.contains("://") => None,
            path => Some(Self::File(Path::new(path))),
        }
    }
}

/// Returns the address of a trail without its user and password, for display.
#[must_use]
pub fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            let rest = rest.split('?').next().unwrap_or(rest);
            escape(&format!("{scheme}://{rest}"))
        }
        None => escape(url),
    }
}

#[cfg(test)]
mod tests {
    use super::TrailAddress::{self, File, Memory, Postgres};
    use super::without_password;
    use std::path::Path;

    #[test]
    fn every_form_of_a_file_address_gives_the_same_path() {
        let file = Some(File(Path::new("/var/lib/audit.db")));
        for url in [
            "/var/lib/audit.db",
            "sqlite:/var/lib/audit.db",
            "sqlite:///var/lib/audit.db",
        ] {
            assert_eq!(TrailAddress::read(url), file, "{url}");
        }
        assert_eq!(TrailAddress::read("sqlite::memory:"), Some(Memory));
        let server = "postgres://db/audit";
        assert_eq!(TrailAddress::read(server), Some(Postgres(server)));
        assert_eq!(TrailAddress::read("mysql://db/audit"), None);
        assert_eq!(TrailAddress::read("sqlite:"), None);
    }

    #[test]
    fn the_shown_address_of_a_trail_has_no_password() {
        for (url, shown) in [
            (
                "postgres://user:secret@db/audit?sslkey=secret",
                "postgres://db/audit",
            ),
            ("postgres://user:se@cret@db/audit", "postgres://db/audit"),
            ("sqlite:/var/lib/audit.db", "sqlite:/var/lib/audit.db"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
