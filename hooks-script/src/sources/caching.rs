//! Caching headers of a response (RFC 9111), interpreted as a private cache does.

use std::time::Duration;

/// Directives of `Cache-Control` and `Age` that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CacheDirectives {
    /// The response must not be stored.
    pub(super) no_store: bool,
    no_cache: bool,
    must_revalidate: bool,
    max_age: Option<Duration>,
    age: Duration,
}

impl CacheDirectives {
    /// Parses the `Cache-Control` headers and the `Age` header. Invalid values can only make a
    /// response less fresh.
    pub(super) fn read<'a>(
        cache_control: impl Iterator<Item = &'a str>,
        age: Option<&str>,
    ) -> Self {
        let mut caching = CacheDirectives {
            age: age.map_or(Duration::ZERO, |age| seconds(age).unwrap_or(Duration::MAX)),
            ..CacheDirectives::default()
        };
        for value in cache_control {
            let (mut quoted, mut escaped) = (false, false);
            let directives = value.split(|c| {
                let is_end = c == ',' && !quoted;
                quoted ^= c == '"' && !escaped;
                escaped = c == '\\' && quoted && !escaped;
                is_end
            });
            directives.for_each(|directive| caching.take(directive));
            // The unparsable part may have contained `no-cache`.
            caching.no_cache |= quoted;
        }
        caching
    }

    fn take(&mut self, directive: &str) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-store" => self.no_store = true,
            "no-cache" => self.no_cache = true,
            "must-revalidate" => self.must_revalidate = true,
            "max-age" => {
                let new = seconds(value).unwrap_or(Duration::ZERO);
                self.max_age = Some(self.max_age.map_or(new, |old| old.min(new)));
            }
            _ => {}
        }
    }

    /// Combines the directives of a response with those of a redirect that led to it: only what
    /// both allow. A redirect that may not be stored has to be requested again, and with it
    /// everything after it.
    pub(super) fn behind(self, redirect: &CacheDirectives) -> Self {
        CacheDirectives {
            no_store: self.no_store,
            no_cache: self.no_cache || redirect.no_cache || redirect.no_store,
            must_revalidate: self.must_revalidate || redirect.must_revalidate,
            max_age: Some(self.fresh_for().min(redirect.fresh_for())),
            age: Duration::ZERO,
        }
    }

    /// Returns the time for which the response is fresh. A response without this information is not
    /// fresh.
    pub(super) fn fresh_for(&self) -> Duration {
        match self.max_age {
            Some(max_age) if !self.no_store && !self.no_cache => max_age.saturating_sub(self.age),
            _ => Duration::ZERO,
        }
    }

    /// Returns `true` if the response may be used when its server is unreachable.
    pub(super) fn allows_stale(&self) -> bool {
        !self.no_store && !self.no_cache && !self.must_revalidate
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let text = text.trim().trim_matches('"');
    // Number parsing accepts a sign, the header does not.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that overflows is a long time.
    digits.then(|| Duration::from_secs(text.parse().unwrap_or(u32::MAX.into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> CacheDirectives {
        CacheDirectives::read(value.split(';'), None)
    }

    #[test]
    fn a_response_is_fresh_for_its_max_age() {
        for (value, fresh) in [
            ("max-age=60", 60),
            ("public, MAX-AGE=60", 60),
            ("max-age=\"60\"", 60),
            ("max-age=60, max-age=30", 30),
            ("max-age=60;max-age=90", 60),
            ("max-age=60, must-revalidate", 60),
            ("max-age=99999999999999999999999", u32::MAX.into()),
            ("", 0),
            ("s-maxage=60", 0),
            ("max-age", 0),
            ("max-age=-1", 0),
            ("max-age=+1", 0),
            ("max-age=1.5", 0),
            ("max-age=60, no-cache", 0),
            ("max-age=60, no-store", 0),
            ("max-age=60;no-cache=\"x\"", 0),
            ("x=\"a, max-age=60\"", 0),
            ("x=\"a\\\", max-age=60\"", 0),
            ("x=\"a\\\\\", max-age=60", 60),
            ("max-age=60, x=\"a, no-store", 0),
        ] {
            assert_eq!(
                read(value).fresh_for(),
                Duration::from_secs(fresh),
                "{value}"
            );
        }
    }

    #[test]
    fn the_age_header_reduces_the_freshness() {
        for (age, fresh) in [("0", 60), ("50", 10), ("61", 0), ("unknown", 0)] {
            let caching = CacheDirectives::read(["max-age=60"].into_iter(), Some(age));
            assert_eq!(caching.fresh_for(), Duration::from_secs(fresh), "{age}");
        }
    }

    #[test]
    fn a_redirect_limits_the_freshness_of_its_target() {
        for (redirect, fresh, stale) in [
            ("max-age=10", 10, true),
            ("max-age=100", 60, true),
            ("", 0, true),
            ("max-age=100, no-cache", 0, false),
            ("max-age=100, no-store", 0, false),
            ("max-age=100, must-revalidate", 60, false),
        ] {
            let caching = read("max-age=60").behind(&read(redirect));
            let found = (caching.fresh_for().as_secs(), caching.allows_stale());
            assert_eq!(found, (fresh, stale), "{redirect}");
            assert!(!caching.no_store, "{redirect}");
        }
    }

    #[test]
    fn a_server_can_forbid_stale_responses() {
        assert!(read("max-age=60").allows_stale());
        for value in [
            "must-revalidate",
            "no-cache",
            "no-store",
            "max-age=1, Must-Revalidate",
        ] {
            assert!(!read(value).allows_stale(), "{value}");
        }
    }
}
