//! Sources at URLs: caching as allowed by their servers, and connections to public addresses only.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use hooks_script::{
    FetchError, Fetcher, FetcherBuilder, Freshness, Loaded, Source, SourceError, Sources, Versions,
};
use jiff::Timestamp;

use crate::Stores;
use crate::server::{Server, response};

const ONE: &str = "export default () => ({ out: { version: 1 } });";
const TWO: &str = "export default () => ({ out: { version: 2 } });";

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// Fetcher for tests: may connect to the server on this machine, without TLS.
fn lenient() -> FetcherBuilder {
    Fetcher::builder().allow_http(true).allow_address(HERE)
}

/// Sources in each kind of store, with a clock that the test sets.
struct Clocked {
    sources: Sources,
    now: Arc<AtomicI64>,
}

impl Clocked {
    fn new(versions: Versions) -> Self {
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let sources = Sources::new(versions)
            .fetcher(lenient().build().unwrap())
            .clock(move || Timestamp::from_second(clock.load(SeqCst)).unwrap());
        Clocked { sources, now }
    }

    async fn at(&self, second: i64, source: &Source) -> Result<Loaded, SourceError> {
        self.now.store(second, SeqCst);
        self.sources.load(source, None).await
    }
}

fn fetch_error(result: Result<Loaded, SourceError>) -> FetchError {
    match result {
        Err(SourceError::Fetch(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn load(builder: FetcherBuilder, url: &str) -> Result<Loaded, SourceError> {
    let sources = Sources::new(Versions::in_memory())
        .fetcher(builder.build().unwrap())
        .max_bytes(1000);
    sources.load(&Source::url(url), None).await
}

#[tokio::test]
async fn a_fresh_response_is_not_requested_again() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        server.respond_with(|_| response("200 OK", &["cache-control: max-age=60"], ONE));
        let (source, clocked) = (Source::url(server.url("/hook.js")), Clocked::new(versions));
        assert_eq!(
            clocked.at(0, &source).await.unwrap().freshness,
            Freshness::Read
        );
        assert_eq!(
            clocked.at(59, &source).await.unwrap().freshness,
            Freshness::Fresh
        );
        assert_eq!(server.requests().len(), 1);
        assert_eq!(
            clocked.at(60, &source).await.unwrap().freshness,
            Freshness::Read
        );
        assert_eq!(server.requests().len(), 1);
        // The host limits freshness, even if the server allows more.
        server.respond_with(|_| response("200 OK", &["cache-control: max-age=99999999999"], ONE));
        clocked.at(200, &source).await.unwrap();
        assert_eq!(
            clocked.at(200 + 86_399, &source).await.unwrap().freshness,
            Freshness::Fresh
        );
        assert_eq!(
            clocked.at(200 + 86_400, &source).await.unwrap().freshness,
            Freshness::Read
        );
        server.requests();
    }
}

#[tokio::test]
async fn a_response_is_stale_if_the_clock_moves_backwards() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        let (source, clocked) = (Source::url(server.url("/hook.js")), Clocked::new(versions));
        for (control, forwards) in [
            ("no-cache", Freshness::Read),
            ("max-age=60", Freshness::Fresh),
        ] {
            let control = format!("cache-control: {control}");
            server.respond_with(move |_| response("200 OK", &[&control], ONE));
            clocked.at(1_000, &source).await.unwrap();
            assert_eq!(
                clocked.at(1_001, &source).await.unwrap().freshness,
                forwards
            );
            for earlier in [999, 1] {
                let loaded = clocked.at(earlier, &source).await.unwrap();
                assert_eq!(loaded.freshness, Freshness::Read, "{earlier}");
            }
            clocked.at(2_000, &source).await.unwrap();
        }
        server.requests();
    }
}

