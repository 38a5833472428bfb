//! Empty stand-in for `insta`, the snapshot library for tests.
//!
//! `brush-parser` 0.4.0 lists `insta` under `[dependencies]` and uses it in its own tests only.
#![forbid(unsafe_code)]
