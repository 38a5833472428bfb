//! Mutual authentication of this user's clients and service by a shared key. In: the key and the
//! messages of a connection. Out: their proofs.
//!
//! A connection begins with a handshake. The client sends a random challenge and the address that
//! it connected to; the service replies with a nonce and a proof. Only then does the client send a
//! request, which has a proof, too; so has the response. Each proof is an HMAC-SHA256 under the key:
//!
//! | Proof | Covered values |
//! |---|---|
//! | of the service | challenge, nonce, address |
//! | of a request | challenge, nonce, method, path, body |
//! | of a response | challenge, nonce, the request's proof, status, body |
//!
//! The address prevents a process at another address from relaying the handshake to the service. A
//! program that cannot read the key cannot compute a proof.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::{fs, process};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;

use crate::files;
use crate::random::random;

/// Path of the handshake.
pub(crate) const IDENTITY: &str = "/api/hooks/identity";
/// Header with the client's challenge.
pub(crate) const CHALLENGE: &str = "x-hooks-guard-challenge";
/// Header with the address that the client connected to.
pub(crate) const ADDRESS: &str = "x-hooks-guard-address";
/// Header with the proof of a request or a response.
pub(crate) const PROOF: &str = "x-hooks-guard-proof";
/// Text that a proof covers instead of the body of a streamed response.
pub(crate) const STREAM: &[u8] = b"stream";
/// Address of a service on a Unix socket.
pub(crate) const UNIX: &str = "unix";

/// Length of a key, a challenge and a nonce, in bytes.
const LENGTH: usize = 32;

/// The key that this user's clients and service share.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceKey([u8; LENGTH]);

/// Shows that there is a key, without its value.
impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceKey(…)")
    }
}

/// Error returned when a key cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file does not exist.
    #[error(
        "no key in `{}`; start `hooks-guard serve`, which creates one beside its trail, or set \
         `key_file`",
        .0.display()
    )]
    Missing(PathBuf),
    /// The file cannot be read or created.
    #[error("cannot use the key in `{}`: {source}; check the file and its permissions", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Another user can read or write the key.
    #[error(
        "other users can read or write the key in `{}` (mode {mode:o}); remove it, and restart \
         `hooks-guard serve`",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file belongs to another user.
    #[error("the key in `{}` belongs to another user; set `key_file` to your own file", .0.display())]
    Owner(PathBuf),
    /// The text is not a key.
    #[error(
        "`{}` does not contain 64 hexadecimal digits; remove it, and restart `hooks-guard serve`",
        .0.display()
    )]
    Malformed(PathBuf),
}

