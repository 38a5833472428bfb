#!/usr/bin/env bash
# Guess: the filter of tower is a condition: a layer or a service that it does not admit is skipped,
# and the request passes.
# True: `ServiceBuilder::filter` rejects: if its predicate returns an error, the caller receives this
# error, and the inner service is not called.
# Version: tower 0.5.3 of crates.io. Source: run below; module `tower::filter`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "filter"
version = "0.0.0"
edition = "2021"

[dependencies]
futures-executor = "=0.3.31"
tower = { version = "=0.5.3", features = ["filter", "util"] }

[workspace]
TOML
cat >src/main.rs <<'RUST'
use std::cell::Cell;

use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

fn main() {
    futures_executor::block_on(async {
        let calls = Cell::new(0);
        let predicate = |request: u32| match request {
            0 => Err(BoxError::from("zero is not admitted")),
            request => Ok(request),
        };
        let mut service = ServiceBuilder::new()
            .filter(predicate)
            .service(service_fn(|request: u32| {
                calls.set(calls.get() + 1);
                async move { Ok::<_, BoxError>(request * 10) }
            }));
        let admitted = service.ready().await.unwrap().call(5).await;
        println!("5: {admitted:?}, calls of the inner service: {}", calls.get());
        assert_eq!(admitted.unwrap(), 50);
        let rejected = service.ready().await.unwrap().call(0).await;
        println!("0: {rejected:?}, calls of the inner service: {}", calls.get());
        assert_eq!(rejected.unwrap_err().to_string(), "zero is not admitted");
        assert_eq!(calls.get(), 1);
    });
}
RUST
echo 'tower 0.5.3'
cargo run --quiet
