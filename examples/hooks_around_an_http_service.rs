//! How does an HTTP service run hooks?
//!
//! The set is state of the router, shared by all requests. A middleware asks the hooks if a request
//! is admitted, the handler gets prices from them, and hooks observe each response. If a client
//! disconnects, the service drops the request with its dispatch, and no further hook runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use hooks_core::{ShortCircuit, hooks, impl_hooks};
use serde_json::json;
use tokio::net::TcpListener;

/// Head of a request, visible to hooks before the body is read.
#[derive(Debug)]
struct Head {
    method: Method,
    path: String,
    token: Option<String>,
}

/// Refusal of a request.
#[derive(Debug, Clone)]
struct Refused(StatusCode, &'static str);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

#[hooks]
trait ShopHooks {
    /// Admits a request; the first refusal decides.
    #[hook(fallback, chain = ShortCircuit<(), Refused>)]
    async fn admit(_head: &Head) -> Result<(), Refused> {
        Ok(())
    }

    /// Returns the price of an item in cents. Each hook may change the previous output.
    #[hook(always)]
    async fn price(item: &str) -> Option<u32> {
        match item {
            "tea" => Some(400),
            "cake" => Some(550),
            _ => None,
        }
    }

    /// Observes each response.
    #[hook(always)]
    async fn answered(_head: &Head, _status: u16) {}
}

type Hooks = Arc<ShopHooksSet<'static>>;

/// Requires a token for changes, and limits the number of requests.
struct Doorkeeper {
    token: &'static str,
    left: AtomicU32,
}

#[impl_hooks(ShopHooksSet)]
impl ShopHooks for Doorkeeper {
    async fn admit(&self, head: &Head) -> Result<(), Refused> {
        if !head.method.is_safe() && head.token.as_deref() != Some(self.token) {
            return Err(Refused(StatusCode::UNAUTHORIZED, "give your token"));
        }
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        taken.map_or(
            Err(Refused(StatusCode::TOO_MANY_REQUESTS, "come back later")),
            |_| Ok(()),
        )
    }

    async fn answered(&self, head: &Head, status: u16) {
        println!("{} {}: {status}", head.method, head.path);
    }
}

/// Ten percent discount.
struct Sale;

#[impl_hooks(ShopHooksSet)]
impl ShopHooks for Sale {
    async fn price(&self, _item: &str, last: Option<Option<u32>>) -> Option<u32> {
        last.flatten().map(|cents| cents - cents / 10)
    }
}

/// Runs the hooks around every request, including those without a handler.
async fn with_hooks(State(hooks): State<Hooks>, request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION);
    let head = Head {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
        token: token
            .and_then(|token| token.to_str().ok()?.strip_prefix("Bearer "))
            .map(str::to_owned),
    };
    let response = match hooks.admit(&head).await {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    hooks.answered(&head, response.status().as_u16()).await;
    response
}

async fn price(State(hooks): State<Hooks>, Path(item): Path<String>) -> Response {
    match hooks.price(&item).await {
        Some(cents) => Json(json!({"item": item, "cents": cents})).into_response(),
        None => Refused(StatusCode::NOT_FOUND, "there is no such item").into_response(),
    }
}

async fn buy(Path(item): Path<String>) -> Json<serde_json::Value> {
    Json(json!({"bought": item}))
}

fn app(hooks: Hooks) -> Router {
    Router::new()
        .route("/items/{item}", get(price).post(buy))
        .layer(from_fn_with_state(Arc::clone(&hooks), with_hooks))
        .with_state(hooks)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let hooks = ShopHooksSet::new().with_hooks(Sale).with_hooks(Doorkeeper {
        token: "open sesame",
        left: AtomicU32::new(4),
    });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app(Arc::new(hooks))).await
}
