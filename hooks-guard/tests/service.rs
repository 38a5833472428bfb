//! Tests of the guard with a running service. They are one program, because they mostly wait, and
//! each program links the whole guard. The modules that wait most have the first names, so that their
//! tests wait while others run.

#[cfg(all(unix, feature = "acp"))]
mod acp;
#[cfg(unix)]
mod agent;
#[cfg(target_os = "linux")]
mod cli;
#[path = "audit/cluster.rs"]
#[expect(dead_code, reason = "the tests of the trail use all of it")]
mod cluster;
#[cfg(unix)]
#[path = "support/home.rs"]
mod home;
mod http;
#[cfg(unix)]
#[path = "support/repository.rs"]
mod repository;
mod support;