#[tokio::test]
async fn a_stale_response_is_revalidated_by_etag_and_date() {
    let server = Server::start().await;
    let date = "Sat, 21 Nov 2026 08:00:00 GMT";
    for versions in Stores::new().await.versions {
        server.respond_with(move |request| {
            let modified = format!("last-modified: {date}");
            match (
                request.header("if-none-match"),
                request.header("if-modified-since"),
            ) {
                (Some("\"v1\""), Some(since)) if since == date.to_lowercase() => {
                    response("304 Not Modified", &["cache-control: max-age=10"], "")
                }
                (None, None) => response("200 OK", &["etag: \"v1\"", &modified], ONE),
                other => panic!("{other:?}"),
            }
        });
        let (source, clocked) = (
            Source::url(server.url("/hook.js")),
            Clocked::new(versions.clone()),
        );
        let first = clocked.at(0, &source).await.unwrap();
        assert_eq!(first.version.etag.as_deref(), Some("\"v1\""));
        assert_eq!(first.version.last_modified.as_deref(), Some(date));
        let second = clocked.at(5, &source).await.unwrap();
        assert_eq!(
            (&*second.code, second.freshness),
            (ONE, Freshness::Revalidated)
        );
        assert_eq!(second.version.last_seen, Timestamp::from_second(5).unwrap());
        assert_eq!(
            second.version.first_seen,
            Timestamp::from_second(0).unwrap()
        );
        assert_eq!(second.version.etag, first.version.etag);
        // A "not modified" response has its own `max-age`.
        assert_eq!(
            clocked.at(14, &source).await.unwrap().freshness,
            Freshness::Fresh
        );
        assert_eq!(
            clocked.at(15, &source).await.unwrap().freshness,
            Freshness::Revalidated
        );

        server.respond_with(|_| response("200 OK", &["etag: \"v2\""], TWO));
        assert_eq!(clocked.at(100, &source).await.unwrap().code, TWO);
        assert_eq!(versions.of(&source.to_string()).await.unwrap().len(), 2);
        server.requests();
    }
}

#[tokio::test]
async fn a_no_store_response_is_not_stored() {
    let server = Server::start().await;
    server.respond_with(|_| {
        response(
            "200 OK",
            &["cache-control: no-store, max-age=60", "etag: \"v1\""],
            ONE,
        )
    });
    for versions in Stores::new().await.versions {
        let (source, mut clocked) = (
            Source::url(server.url("/hook.js")),
            Clocked::new(versions.clone()),
        );
        clocked.sources = clocked.sources.stale_if_error(Duration::from_secs(1000));
        let loaded = clocked.at(0, &source).await.unwrap();
        assert_eq!(loaded.code, ONE);
        assert_eq!(
            versions
                .code(&source.to_string(), &loaded.version.hash)
                .await
                .unwrap(),
            None
        );
        // The version itself remains listed.
        assert_eq!(versions.of(&source.to_string()).await.unwrap().len(), 1);
        assert!(clocked.sources.last_good(&source).await.unwrap().is_none());
        assert_eq!(
            clocked.at(1, &source).await.unwrap().freshness,
            Freshness::Read
        );
        assert!(
            server
                .requests()
                .iter()
                .all(|request| request.header("if-none-match").is_none())
        );
    }
}

#[tokio::test]
async fn the_last_version_is_used_on_errors_if_the_host_allows_stale() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        let (source, clocked) = (
            Source::url(server.url("/hook.js")),
            Clocked::new(versions.clone()),
        );
        server.respond_with(|_| response("200 OK", &["cache-control: max-age=10"], ONE));
        let hash = clocked.at(0, &source).await.unwrap().version.hash;
        server.respond_with(|_| response("503 Service Unavailable", &[], "busy"));
        assert!(matches!(
            fetch_error(clocked.at(20, &source).await),
            FetchError::Status(503)
        ));
        assert_eq!(
            clocked
                .sources
                .last_good(&source)
                .await
                .unwrap()
                .unwrap()
                .code,
            ONE
        );
        // A stored pinned version needs no server.
        assert_eq!(
            clocked
                .sources
                .load(&source, Some(&hash))
                .await
                .unwrap()
                .freshness,
            Freshness::Pinned
        );

        let tolerant = Clocked {
            sources: clocked
                .sources
                .clone()
                .stale_if_error(Duration::from_secs(100)),
            now: Arc::clone(&clocked.now),
        };
        let stale = tolerant.at(100, &source).await.unwrap();
        assert_eq!(stale.code, ONE);
        let Freshness::Stale { why } = stale.freshness else {
            panic!("{stale:?}")
        };
        assert_eq!(
            why,
            "the server returned status 503; open the URL in a browser"
        );
        assert!(
            tolerant.at(101, &source).await.is_err(),
            "a stale version is used for 100 seconds"
        );

        for forbidden in ["must-revalidate", "no-cache"] {
            server.respond_with(move |_| {
                response(
                    "200 OK",
                    &[&format!("cache-control: {forbidden}"), "etag: \"x\""],
                    ONE,
                )
            });
            tolerant.at(200, &source).await.unwrap();
            server.respond_with(|_| response("304 Not Modified", &[], ""));
            assert_eq!(
                tolerant.at(201, &source).await.unwrap().freshness,
                Freshness::Revalidated
            );
            server.respond_with(|_| response("503 Service Unavailable", &[], "busy"));
            assert!(tolerant.at(202, &source).await.is_err(), "{forbidden}");
        }
    }
}

