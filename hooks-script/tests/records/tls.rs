//! Sources over real `https`, with trusted and untrusted certificates.
//!
//! A process reads its trusted certificates at start, here from `SSL_CERT_FILE`. So the tests start
//! this program again with that variable.

use std::process::Command;
use std::sync::Arc;

use hooks_script::{FetchError, Fetcher, Loaded, Source, SourceError, Sources, Versions};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use crate::server::{Server, response};

const CODE: &str = "export default () => ({ out: {} });";

/// Variable with the key of the helper process's certificate authority.
const AUTHORITY: &str = "HOOKS_SCRIPT_TEST_AUTHORITY";

/// Creates a certificate authority from a key.
fn authority(key: KeyPair) -> (String, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap().pem();
    (certificate, Issuer::new(params, key))
}

/// Starts a server with a certificate for this name.
async fn server(name: &str, issuer: &Issuer<'_, KeyPair>) -> Server {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let server = Server::start_with(Some(TlsAcceptor::from(Arc::new(config)))).await;
    server.respond_with(|_| response("200 OK", &["content-type: text/javascript"], CODE));
    server
}

/// Loads from `https://hook.example`, which resolves to this machine.
async fn load(server: &Server) -> Result<Loaded, SourceError> {
    let here = "127.0.0.1".parse().unwrap();
    let fetcher = Fetcher::builder()
        .allow_address(here)
        .lookup(move |_| async move { Ok(vec![here]) });
    let sources = Sources::new(Versions::in_memory()).fetcher(fetcher.build().unwrap());
    let url = format!("https://hook.example:{}/hook.js", server.port);
    sources.load(&Source::url(url), None).await
}

/// Helper process that trusts one authority.
#[tokio::test]
#[ignore = "is started by the test below"]
async fn trusts_one_authority() {
    let Ok(key) = std::env::var(AUTHORITY) else {
        return;
    };
    let trusted = authority(KeyPair::from_pem(&key).unwrap()).1;
    let unknown = authority(KeyPair::generate().unwrap()).1;

    let loaded = load(&server("hook.example", &trusted).await).await;
    assert_eq!(&*loaded.unwrap().code, CODE);
    for (name, issuer) in [("hook.example", &unknown), ("other.example", &trusted)] {
        let server = server(name, issuer).await;
        let error = load(&server).await.unwrap_err();
        let is_connection = matches!(&error, SourceError::Fetch(FetchError::Connection { .. }));
        assert!(is_connection, "{name}: {error:?}");
        assert!(server.requests().is_empty(), "{name}: a request arrived");
    }
}

#[test]
fn s_01_only_servers_with_a_trusted_certificate_are_read() {
    let key = KeyPair::generate().unwrap();
    let pem = key.serialize_pem();
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("trusted.pem");
    std::fs::write(&trusted, authority(key).0).unwrap();
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "tls::trusts_one_authority"])
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .env(AUTHORITY, pem)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{stdout}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}
