//! State of the handlers. Takes a service, its configuration and the operator's token; returns a
//! state that is cheap to clone.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::bulk_reads::BulkReads;
use super::delayed::DelayedAnswers;
use super::hub::Hub;
use super::limit::RateLimit;
use super::local::HostNames;
use super::metrics::Metrics;
use super::operator::{Operator, OperatorToken};
use super::sessions::Sessions;
use super::shutdown;
use crate::config::Config;
use crate::proof::ServiceKey;
use crate::service::PermissionService;

/// Returns the reason why the service's files must not be trusted for a request in a directory.
type FileCheck = dyn Fn(Option<&Path>) -> Option<String> + Send + Sync;

/// The check of [`AppState::with_file_check`].
#[derive(Default)]
pub(super) struct FileTrust(OnceLock<Box<FileCheck>>);

impl FileTrust {
    /// Returns the reason against trusting the files for a request in `cwd`, if there is one.
    pub(super) fn problem(&self, cwd: Option<&Path>) -> Option<String> {
        self.0.get().and_then(|check| check(cwd))
    }
}

impl fmt::Debug for FileTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileTrust(…)")
    }
}

/// State that [`app`](super::app()) needs: the service, the operator's credentials and the
/// configuration.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct AppState {
    pub(super) inner: Arc<AppStateInner>,
}

#[derive(Debug)]
pub(super) struct AppStateInner {
    pub(super) service: PermissionService,
    pub(super) operator: Operator,
    pub(super) config: Config,
    pub(super) names: HostNames,
    pub(super) limit: Option<RateLimit>,
    pub(super) metrics: Metrics,
    pub(super) hub: Hub,
    pub(super) delayed: DelayedAnswers,
    pub(super) reads: BulkReads,
    pub(super) ending: shutdown::ShutdownSignal,
    /// Check of the service's files before a hook over HTTP is answered.
    pub(super) files: FileTrust,
    /// Key by which clients and this service authenticate each other.
    pub(super) key: OnceLock<ServiceKey>,
}

impl AppState {
    /// Returns the state of a service with this configuration. Questions can be answered with
    /// `token`.
    #[must_use]
    pub fn new(
        service: PermissionService,
        operator: OperatorToken,
        config: Config,
        metrics: Metrics,
    ) -> Self {
        Self {
            inner: Arc::new(AppStateInner {
                names: HostNames::new(config.listen, &config.allowed_hosts),
                limit: RateLimit::new(config.rate_limit_per_minute),
                hub: Hub::default(),
                delayed: DelayedAnswers::default(),
                reads: BulkReads::default(),
                ending: shutdown::ShutdownSignal::default(),
                files: FileTrust::default(),
                key: OnceLock::new(),
                operator: Operator {
                    token: operator,
                    sessions: Sessions::new(config.listen.port()),
                },
                service,
                config,
                metrics,
            }),
        }
    }

    /// Sets the key with which the service authenticates to clients. Only the first call has an
    /// effect.
    ///
    /// Proofs need [`Server`](super::Server): they hold for one connection.
    #[must_use]
    pub fn with_key(self, key: ServiceKey) -> Self {
        self.inner.key.get_or_init(|| key);
        self
    }

    /// Sets a check of the files that decide what may run, for hooks over HTTP. It gets the
    /// directory of a tool call, and returns the reason why the files must not be trusted there,
    /// such as a configuration inside the project. Then the service does not decide. Only the first
    /// call has an effect.
    #[must_use]
    pub fn with_file_check(
        self,
        check: impl Fn(Option<&Path>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.inner.files.0.get_or_init(|| Box::new(check));
        self
    }

    /// Returns the service.
    #[must_use]
    pub fn service(&self) -> &PermissionService {
        &self.inner.service
    }
}
