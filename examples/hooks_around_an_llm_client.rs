//! How do hooks change the requests of an LLM client, its retries and its responses?
//!
//! The client is small and works with any server that implements OpenAI's chat completions. Its
//! extension points are three typed slots. Pass the address of a server:
//!
//! ```sh
//! cargo run -p hooks-examples --features http --example hooks_around_an_llm_client -- \
//!     http://127.0.0.1:11434/v1 llama3.2 "What is a hook?"
//! ```
//!
//! `OPENAI_API_KEY` is sent if it is set. (`hooks_around_a_model` shows the hooks and the budget of
//! `hooks-runtime` for models.)

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hooks_core::{hooks, impl_hooks};
use reqwest::{Client, StatusCode, header};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// Request to the model.
#[derive(Debug, Clone, Serialize)]
struct Chat {
    model: String,
    messages: Vec<Message>,
}

/// Response of the server; unused fields are omitted.
#[derive(Debug, Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Usage {
    total_tokens: u64,
}

/// Text of a response, and its cost.
#[derive(Debug, Clone)]
struct Answer {
    text: String,
    usage: Usage,
}

/// Reason why there is no response.
#[derive(Debug, Clone, thiserror::Error)]
enum Failure {
    #[error("not sent: {0}")]
    Refused(String),
    #[error("the server returned {status}")]
    Status {
        status: StatusCode,
        retry_after: Option<Duration>,
    },
    #[error("the server cannot be reached: {0}")]
    Transport(String),
    #[error("the response cannot be parsed: {0}")]
    Protocol(String),
}

#[hooks]
trait LlmHooks {
    /// Returns the request to send, or refuses it.
    #[hook(always)]
    async fn before(chat: Chat) -> Result<Chat, Failure> {
        Ok(chat)
    }

    /// Returns the delay before a retry; `None` gives up.
    #[hook(singleton)]
    async fn retry(_failure: &Failure, _attempt: u32) -> Option<Duration> {
        None
    }

    /// Returns the response for the program.
    #[hook(always)]
    async fn after(_chat: &Chat, answer: Answer) -> Answer {
        answer
    }
}

/// The client. It knows its slots, but no hooks.
struct Llm<'h> {
    http: Client,
    url: String,
    key: Option<String>,
    hooks: LlmHooksSet<'h>,
}

impl Llm<'_> {
    async fn ask(&self, chat: Chat) -> Result<Answer, Failure> {
        let chat = self.hooks.before(chat).await?;
        let mut attempt = 1;
        let answer = loop {
            match self.send(&chat).await {
                Ok(answer) => break answer,
                Err(failure) => match self.hooks.retry(&failure, attempt).await {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return Err(failure),
                },
            }
            attempt += 1;
        };
        Ok(self.hooks.after(&chat, answer).await)
    }

    async fn send(&self, chat: &Chat) -> Result<Answer, Failure> {
        let mut request = self.http.post(format!("{}/chat/completions", self.url));
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let transport = |error: reqwest::Error| Failure::Transport(error.to_string());
        let response = request.json(chat).send().await.map_err(transport)?;
        let status = response.status();
        if !status.is_success() {
            let after = response.headers().get(header::RETRY_AFTER);
            let seconds = after.and_then(|after| after.to_str().ok()?.parse().ok());
            return Err(Failure::Status {
                status,
                retry_after: seconds.map(Duration::from_secs),
            });
        }
        let protocol = |error: serde_json::Error| Failure::Protocol(error.to_string());
        let body = response.bytes().await.map_err(transport)?;
        let completion: Completion = serde_json::from_slice(&body).map_err(protocol)?;
        let choice = completion.choices.into_iter().next();
        let choice =
            choice.ok_or_else(|| Failure::Protocol("the response has no choice".into()))?;
        Ok(Answer {
            text: choice.message.content,
            usage: completion.usage.unwrap_or_default(),
        })
    }
}

/// Refuses prompts with the user's keys, and long prompts.
struct Privacy {
    longest: usize,
}

#[impl_hooks(LlmHooksSet)]
impl LlmHooks for Privacy {
    async fn before(
        &self,
        chat: Chat,
        last: Option<Result<Chat, Failure>>,
    ) -> Result<Chat, Failure> {
        let mut chat = last.unwrap_or(Ok(chat))?;
        for message in &mut chat.messages {
            let words = message.content.split(' ').map(|word| {
                if word.starts_with("sk-") {
                    "[key]"
                } else {
                    word
                }
            });
            message.content = words.collect::<Vec<_>>().join(" ");
        }
        let length: usize = chat.messages.iter().map(|one| one.content.len()).sum();
        if length > self.longest {
            let reason = format!("{length} bytes, and at most {} are allowed", self.longest);
            return Err(Failure::Refused(reason));
        }
        Ok(chat)
    }
}

/// Retries temporary failures, and counts the tokens of responses.
#[derive(Default)]
struct Operations {
    tokens: AtomicU64,
}

#[impl_hooks(LlmHooksSet)]
impl LlmHooks for Operations {
    async fn retry(&self, failure: &Failure, attempt: u32) -> Option<Duration> {
        let wait = match failure {
            Failure::Status {
                status,
                retry_after,
            } if *status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
                retry_after.unwrap_or(Duration::from_millis(200 << attempt))
            }
            Failure::Transport(_) => Duration::from_millis(200 << attempt),
            _ => return None,
        };
        println!("attempt {attempt}: {failure}");
        // A server may request an hour; the user does not wait that long.
        (attempt < 3 && wait <= Duration::from_secs(10)).then_some(wait)
    }

    async fn after(&self, _chat: &Chat, answer: Answer, last: Option<Answer>) -> Answer {
        let mut answer = last.unwrap_or(answer);
        let tokens = answer.usage.total_tokens;
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
        answer.text.truncate(answer.text.trim_end().len());
        answer
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(url), Some(model), Some(prompt)) = (args.next(), args.next(), args.next()) else {
        return Err(
            "missing arguments; pass the address of a server, the name of a model, and a question"
                .into(),
        );
    };
    let operations = Operations::default();
    let llm = Llm {
        http: Client::builder().timeout(Duration::from_secs(60)).build()?,
        url,
        key: std::env::var("OPENAI_API_KEY").ok(),
        hooks: LlmHooksSet::new()
            .with_hooks(Privacy { longest: 200 })
            .with_hooks(&operations),
    };
    let ask = |content: String| Chat {
        model: model.clone(),
        messages: vec![Message {
            role: "user".into(),
            content,
        }],
    };
    for question in [prompt.clone(), prompt.repeat(50)] {
        match llm.ask(ask(question)).await {
            Ok(answer) => println!("{}", answer.text),
            Err(failure) => println!("no response: {failure}"),
        }
    }
    println!("{} tokens", operations.tokens.load(Ordering::Relaxed));
    Ok(())
}
