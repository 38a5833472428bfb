//! Browser sessions. Takes the headers of a request; checks its session, and begins or ends
//! sessions.
//!
//! Browsers send a cookie to every port of this machine, so another local server can receive it.
//! The cookie alone is not enough: every action needs a second value, which only the page knows, in
//! a header that pages of other sites cannot send.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::AppendHeaders;
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use super::error::ApiError;
use crate::random::random;

/// Header of the second value.
pub(super) const CSRF: HeaderName = HeaderName::from_static("x-guard-csrf");

/// Maximum number of sessions; a further one ends the oldest.
pub(super) const MAX_SESSIONS: usize = 32;

/// Lifetime of a session.
pub(super) const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 3600);

/// Active sessions, in memory only.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// Name of the cookie, which contains the port: browsers share cookies between ports.
    cookie: String,
    all: Mutex<Vec<Session>>,
}

pub(super) struct Session {
    id: String,
    csrf: String,
    expires_at: Instant,
}

/// Does not reveal the credentials.
impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session(…)")
    }
}

impl Sessions {
    pub(crate) fn new(port: u16) -> Self {
        Self {
            cookie: format!("hooks_guard_{port}"),
            all: Mutex::default(),
        }
    }

    /// Checks that a request comes from the page of an active session.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let csrf = headers.get(CSRF).map_or(&b""[..], HeaderValue::as_bytes);
        self.check_value(headers, csrf)
    }

    /// Like [`check`](Self::check), with the second value as an argument: a browser's event stream
    /// cannot set headers.
    pub(crate) fn check_value(
        &self,
        headers: &HeaderMap,
        csrf: impl AsRef<[u8]>,
    ) -> Result<(), ApiError> {
        // Browsers send the relation of the requesting site; other clients do not.
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if site.is_some_and(|site| site != b"same-origin") {
            return Err(ApiError::unauthorized());
        }
        let id = self.id(headers).ok_or_else(ApiError::unauthorized)?;
        let now = Instant::now();
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all
            .iter()
            .find(|one| one.id.as_bytes().ct_eq(id.as_bytes()).into() && one.expires_at > now)
            .ok_or_else(ApiError::unauthorized)?;
        match found.csrf.as_bytes().ct_eq(csrf.as_ref()).into() {
            true => Ok(()),
            false => Err(ApiError::forbidden(
                "CSRF_REQUIRED",
                "missing or wrong CSRF value; send the `csrf` of the sign-in as `X-Guard-CSRF`",
            )),
        }
    }

    pub(super) fn begin(&self) -> (String, String) {
        let (id, csrf) = (random::<24>(), random::<24>());
        let now = Instant::now();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.expires_at > now);
        if all.len() == MAX_SESSIONS {
            all.remove(0);
        }
        all.push(Session {
            id: id.clone(),
            csrf: csrf.clone(),
            expires_at: now + SESSION_LIFETIME,
        });
        (id, csrf)
    }

    pub(super) fn end(&self, headers: &HeaderMap) {
        let Some(id) = self.id(headers) else { return };
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !bool::from(one.id.as_bytes().ct_eq(id.as_bytes())));
    }

    /// Returns the session id in the cookie; `None` if there are two cookies.
    fn id<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let pairs = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let mut own = pairs.filter(|(name, _)| *name == self.cookie);
        match (own.next(), own.next()) {
            (Some((_, id)), None) => Some(id),
            _ => None,
        }
    }

    /// Returns a `Set-Cookie` header without a lifetime, so that browsers keep the cookie in
    /// memory.
    pub(super) fn set_cookie(
        &self,
        id: &str,
        age: &str,
    ) -> AppendHeaders<[(HeaderName, String); 1]> {
        let name = &self.cookie;
        let cookie = format!("{name}={id}; Path=/; HttpOnly; SameSite=Strict{age}");
        AppendHeaders([(header::SET_COOKIE, cookie)])
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

    use super::{MAX_SESSIONS, SESSION_LIFETIME, Sessions};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a header"));
        }
        headers
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_after_twelve_hours() {
        let sessions = Sessions::new(3000);
        let (id, csrf) = sessions.begin();
        let cookie = format!("hooks_guard_3000={id}");
        let headers = headers(&[("cookie", &cookie), ("x-guard-csrf", &csrf)]);
        assert!(sessions.check(&headers).is_ok());
        tokio::time::advance(SESSION_LIFETIME).await;
        assert!(sessions.check(&headers).is_err());
    }

    #[tokio::test]
    async fn the_oldest_session_ends_if_there_are_too_many() {
        let sessions = Sessions::new(3000);
        let all: Vec<_> = (0..=MAX_SESSIONS)
            .map(|_| {
                let (id, csrf) = sessions.begin();
                let cookie = format!("hooks_guard_3000={id}");
                headers(&[("cookie", &cookie), ("x-guard-csrf", &csrf)])
            })
            .collect();
        let ended: Vec<_> = all.iter().map(|one| sessions.check(one).is_err()).collect();
        assert!(ended[0] && !ended[1..].contains(&true), "{ended:?}");
    }

    #[tokio::test]
    async fn a_session_needs_both_the_cookie_and_the_csrf_value() {
        let sessions = Sessions::new(3000);
        let (id, csrf) = sessions.begin();
        let (_, other) = sessions.begin();
        let cookie = format!("a=b; hooks_guard_3000={id}; c=d");
        let two = format!("hooks_guard_3000={id}; hooks_guard_3000={id}");
        let elsewhere = format!("hooks_guard_3001={id}");
        let good = [("cookie", &*cookie), ("x-guard-csrf", &*csrf)];
        assert!(sessions.check(&headers(&good)).is_ok());
        for bad in [
            &[("cookie", &*cookie)][..],
            &[("x-guard-csrf", &*csrf)],
            &[("cookie", &*cookie), ("x-guard-csrf", "")],
            &[("cookie", &*cookie), ("x-guard-csrf", &*other)],
            &[("cookie", &*two), ("x-guard-csrf", &*csrf)],
            &[("cookie", &*elsewhere), ("x-guard-csrf", &*csrf)],
            &[good[0], good[1], ("sec-fetch-site", "same-site")],
            &[good[0], good[1], ("sec-fetch-site", "cross-site")],
        ] {
            assert!(sessions.check(&headers(bad)).is_err(), "{bad:?}");
        }
        sessions.end(&headers(&good));
        assert!(sessions.check(&headers(&good)).is_err());
    }
}
