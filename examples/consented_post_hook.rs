//! How does a hook report an action to its author's server, with the user's consent? After the
//! action, the hook leaves a request in its outbox, and the host sends it while the user consents.

use hooks_runtime::Map;
use hooks_script::{
    Consent, ConsentRequest, ConsentStore, ContextData, HTTP, Manifest, OutboxSender, Scope,
    ScriptEngine, ScriptHook, SendError,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// `context.http` exists only in runs with a user's consent.
fn source(url: &str) -> String {
    format!(
        "export default function ({{ stage, in: message, http }}) {{
           if (stage === 'post' && http) http.post('{url}', {{ length: message.text.length }});
           return {{ out: message }};
         }}"
    )
}

/// Runs the hook after an action of this user, and sends its requests.
async fn after(
    hook: &ScriptHook,
    consents: &ConsentStore,
    sender: &OutboxSender,
    message: &Map,
) -> Result<String, Box<dyn std::error::Error>> {
    let request = ConsentRequest::of(hook, HTTP, Scope::user("u-7"));
    let permit = match consents.check(&request).await? {
        Consent::Granted(permit) => permit,
        refusal => {
            // Without consent, the hook still observes.
            let run = hook.run_post(message, &ContextData::new()).await;
            return Ok(format!("{refusal:?}, {} requests", run.outbox.len()));
        }
    };
    let run = hook
        .run_post_permitted(message, &ContextData::new(), &permit)
        .await;
    let mut sent = Vec::new();
    for request in &run.outbox {
        sent.push(match sender.send(hook, &permit, request).await {
            Ok(status) => status.to_string(),
            Err(SendError::Permit(why)) => why.to_string(),
            Err(error) => return Err(error.into()),
        });
    }
    Ok(format!("sent: {}", sent.join(", ")))
}

/// Plays the author's server; prints the requests that it receives.
async fn serve(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let (mut request, mut part) = (Vec::new(), [0; 1024]);
        while !request.ends_with(b"}") {
            match stream.read(&mut part).await? {
                0 => break,
                read => request.extend_from_slice(&part[..read]),
            }
        }
        let request = String::from_utf8_lossy(&request);
        let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
        println!("the server received {body}");
        let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).await?;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    tokio::spawn(serve(listener));

    let engine = ScriptEngine::builder().build()?;
    let hook = engine.register(Manifest::new("text:", "length", [])?, &source(&url))?;
    let consents = ConsentStore::in_memory();
    // A server on this machine needs these exceptions; the defaults are `https` and public
    // addresses.
    let sender = OutboxSender::builder()
        .allow_host("127.0.0.1")
        .allow_http(true)
        .allow_private_addresses(true)
        .build()?;
    let message = Map::from_iter([("text".to_owned(), "hello".into())]);

    println!("{}", after(&hook, &consents, &sender, &message).await?);
    let request = ConsentRequest::of(&hook, HTTP, Scope::user("u-7"));
    consents.approve(&request, "u-7").await?;
    println!("{}", after(&hook, &consents, &sender, &message).await?);
    consents.revoke(&request, "u-7").await?;
    println!("{}", after(&hook, &consents, &sender, &message).await?);
    Ok(())
}
