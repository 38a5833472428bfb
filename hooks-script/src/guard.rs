//! Keeps a client from where it must not go. It stands where names become addresses, so that
//! nothing can change between the look and the connection.

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

/// Where a client may go that somebody else sends.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) allow_http: bool,
    pub(crate) allowed: Allowed,
    pub(crate) lookup: Lookup,
}

/// The addresses that it may go to besides public ones.
#[derive(Debug, Clone)]
pub(crate) enum Allowed {
    All,
    These(Arc<[IpAddr]>),
}

/// An address that is not public.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("`{0}` is not public")]
pub(crate) struct Refused(pub(crate) IpAddr);

pub(crate) fn system_lookup() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

impl Guard {
    /// A client that goes only where this guard lets it, by itself to no other place.
    pub(crate) fn client(&self) -> reqwest::Result<Client> {
        Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .user_agent(concat!("hooks-script/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(self.clone())
            .build()
    }

    /// What is wrong with the form of a URL.
    pub(crate) fn check_form(&self, url: &Url) -> Result<(), &'static str> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            _ => return Err("it is no `https` URL"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user or a password");
        }
        match url.host_str() {
            None | Some("") => Err("it has no host"),
            Some(_) => Ok(()),
        }
    }

    /// Looks at the address in a URL that has one instead of a name, and is never resolved.
    pub(crate) fn check_address(&self, url: &Url) -> Result<(), Refused> {
        let host = url.host_str().unwrap_or_default();
        let v6 = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        match v6.unwrap_or(host).parse() {
            Ok(address) if !self.allows(address) => Err(Refused(address)),
            _ => Ok(()),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        match &self.allowed {
            Allowed::All => true,
            Allowed::These(allowed) => is_public_address(address) || allowed.contains(&address),
        }
    }
}

/// One address that is not public is reason enough to go to none of them.
impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let addresses = (guard.lookup)(name.as_str().to_owned()).await?;
            if let Some(&address) = addresses.iter().find(|&&address| !guard.allows(address)) {
                return Err(Refused(address).into());
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

/// The refusal that an error of a client is about, if it is about one.
pub(crate) fn refused(error: &reqwest::Error) -> Option<Refused> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(&refused) = error.downcast_ref() {
            return Some(refused);
        }
        cause = error.source();
    }
    None
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("allow_http", &self.allow_http)
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}
