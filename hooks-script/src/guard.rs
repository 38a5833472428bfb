//! HTTP client restricted to allowed addresses. It checks addresses during name resolution, so the
//! address cannot change between the check and the connection.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url, redirect};

use crate::address::is_public_address;

pub(crate) type Lookup = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> + Send + Sync,
>;

/// Rules for URLs that come from an untrusted author.
#[derive(Clone)]
pub(crate) struct UrlGuard {
    pub(crate) allow_http: bool,
    pub(crate) allowed: ExtraAddresses,
    pub(crate) lookup: Lookup,
}

/// Addresses allowed in addition to public ones.
#[derive(Debug, Clone)]
pub(crate) enum ExtraAddresses {
    All,
    These(Arc<[IpAddr]>),
}

/// Error: the address is not public.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("`{0}` is not public")]
pub(crate) struct AddressRefused(pub(crate) IpAddr);

pub(crate) fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

impl UrlGuard {
    /// Returns a client that connects only to addresses allowed by this guard. It follows no
    /// redirects.
    pub(crate) fn client(&self) -> reqwest::Result<Client> {
        Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(concat!("hooks-script/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(self.clone())
            .build()
    }

    /// Checks scheme, host and credentials of a URL. Returns a description of the problem.
    pub(crate) fn check_form(&self, url: &Url) -> Result<(), &'static str> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            _ => return Err("it is not an `https` URL"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user or a password");
        }
        match url.host_str() {
            None | Some("") => Err("it has no host"),
            Some(_) => Ok(()),
        }
    }

    /// Checks the address in a URL whose host is an address, because such a host is never resolved.
    pub(crate) fn check_address(&self, url: &Url) -> Result<(), AddressRefused> {
        let host = url.host_str().unwrap_or_default();
        let v6 = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        match v6.unwrap_or(host).parse() {
            Ok(address) if !self.allows(address) => Err(AddressRefused(address)),
            _ => Ok(()),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        match &self.allowed {
            ExtraAddresses::All => true,
            ExtraAddresses::These(allowed) => {
                is_public_address(address) || allowed.contains(&address)
            }
        }
    }
}

/// Refuses all addresses of a name if one of them is not public.
impl Resolve for UrlGuard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = (guard.lookup)(name.as_str().to_owned()).await?;
            if let Some(&address) = addresses.iter().find(|&&address| !guard.allows(address)) {
                return Err(AddressRefused(address).into());
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

/// Returns the refused address if this guard caused the client's error.
pub(crate) fn refused_address(error: &reqwest::Error) -> Option<AddressRefused> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(&refused) = error.downcast_ref() {
            return Some(refused);
        }
        cause = error.source();
    }
    None
}

impl fmt::Debug for UrlGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("allow_http", &self.allow_http)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}