#[tokio::test]
async fn a_pinned_load_refuses_another_version_from_the_server() {
    let server = Server::start().await;
    server.respond_with(|_| response("200 OK", &[], TWO));
    let source = Source::url(server.url("/hook.js"));
    let sources = Clocked::new(Versions::in_memory()).sources;
    let error = sources
        .load(&source, Some(&"0".repeat(64)))
        .await
        .unwrap_err();
    assert!(matches!(error, SourceError::Pinned { .. }), "{error}");
}

/// A fresh version in the store does not replace the pinned one.
#[tokio::test]
async fn a_pinned_load_requests_the_url_although_another_version_is_fresh() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        let (source, mut clocked) = (Source::url(server.url("/hook.js")), Clocked::new(versions));
        clocked.sources = clocked.sources.stale_if_error(Duration::from_secs(1000));
        server.respond_with(|_| response("200 OK", &["cache-control: max-age=600"], ONE));
        clocked.at(0, &source).await.unwrap();
        let other = Sources::new(Versions::in_memory());
        let two = other.load(&Source::text("", TWO), None).await.unwrap();
        let pin = Some(&*two.version.hash);

        server.respond_with(|_| response("503 Service Unavailable", &[], "busy"));
        let error = clocked.sources.load(&source, pin).await;
        assert!(matches!(fetch_error(error), FetchError::Status(503)));
        server.respond_with(|_| response("200 OK", &[], TWO));
        let loaded = clocked.sources.load(&source, pin).await.unwrap();
        assert_eq!((&*loaded.code, loaded.freshness), (TWO, Freshness::Read));
    }
}

#[tokio::test]
async fn the_caching_headers_of_a_redirect_apply() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        let (source, clocked) = (
            Source::url(server.url("/latest.js")),
            Clocked::new(versions),
        );
        let redirect_to = |name: &'static str, control: &'static str| {
            server.respond_with(move |request| match request.path() {
                "/latest.js" => response(
                    "302 Found",
                    &[&format!("location: /{name}.js"), control],
                    "",
                ),
                path => {
                    let code = if path == "/1.js" { ONE } else { TWO };
                    response("200 OK", &["cache-control: max-age=9999"], code)
                }
            });
        };
        redirect_to("1", "cache-control: max-age=10");
        clocked.at(0, &source).await.unwrap();
        redirect_to("2", "x: y");
        assert_eq!(clocked.at(9, &source).await.unwrap().code, ONE);
        assert_eq!(clocked.at(10, &source).await.unwrap().code, TWO);
        // Without caching headers, the source is requested again.
        redirect_to("1", "x: y");
        assert_eq!(clocked.at(11, &source).await.unwrap().code, ONE);
    }
}

