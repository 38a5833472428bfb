//! Accepts only requests that clients on this machine sent on purpose. Takes the headers of a
//! request; returns an error if a web page may have caused it.
//!
//! A web page can make a browser send requests to a local address, under a host name of its choice
//! (DNS rebinding) or across origins. Both are visible in headers that a page cannot set.

use std::net::{IpAddr, SocketAddr};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

use super::error::ApiError;

/// Host names of the service.
#[derive(Clone, Debug)]
pub(crate) struct HostNames {
    more: Vec<String>,
    listen: IpAddr,
}

impl HostNames {
    pub(crate) fn new(listen: SocketAddr, more: &[String]) -> Self {
        Self {
            more: more.iter().map(|name| name.to_ascii_lowercase()).collect(),
            listen: listen.ip(),
        }
    }

    /// Checks that `Host` is a name of this service, and that `Origin`, if the request has one, is
    /// its site.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let host = uri.authority().map(Authority::as_str).or(host);
        if hosts.next().is_some() || !host.is_some_and(|host| self.has(host)) {
            return Err(
                ApiError::forbidden("FORBIDDEN_HOST", "unknown host in the `Host` header")
                    .details("call the service as `localhost`, or add the name to `allowed_hosts`"),
            );
        }
        for origin in headers.get_all(header::ORIGIN) {
            let site = origin.to_str().ok().and_then(|origin| {
                let secure = origin.strip_prefix("https://");
                secure.or_else(|| origin.strip_prefix("http://"))
            });
            // Including the port: another port is another site.
            let own = site
                .zip(host)
                .is_some_and(|(site, host)| site.eq_ignore_ascii_case(host));
            if !own {
                return Err(ApiError::forbidden(
                    "FORBIDDEN_ORIGIN",
                    "requests from other sites are not allowed; open the console at the service's own address",
                ));
            }
        }
        Ok(())
    }

    /// Returns `true` if `host`, with or without a port, is one of the names.
    fn has(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        let after = authority.as_str().strip_prefix(authority.host());
        let is_digit = |c: char| c.is_ascii_digit();
        let is_port = |port: &str| port.chars().all(is_digit) && port.parse::<u16>().is_ok();
        let has_valid_port = |after: &str| after.strip_prefix(':').is_some_and(is_port);
        if !after.is_some_and(|after| after.is_empty() || has_valid_port(after)) {
            return false;
        }
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        if name == "localhost" || self.more.contains(&name) {
            return true;
        }
        let address = name.trim_start_matches('[').trim_end_matches(']');
        address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback() || address == self.listen)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    use super::HostNames;

    fn allowed(host: &str, origin: Option<&str>) -> bool {
        let names = HostNames::new(([127, 0, 0, 1], 3000).into(), &["guard.test".to_owned()]);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        if let Some(origin) = origin {
            headers.insert(
                header::ORIGIN,
                HeaderValue::from_str(origin).expect("a header"),
            );
        }
        names.check(&Uri::from_static("/health"), &headers).is_ok()
    }

    #[test]
    fn p_14_only_host_names_of_this_machine_are_accepted() {
        for host in [
            "localhost",
            "LOCALHOST:3000",
            "127.0.0.1:3000",
            "[::1]:3000",
            "127.8.8.8",
            "guard.test:1",
            "localhost.",
        ] {
            assert!(allowed(host, None), "{host}");
        }
        for host in [
            "evil.test",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "10.0.0.1",
            "",
            "a@localhost",
            "evil.test@localhost",
            "[::1",
            "localhost:x:y",
            "127.0.0.1:1.evil.test",
            "localhost:1evil.test",
            "[::1]:1.evil.test",
            "[::1]evil.test",
            "localhost:65536",
            "localhost:+80",
            "localhost:",
        ] {
            assert!(!allowed(host, None), "{host}");
        }
    }

    #[test]
    fn p_14_an_origin_of_another_site_is_refused() {
        assert!(allowed("localhost:3000", Some("http://localhost:3000")));
        assert!(allowed("127.0.0.1:3000", Some("http://127.0.0.1:3000")));
        for origin in [
            "http://evil.test",
            "http://127.0.0.1:3000",
            "http://localhost:3001",
            "http://localhost",
            "null",
            "http://localhost.evil.test",
            "file://",
            "http://localhost@evil.test",
            "chrome-extension://localhost",
        ] {
            assert!(!allowed("localhost:3000", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn p_14_a_missing_or_duplicate_host_header_is_refused() {
        let names = HostNames::new(([127, 0, 0, 1], 3000).into(), &[]);
        let mut headers = HeaderMap::new();
        assert!(names.check(&Uri::from_static("/"), &headers).is_err());
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        assert!(names.check(&Uri::from_static("/"), &headers).is_err());
    }
}
