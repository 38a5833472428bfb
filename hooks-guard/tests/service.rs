//! Tests of the guard with a running service. They are one program, because they mostly wait, and
//! each program links the whole guard.

#[cfg(all(unix, feature = "acp"))]
mod acp;
#[cfg(unix)]
mod agent;
#[path = "audit/cluster.rs"]
#[expect(dead_code, reason = "the tests of the trail use all of it")]
mod cluster;
#[cfg(unix)]
#[path = "support/home.rs"]
mod home;
mod http;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
