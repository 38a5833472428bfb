//! Keeps a fetcher from where it must not go. It stands where names become addresses, so that
//! nothing can change between the look and the connection.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::FetchError;
use crate::address::is_public_address;

pub(super) type Lookup = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync,
>;

#[derive(Clone)]
pub(super) struct Guard {
    pub(super) allow_http: bool,
    /// Though they are not public.
    pub(super) allowed: Arc<[IpAddr]>,
    pub(super) lookup: Lookup,
}

/// An address that a name turned out to have.
#[derive(Debug, thiserror::Error)]
#[error("`{address}` is not public")]
struct Refused {
    address: IpAddr,
}

pub(super) fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

impl Guard {
    /// Whether a request may be made at all. A URL with an address instead of a name is never
    /// resolved, so that its address is looked at here.
    pub(super) fn check(&self, url: &Url) -> Result<(), FetchError> {
        let wrong = |why: &str| {
            Err(FetchError::Url {
                url: url.to_string(),
                why: why.to_owned(),
            })
        };
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            _ => return wrong("it is no `https` URL"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            let mut url = url.clone();
            // A URL of this kind can be without them.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            return Err(FetchError::Url {
                url: url.to_string(),
                why: "it has a user or a password".to_owned(),
            });
        }
        let Some(host) = url.host_str() else {
            return wrong("it has no host");
        };
        let v6 = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let address = match v6 {
            Some(v6) => v6.parse::<Ipv6Addr>().map(IpAddr::from),
            None => host.parse::<Ipv4Addr>().map(IpAddr::from),
        };
        match address {
            Ok(address) if !self.allows(address) => Err(FetchError::Address {
                host: host.to_owned(),
                address,
            }),
            _ => Ok(()),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        is_public_address(address) || self.allowed.contains(&address)
    }
}

/// One address that is not public is reason enough to go to none of them.
impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = (guard.lookup)(name.as_str().to_owned()).await?;
            if let Some(&address) = addresses.iter().find(|&&address| !guard.allows(address)) {
                return Err(Refused { address }.into());
            }
            let addresses: Addrs = Box::new(
                addresses
                    .into_iter()
                    .map(|address| SocketAddr::new(address, 0)),
            );
            Ok(addresses)
        })
    }
}

/// What went wrong with a request, which a refusal is buried in.
pub(super) fn explain(url: &Url, error: reqwest::Error) -> FetchError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return FetchError::Address {
                host: url.host_str().unwrap_or_default().to_owned(),
                address: refused.address,
            };
        }
        cause = error.source();
    }
    FetchError::Connection {
        url: url.to_string(),
        source: error.without_url().into(),
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("allow_http", &self.allow_http)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}