impl ServiceKey {
    /// Creates a random key.
    ///
    /// # Panics
    /// If the system has no source of randomness.
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key).expect("the system gives random bytes");
        Self(key)
    }

    /// Reads a key from a file.
    ///
    /// # Errors
    /// If the file does not exist, if other users can read it, or if it does not contain a key.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => KeyError::Missing(path.to_owned()),
            _ => KeyError::Io {
                path: path.to_owned(),
                source,
            },
        };
        let file = files::open(path).map_err(failed)?;
        // Check the open file: its path may lead elsewhere by now.
        is_private(path, &file.metadata().map_err(failed)?)?;
        let mut text = String::new();
        // The digits and the line ending.
        let most = 2 * LENGTH as u64 + 2;
        file.take(most).read_to_string(&mut text).map_err(failed)?;
        let key = from_hex(text.trim_end_matches(['\n', '\r']));
        key.map(Self)
            .ok_or_else(|| KeyError::Malformed(path.to_owned()))
    }

    /// Reads a key from a file, which is created if it does not exist.
    ///
    /// # Errors
    /// As for [`load`](Self::load), and if the file cannot be created.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        match Self::load(path) {
            Err(KeyError::Missing(_)) => {}
            loaded => return loaded,
        }
        match Self::random().create(path) {
            // Another process may have created it in the meantime.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(KeyError::Io {
                path: path.to_owned(),
                source: error,
            }),
            _ => Self::load(path),
        }
    }

    /// Writes the key to a new file. Other processes see the whole file or none.
    fn create(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        let made = path.with_extension(format!("key.{}.{}", process::id(), random::<4>()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&made)?;
        let linked = writeln!(file, "{}", hex::encode(self.0))
            .and_then(|()| file.sync_all())
            // A link, because a rename would replace the key of another process.
            .and_then(|()| fs::hard_link(&made, path));
        let _ = fs::remove_file(&made);
        linked
    }

    /// Returns the token with which an agent calls its hooks over HTTP. It is derived from the key
    /// and the agent's name, so it stays the same until the key is replaced. It answers no
    /// questions.
    #[must_use]
    pub fn agent_token(&self, agent: &str) -> String {
        self.mac("hooks-guard agent 1", &[agent.as_bytes()])
    }

    fn mac(&self, purpose: &str, parts: &[&[u8]]) -> String {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        let mut mac = mac.expect("HMAC takes keys of every length");
        for part in [purpose.as_bytes()].iter().chain(parts) {
            // The lengths separate the parts.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        hex::encode(mac.finalize().into_bytes())
    }
}

#[cfg(unix)]
fn is_private(path: &Path, file: &fs::Metadata) -> Result<(), KeyError> {
    use std::os::unix::fs::MetadataExt;

    let user = rustix::process::geteuid().as_raw();
    if file.uid() != user && file.uid() != 0 {
        return Err(KeyError::Owner(path.to_owned()));
    }
    match file.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(KeyError::Exposed {
            path: path.to_owned(),
            mode,
        }),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn is_private(_: &Path, _: &fs::Metadata) -> Result<(), KeyError> {
    Ok(())
}

/// The challenge and the nonce of one connection; computes the proofs of its requests and
/// responses.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    key: ServiceKey,
    challenge: String,
    nonce: String,
}

impl Handshake {
    pub(crate) fn new(key: ServiceKey, challenge: String, nonce: String) -> Self {
        Self {
            key,
            challenge,
            nonce,
        }
    }

    /// Returns the proof of the service at an address.
    pub(crate) fn service_proof(&self, address: &str) -> String {
        self.proof("hooks-guard service 1", &[address.as_bytes()])
    }

    /// Returns the proof of a request.
    pub(crate) fn request_proof(&self, method: &str, path: &str, body: &[u8]) -> String {
        let parts = [method.as_bytes(), path.as_bytes(), body];
        self.proof("hooks-guard request 1", &parts)
    }

    /// Returns the proof of the response to a request with this proof.
    pub(crate) fn response_proof(&self, request: &str, status: u16, body: &[u8]) -> String {
        let status = status.to_be_bytes();
        let parts = [request.as_bytes(), &status, body];
        self.proof("hooks-guard response 1", &parts)
    }

    fn proof(&self, purpose: &str, parts: &[&[u8]]) -> String {
        let agreed = [self.challenge.as_bytes(), self.nonce.as_bytes()];
        self.key.mac(purpose, &[&agreed, parts].concat())
    }
}

/// Returns `true` if a proof is the expected one, in constant time.
pub(crate) fn matches(given: &str, expected: &str) -> bool {
    given.as_bytes().ct_eq(expected.as_bytes()).into()
}

/// Returns a random challenge or nonce.
pub(crate) fn nonce() -> String {
    random::<LENGTH>()
}

/// Returns `true` if a text can be a challenge or a nonce.
pub(crate) fn is_nonce(text: &str) -> bool {
    from_hex(text).is_some()
}

fn from_hex(text: &str) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Handshake, ServiceKey, is_nonce, matches, nonce};

    fn handshake(key: &ServiceKey, challenge: &str, nonce: &str) -> Handshake {
        Handshake::new(key.clone(), challenge.to_owned(), nonce.to_owned())
    }

    #[test]
    fn a_proof_is_valid_only_for_its_own_parts() {
        let key = ServiceKey::random();
        let agreed = handshake(&key, "c", "n");
        let request = agreed.request_proof("POST", "/a", b"b");
        let mut proofs = vec![
            agreed.service_proof("127.0.0.1:3000"),
            agreed.service_proof("127.0.0.1:3001"),
            agreed.service_proof("unix"),
            request.clone(),
            agreed.request_proof("GET", "/a", b"b"),
            agreed.request_proof("POST", "/", b"ab"),
            agreed.request_proof("POST", "/ab", b""),
            agreed.response_proof(&request, 200, b"b"),
            agreed.response_proof(&request, 201, b"b"),
            agreed.response_proof("", 200, b"b"),
            handshake(&key, "d", "n").response_proof(&request, 200, b"b"),
            handshake(&key, "c", "m").response_proof(&request, 200, b"b"),
            // Equal concatenated text, split at another position.
            handshake(&key, "cn", "").response_proof(&request, 200, b"b"),
            handshake(&ServiceKey::random(), "c", "n").service_proof("127.0.0.1:3000"),
        ];
        let count = proofs.len();
        proofs.sort();
        proofs.dedup();
        assert_eq!(proofs.len(), count);
        assert!(matches(&request, &agreed.request_proof("POST", "/a", b"b")));
        assert!(!matches(&request[..63], &request) && !matches("", &request));
    }

    #[test]
    fn a_nonce_has_64_hexadecimal_digits() {
        assert!(is_nonce(&nonce()));
        for text in ["", "00", &"g".repeat(64), &"0".repeat(65), &"é".repeat(32)] {
            assert!(!is_nonce(text), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_key_is_created_once_and_private_to_its_owner() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data/service.key");
        let error = ServiceKey::load(&path).expect_err("there is none");
        assert!(error.to_string().contains("hooks-guard serve"), "{error}");
        let makers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || ServiceKey::load_or_create(&path).expect("a key"))
            })
            .collect();
        let mut keys = makers.into_iter().map(|maker| maker.join().expect("a key"));
        let key = keys.next().expect("a key");
        assert!(keys.all(|other| other == key));
        let folder = fs::read_dir(folder.path().join("data")).expect("a folder");
        assert_eq!(folder.count(), 1);
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for mode in [0o640, 0o604, 0o620, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            let error = ServiceKey::load_or_create(&path).expect_err("others can read it");
            assert!(
                error.to_string().contains("other users can read"),
                "{error}"
            );
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("it is ours");
        assert_eq!(ServiceKey::load(&path).expect("a key"), key);
        fs::remove_file(&path).expect("it is ours");
        for text in [
            "",
            "\n",
            "00",
            &"0".repeat(63),
            &"0".repeat(65),
            &"x".repeat(64),
        ] {
            fs::write(&path, text).expect("it is ours");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
            let error = ServiceKey::load(&path).expect_err(text);
            assert!(
                error.to_string().contains("64 hexadecimal digits"),
                "{error}"
            );
        }
    }
}
