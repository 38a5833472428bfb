//! How does an HTTP service run hooks?
//!
//! The set is state of the router, shared by all requests. In a middleware, a request moves from hook
//! to hook, and a response is lent to one hook after the other: both have a body, and are neither `Clone`
//! nor `Sync`. The handler gets prices from hooks. If a client disconnects, the service drops the
//! request with its dispatch, and no further hook runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use hooks_core::{hooks, impl_hooks};
use serde_json::json;
use tokio::net::TcpListener;

/// Head of a request: the request is consumed before its response exists.
#[derive(Debug)]
struct Head {
    method: Method,
    path: String,
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
    /// Changes a request, or refuses it: the first refusal decides.
    #[hook(waterfall)]
    async fn on_request(request: Request) -> Result<Request, Refused> {
        Ok(request)
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

    /// Observes and changes each response, also the response to a refused request.
    #[hook(always)]
    async fn on_response(response: &mut Response, head: &Head) {}
}

type Hooks = Arc<ShopHooksSet<'static>>;

/// Requires a token for changes, and limits the number of requests.
struct Doorkeeper {
    token: &'static str,
    left: AtomicU32,
}

#[impl_hooks(ShopHooksSet)]
impl ShopHooks for Doorkeeper {
    async fn on_request(&self, request: Request) -> Result<Request, Refused> {
        if !request.method().is_safe() && token(&request) != Some(self.token) {
            return Err(Refused(StatusCode::UNAUTHORIZED, "give your token"));
        }
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        taken.map_or(
            Err(Refused(StatusCode::TOO_MANY_REQUESTS, "come back later")),
            |_| Ok(request),
        )
    }

    async fn on_response(&self, response: &mut Response, head: &Head) {
        let status = response.status().as_u16();
        println!("{} {}: {status}", head.method, head.path);
    }
}

fn token(request: &Request) -> Option<&str> {
    let token = request.headers().get(header::AUTHORIZATION)?;
    token.to_str().ok()?.strip_prefix("Bearer ")
}

/// Names each request, unless the client has named it, and returns the name with the response.
struct Names {
    next: AtomicU32,
}

const NAME: HeaderName = HeaderName::from_static("x-request-id");

/// The name of a request, in the extensions of its response.
#[derive(Clone)]
struct Name(HeaderValue);

#[impl_hooks(ShopHooksSet)]
impl ShopHooks for Names {
    async fn on_request(&self, mut request: Request) -> Result<Request, Refused> {
        if !request.headers().contains_key(NAME) {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            request.headers_mut().insert(NAME, next.into());
        }
        Ok(request)
    }

    async fn on_response(&self, response: &mut Response, _head: &Head) {
        if let Some(Name(name)) = response.extensions_mut().remove() {
            response.headers_mut().insert(NAME, name);
        }
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
    let head = Head {
        method: request.method().clone(),
        path: request.uri().path().to_owned(),
    };
    let mut response = match hooks.on_request(request).await {
        Ok(request) => {
            let name = request.headers().get(NAME).cloned();
            let mut response = next.run(request).await;
            if let Some(name) = name {
                response.extensions_mut().insert(Name(name));
            }
            response
        }
        Err(refused) => refused.into_response(),
    };
    hooks.on_response(&mut response, &head).await;
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
    let hooks = ShopHooksSet::new()
        .with_hooks(Sale)
        .with_hooks(Names {
            next: AtomicU32::new(1),
        })
        .with_hooks(Doorkeeper {
            token: "open sesame",
            left: AtomicU32::new(4),
        });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app(Arc::new(hooks))).await
}