/// A date has a resolution of one second, and a file may change twice in one.
#[tokio::test]
async fn a_not_modified_response_with_another_etag_is_not_accepted() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        let (source, clocked) = (Source::url(server.url("/hook.js")), Clocked::new(versions));
        let date = "last-modified: Sat, 21 Nov 2026 08:00:00 GMT";
        server.respond_with(move |_| response("200 OK", &["etag: \"v1\"", date], ONE));
        clocked.at(0, &source).await.unwrap();
        server.respond_with(move |request| match request.header("if-modified-since") {
            Some(_) => response("304 Not Modified", &["etag: \"v2\""], ""),
            None => response("200 OK", &["etag: \"v2\"", date], TWO),
        });
        let loaded = clocked.at(5, &source).await.unwrap();
        assert_eq!((&*loaded.code, loaded.freshness), (TWO, Freshness::Read));
    }
}

/// Also deletes a version that was stored before the server forbade storage.
#[tokio::test]
async fn no_store_deletes_a_version_that_was_stored_before() {
    let server = Server::start().await;
    for versions in Stores::new().await.versions {
        let (source, clocked) = (
            Source::url(server.url("/hook.js")),
            Clocked::new(versions.clone()),
        );
        server.respond_with(|_| response("200 OK", &["etag: \"v1\""], ONE));
        let hash = clocked.at(0, &source).await.unwrap().version.hash;
        server.respond_with(|_| response("304 Not Modified", &["cache-control: no-store"], ""));
        assert_eq!(clocked.at(1, &source).await.unwrap().code, ONE);
        let code = versions.code(&source.to_string(), &hash).await.unwrap();
        assert_eq!(code, None);
    }
}

#[tokio::test]
async fn redirects_are_followed_up_to_the_limit() {
    let server = Server::start().await;
    server.respond_with(
        |request| match request.path().trim_start_matches('/').parse::<u32>() {
            Ok(0) => response("200 OK", &[], ONE),
            Ok(n) => response("302 Found", &[&format!("location: /{}", n - 1)], ""),
            Err(_) => response("302 Found", &["location: /around"], ""),
        },
    );
    assert_eq!(load(lenient(), &server.url("/5")).await.unwrap().code, ONE);
    for path in ["/6", "/around"] {
        let error = fetch_error(load(lenient(), &server.url(path)).await);
        assert!(
            matches!(error, FetchError::Redirects { limit: 5, .. }),
            "{error}"
        );
    }
    let error = fetch_error(load(lenient().redirects(0), &server.url("/1")).await);
    assert!(
        matches!(error, FetchError::Redirects { limit: 0, .. }),
        "{error}"
    );
}

/// Validators of one server have no meaning for another.
#[tokio::test]
async fn validators_are_sent_only_to_the_url_that_returned_them() {
    let server = Server::start().await;
    server.respond_with(|request| match request.path() {
        "/hook.js" => response("302 Found", &["location: /there.js"], ""),
        _ => response("200 OK", &["etag: \"v1\""], ONE),
    });
    let (source, clocked) = (
        Source::url(server.url("/hook.js")),
        Clocked::new(Versions::in_memory()),
    );
    clocked.at(0, &source).await.unwrap();
    clocked.at(1, &source).await.unwrap();
    let requested: Vec<_> = server
        .requests()
        .iter()
        .map(|request| {
            (
                request.path().to_owned(),
                request.header("if-none-match").is_some(),
            )
        })
        .collect();
    let step = |path: &str, validator| (path.to_owned(), validator);
    assert_eq!(
        requested,
        [
            step("/hook.js", false),
            step("/there.js", false),
            step("/hook.js", false),
            step("/there.js", true)
        ]
    );
    // A "not modified" response to a request without validators is an error.
    server.respond_with(|_| response("304 Not Modified", &[], ""));
    assert!(matches!(
        fetch_error(clocked.at(2, &source).await),
        FetchError::Status(304)
    ));
}

