//! How do hooks take part in an HTTP service?
//!
//! The set is state of the router, shared by all requests. A middleware asks it who may come in,
//! the handler asks it for the answer, and it is told of each answer at the end. Where a client
//! goes away, the service drops the request, with it the dispatch, and no further hook runs.

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

/// What hooks see of a request before it is read.
#[derive(Debug)]
struct Head {
    method: Method,
    path: String,
    token: Option<String>,
}

/// Why a request is not answered.
#[derive(Debug, Clone)]
struct Refused(StatusCode, &'static str);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}

#[hooks]
trait ShopHooks {
    /// Whether a request comes in; the first hook that refuses it decides.
    #[hook(fallback, chain = ShortCircuit<(), Refused>)]
    async fn admit(_head: &Head) -> Result<(), Refused> {
        Ok(())
    }

    /// The price of an item in cents; each hook may change what the one before it says.
    #[hook(always)]
    async fn price(item: &str) -> Option<u32> {
        match item {
            "tea" => Some(400),
            "cake" => Some(550),
            _ => None,
        }
    }

    /// Is told of each answer.
    #[hook(always)]
    async fn answered(_head: &Head, _status: u16) {}
}

type Hooks = Arc<ShopHooksSet<'static>>;

/// Asks for a token where something is changed, and lets in so many requests.
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

/// A tenth off.
struct Sale;

#[impl_hooks(ShopHooksSet)]
impl ShopHooks for Sale {
    async fn price(&self, _item: &str, last: Option<Option<u32>>) -> Option<u32> {
        last.flatten().map(|cents| cents - cents / 10)
    }
}

/// The hooks around every request, also around those that no handler answers.
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
