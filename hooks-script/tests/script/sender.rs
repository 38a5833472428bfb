//! Sends requests to a server started by the test.

use std::future::Future;
use std::time::Duration;

use hooks_script::{
    ConsentRequest, ConsentStore, ContextData, HTTP, OutboundRequest, OutboxSender,
    OutboxSenderBuilder, Permit, Scope, ScriptHook, SendError,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::support::{body, engine, message, register};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(future)
}

/// Responds to one request and returns its text.
async fn server(response: &'static str) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut request, mut part) = (Vec::new(), [0; 1024]);
        while !request.ends_with(b"}") {
            match stream.read(&mut part).await.unwrap() {
                0 => break,
                read => request.extend_from_slice(&part[..read]),
            }
        }
        stream.write_all(response.as_bytes()).await.unwrap();
        String::from_utf8(request).unwrap()
    });
    (port, served)
}

/// Returns a sender that may connect to this machine.
fn here() -> OutboxSenderBuilder {
    OutboxSender::builder()
        .allow_host("127.0.0.1")
        .allow_http(true)
        .allow_private_addresses(true)
}

struct PreparedRequest {
    hook: ScriptHook,
    store: ConsentStore,
    permit: Permit,
    request: OutboundRequest,
}

/// Runs a hook that requests this URL.
async fn prepared(url: &str) -> PreparedRequest {
    let source = body(&format!("context.http.post('{url}', {{ a: 1 }});"));
    let hook = register(&engine(), &source);
    let store = ConsentStore::in_memory();
    let consent = ConsentRequest::of(&hook, HTTP, Scope::user("u-1"));
    store.approve(&consent, "u-1").await.unwrap();
    let permit = store.permit(&consent).await.unwrap();
    let (message, data) = (message(), ContextData::new());
    let mut run = hook.run_post_permitted(&message, &data, &permit).await;
    let request = run.outbox.remove(0);
    PreparedRequest {
        hook,
        store,
        permit,
        request,
    }
}

async fn send(sender: OutboxSenderBuilder, prepared: &PreparedRequest) -> Result<u16, SendError> {
    let sender = sender.build().unwrap();
    sender
        .send(&prepared.hook, &prepared.permit, &prepared.request)
        .await
}

#[test]
fn s_21_a_request_is_sent_to_an_allowed_host() {
    block_on(async {
        let (port, served) = server("HTTP/1.1 204 No Content\r\n\r\n").await;
        let prepared = prepared(&format!("http://127.0.0.1:{port}/log")).await;
        assert_eq!(send(here(), &prepared).await.unwrap(), 204);
        let request = served.await.unwrap();
        assert!(request.starts_with("POST /log HTTP/1.1\r\n"), "{request}");
        assert!(request.ends_with("\r\n\r\n{\"a\":1}"), "{request}");
    });
}

#[test]
fn s_21_no_request_is_sent_if_consent_is_revoked_after_the_run() {
    block_on(async {
        let (port, served) = server("").await;
        let prepared = prepared(&format!("http://127.0.0.1:{port}")).await;
        prepared
            .store
            .revoke(prepared.permit.request(), "u-1")
            .await
            .unwrap();
        let error = send(here(), &prepared).await.unwrap_err();
        assert!(matches!(error, SendError::Permit(_)), "{error}");
        assert!(!served.is_finished(), "a connection was made");
        served.abort();
    });
}

#[test]
fn s_21_no_request_is_sent_with_the_permit_of_another_hook() {
    block_on(async {
        let (prepared, other) = (
            prepared("https://a.example/1").await,
            prepared("https://a.example/2").await,
        );
        let sender = here().allow_host("a.example").build().unwrap();
        let error = sender
            .send(&prepared.hook, &other.permit, &prepared.request)
            .await;
        assert!(matches!(error, Err(SendError::OtherPermit)), "{error:?}");
    });
}

#[test]
fn s_01_only_https_requests_to_allowed_public_hosts_are_sent() {
    let plain = || {
        OutboxSender::builder()
            .allow_host("127.0.0.1")
            .allow_host("[::1]")
    };
    for (url, sender, part) in [
        ("https://b.example", plain(), "not an allowed host"),
        (
            "https://127.0.0.1.b.example",
            plain(),
            "not an allowed host",
        ),
        ("http://127.0.0.1", plain(), "not an `https` URL"),
        ("file:///etc/passwd", plain(), "not an `https` URL"),
        ("nothing", plain(), "not a URL"),
        (
            "https://me:secret@127.0.0.1",
            plain(),
            "a user or a password",
        ),
        ("https://127.0.0.1", plain(), "not public"),
        ("https://0x7f.1", plain(), "not public"),
        ("https://[::1]", plain(), "not public"),
        (
            "https://localhost",
            plain().allow_host("localhost"),
            "not public",
        ),
        ("https://127.0.0.1", here().max_body(6), "7 bytes"),
    ] {
        let error = block_on(async { send(sender, &prepared(url).await).await.unwrap_err() });
        let text = error.to_string();
        assert!(text.contains(part), "{url}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn s_01_an_allowed_host_may_have_any_equivalent_spelling() {
    for (host, url) in [
        ("::1", "https://[::1]"),
        ("0:0:0:0:0:0:0:1", "https://[::1]"),
        ("[::1]", "https://[::1]"),
        ("LocalHost", "https://localhost"),
        ("bücher.invalid", "https://xn--bcher-kva.invalid"),
        ("127.1", "https://127.0.0.1"),
    ] {
        let sender = OutboxSender::builder().allow_host(host).max_body(0);
        let sender = sender.allow_private_addresses(true);
        let error = block_on(async { send(sender, &prepared(url).await).await.unwrap_err() });
        assert!(matches!(error, SendError::Body { .. }), "{host}: {error}");
    }
}

#[test]
fn s_01_an_invalid_allowed_host_is_an_error_when_the_sender_is_built() {
    for host in [
        "a.example:8443",
        "https://a.example",
        "a.example/hook",
        "",
        "a b",
        "[::1]:80",
    ] {
        let error = OutboxSender::builder().allow_host(host).build();
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("without scheme, port and path"),
            "{host}: {text}"
        );
    }
}

#[test]
fn s_01_a_redirect_is_not_followed() {
    block_on(async {
        let (port, served) =
            server("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\n\r\n")
                .await;
        let prepared = prepared(&format!("http://127.0.0.1:{port}")).await;
        let error = send(here(), &prepared).await.unwrap_err();
        assert!(matches!(error, SendError::Status(307)), "{error}");
        served.await.unwrap();
    });
}

#[test]
fn s_22_a_request_without_a_response_times_out() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let prepared = prepared(&format!("http://127.0.0.1:{port}")).await;
        let error = send(here().timeout(Duration::from_millis(50)), &prepared)
            .await
            .unwrap_err();
        assert!(matches!(error, SendError::Timeout(_)), "{error}");
    });
}