#[tokio::test]
async fn responses_that_are_too_large_too_slow_or_not_scripts_are_refused() {
    let server = Server::start().await;
    let long = "x".repeat(1001);
    let body = long.clone();
    server.respond_with(move |_| response("200 OK", &[], &body));
    assert!(matches!(
        fetch_error(load(lenient(), &server.url("/")).await),
        FetchError::TooLarge { limit: 1000 }
    ));
    // Without `content-length`.
    server.respond_with(move |_| {
        format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{long}").into_bytes()
    });
    assert!(matches!(
        fetch_error(load(lenient(), &server.url("/")).await),
        FetchError::TooLarge { limit: 1000 }
    ));
    server.respond_with(|_| response("200 OK", &[], &"x".repeat(1000)));
    assert_eq!(
        load(lenient(), &server.url("/")).await.unwrap().code.len(),
        1000
    );

    server.respond_with(|_| Vec::new());
    let error = fetch_error(
        load(
            lenient().timeout(Duration::from_millis(100)),
            &server.url("/"),
        )
        .await,
    );
    assert!(matches!(error, FetchError::Timeout(_)), "{error}");
    // Sends the headers immediately, and never the body.
    server.respond_with(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx".to_vec());
    assert!(matches!(
        fetch_error(load(lenient(), &server.url("/")).await),
        FetchError::Connection { .. }
    ));

    for (kind, good) in [
        ("text/javascript; charset=utf-8", true),
        ("Application/JavaScript", true),
        ("application/x-javascript", true),
        ("text/plain", true),
        ("application/octet-stream", true),
        ("text/html; charset=utf-8", false),
        ("application/json", false),
        ("image/png", false),
    ] {
        server.respond_with(move |_| response("200 OK", &[&format!("content-type: {kind}")], ONE));
        match load(lenient(), &server.url("/")).await {
            Ok(loaded) => assert!(good && loaded.code == ONE, "{kind}"),
            Err(SourceError::Fetch(FetchError::ContentType(named))) => {
                assert!(!good && named == kind, "{kind}")
            }
            Err(error) => panic!("{kind}: {error}"),
        }
    }
    server.respond_with(|_| response("200 OK", &["content-encoding: gzip"], ONE));
    assert!(matches!(
        fetch_error(load(lenient(), &server.url("/")).await),
        FetchError::Encoding(_)
    ));
    server.respond_with(|_| {
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\n\xff".to_vec()
    });
    assert!(matches!(
        fetch_error(load(lenient(), &server.url("/")).await),
        FetchError::NotText
    ));
}

#[tokio::test]
async fn s_01_only_https_urls_without_a_password_are_read() {
    for url in [
        "http://example.org/hook.js",
        "ftp://example.org/hook.js",
        "file:///etc/passwd",
        "data:text/javascript,1",
        "hook.js",
        "",
        "https://",
        "https://user:secret@example.org/hook.js",
    ] {
        let error = fetch_error(load(Fetcher::builder(), url).await);
        assert!(matches!(&error, FetchError::Url { .. }), "{url}: {error}");
    }
    let error = fetch_error(load(Fetcher::builder(), "https://user:secret@example.org/").await);
    assert!(!error.to_string().contains("secret"));
}

#[tokio::test]
async fn s_01_nonpublic_addresses_are_refused_in_every_spelling() {
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[64:ff9b::127.0.0.1]",
    ] {
        let error = fetch_error(load(Fetcher::builder(), &format!("https://{host}/hook.js")).await);
        assert!(
            matches!(error, FetchError::Address { .. }),
            "{host}: {error}"
        );
    }
}

