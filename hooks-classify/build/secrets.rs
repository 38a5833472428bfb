//! Secrets: the lists of `secrets.toml` in, source of the paths, folders and hosts of secrets out.

use std::net::IpAddr;

use crate::emit::{list, strings};
use crate::path_patterns::path_patterns;
use crate::raw::{RawPrivate, RawSecrets};

/// Returns the expression of the crate's `SecretPaths`.
pub(crate) fn paths(secrets: &RawSecrets) -> String {
    format!(
        "SecretPaths {{\npatterns: {},\nprivate: {},\nhosts: {},\nhost_spellings: {},\n}}",
        path_patterns(secrets),
        private(&secrets.private),
        strings(&secrets.hosts),
        list(host_spellings(&secrets.hosts)),
    )
}

/// Returns the expressions of the spellings of hosts: whole names, then parts of names. A name of one
/// word may be anything else.
fn host_spellings(hosts: &[String]) -> Vec<String> {
    let spelling = |text: &str, host: &str, in_name: bool| {
        format!("HostSpelling {{ text: {text:?}, host: {host:?}, in_name: {in_name} }}")
    };
    let names = hosts.iter().filter(|host| host.contains(['.', ':']));
    let mut spellings: Vec<String> = names.map(|host| spelling(host, host, false)).collect();
    for host in hosts {
        let parts = match host.parse() {
            Ok(IpAddr::V4(address)) => {
                let [a, b, c, d] = address.octets();
                let hex = format!("{a:02x}{b:02x}{c:02x}{d:02x}");
                vec![host.clone(), host.replace('.', "-"), hex]
            }
            Ok(IpAddr::V6(_)) => vec![host.replace(':', "-")],
            Err(_) => Vec::new(),
        };
        spellings.extend(parts.iter().map(|part| spelling(part, host, true)));
    }
    spellings
}

fn private(private: &RawPrivate) -> String {
    let variables = private.variables.iter();
    format!(
        "PrivateFolders {{\nfolders: {},\nopen: {},\nsources: {},\nfiles: {},\nhome: {},\nvariables: {},\n}}",
        list(private.folders.iter().map(|text| folder(text))),
        list(private.open.iter().map(|text| folder(text))),
        strings(&private.sources),
        strings(&private.files),
        strings(&private.home),
        list(variables.map(|(name, place)| format!("({name:?}, {place:?})"))),
    )
}

/// Returns the expression of the pattern of a folder: `~/.*/**`.
fn folder(text: &str) -> String {
    let (text, below) = match text.strip_suffix("/**") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let root = match text.starts_with('~') {
        true => "Home",
        false => "System",
    };
    let parts = text.split('/').filter(|part| !matches!(*part, "" | "~"));
    let parts = strings(parts);
    format!("FolderPattern {{ root: PathRoot::{root}, parts: {parts}, below: {below} }}")
}