/// Resolves every name to the next of these addresses, and counts the lookups.
fn names(
    addresses: &'static [&'static [&'static str]],
    count: &Arc<AtomicUsize>,
) -> FetcherBuilder {
    let count = Arc::clone(count);
    Fetcher::builder().lookup(move |_| {
        let now = addresses[count.fetch_add(1, SeqCst).min(addresses.len() - 1)];
        let found: Vec<IpAddr> = now.iter().map(|address| address.parse().unwrap()).collect();
        async move {
            if found.is_empty() {
                Err(io::ErrorKind::NotFound.into())
            } else {
                Ok(found)
            }
        }
    })
}

#[tokio::test]
async fn s_01_a_name_that_resolves_to_a_nonpublic_address_is_refused() {
    // Resolved by the system.
    let error = fetch_error(load(Fetcher::builder(), "https://localhost/hook.js").await);
    assert!(matches!(error, FetchError::Address { .. }), "{error}");

    let count = Arc::default();
    const LOOKUPS: [&[&[&str]]; 3] = [
        &[&["127.0.0.1"]],
        &[&["::ffff:127.0.0.1"]],
        &[&["8.8.8.8", "10.0.0.1"]],
    ];
    for addresses in LOOKUPS {
        let error =
            fetch_error(load(names(addresses, &count), "https://hook.example/hook.js").await);
        assert!(
            matches!(&error, FetchError::Address { host, .. } if host == "hook.example"),
            "{error}"
        );
    }
    assert!(matches!(
        fetch_error(load(names(&[&[]], &count), "https://hook.example/hook.js").await),
        FetchError::Connection { .. }
    ));
}

/// `http` is allowed, but no private address: the server on this machine sees no connection.
#[tokio::test]
async fn s_01_no_connection_is_made_to_a_nonpublic_address() {
    let server = Server::start().await;
    server.respond_with(|_| response("200 OK", &[], ONE));
    let strict = || Fetcher::builder().allow_http(true);
    let error = fetch_error(load(strict(), &server.url("/hook.js")).await);
    assert!(matches!(error, FetchError::Address { .. }), "{error}");
    let url = format!("http://localhost:{}/hook.js", server.port);
    assert!(matches!(
        fetch_error(load(strict(), &url).await),
        FetchError::Address { .. }
    ));
    assert!(server.requests().is_empty());
    // Control: the server does see an allowed connection.
    load(lenient(), &server.url("/hook.js")).await.unwrap();
    assert_eq!(server.requests().len(), 1);
}

/// A connection uses the addresses that were checked, from one lookup. If the name changes, the
/// next connection is refused.
#[tokio::test]
async fn s_01_a_changing_name_is_checked_for_every_connection() {
    let server = Server::start().await;
    server.respond_with(|_| response("200 OK", &[], ONE));
    let source = Source::url(format!("http://hook.example:{}/hook.js", server.port));
    let count = Arc::default();
    let changing = names(&[&["127.0.0.1"], &["127.0.0.2"]], &count)
        .allow_http(true)
        .allow_address(HERE);
    let sources = Sources::new(Versions::in_memory()).fetcher(changing.build().unwrap());
    sources.load(&source, None).await.unwrap();
    assert_eq!((count.load(SeqCst), server.requests().len()), (1, 1));
    let error = fetch_error(sources.load(&source, None).await);
    assert!(matches!(error, FetchError::Address { .. }), "{error}");
    assert_eq!((count.load(SeqCst), server.requests().len()), (2, 0));
}

/// A redirect from an allowed server to a forbidden address is refused.
#[tokio::test]
async fn s_01_redirects_are_checked_by_the_same_rules() {
    let server = Server::start().await;
    for to in [
        "ftp://example.org/hook.js",
        "file:///etc/passwd",
        "https://user:pw@example.org/",
        "javascript:1",
    ] {
        server.respond_with(move |_| response("302 Found", &[&format!("location: {to}")], ""));
        let error = fetch_error(load(lenient(), &server.url("/")).await);
        assert!(matches!(error, FetchError::Url { .. }), "{to}: {error}");
    }
    server.requests();
    // Redirects from an allowed name to a forbidden name, and to addresses.
    for to in [
        "http://127.0.0.2/",
        "http://[::1]/",
        "http://169.254.169.254/latest/",
        "//10.0.0.1/",
        "http://inside.example/",
    ] {
        let count = Arc::default();
        let builder = names(&[&["127.0.0.1"], &["192.168.0.1"]], &count)
            .allow_http(true)
            .allow_address(HERE);
        server.respond_with(move |_| response("302 Found", &[&format!("location: {to}")], ""));
        let error =
            fetch_error(load(builder, &format!("http://hook.example:{}/", server.port)).await);
        assert!(matches!(error, FetchError::Address { .. }), "{to}: {error}");
        assert_eq!(server.requests().len(), 1);
    }
    // A redirect from `https` to `http` is refused too, unless `http` is allowed.
    let error = fetch_error(load(Fetcher::builder().allow_address(HERE), &server.url("/")).await);
    assert!(matches!(error, FetchError::Url { .. }), "{error}");
}
