//! Implements `serve`, which runs the permission service until it is interrupted.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use hooks_guard::audit::{ServiceClaim, without_password};
use hooks_guard::config::Config;
use hooks_guard::http::{AppState, Metrics, OperatorToken, Server, Sockets};
use hooks_guard::proof::ServiceKey;
use hooks_guard::service::PermissionService;
use hooks_runtime::display::escape;
use tokio::signal::unix::{SignalKind, signal};

use super::failure::CommandError;
use super::ownership;
use super::semantic;
use super::setup::{LoadedConfig, Setup, database, gate, open};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on. Default: the configuration's, else 127.0.0.1:3000.
    #[arg(long, value_name = "ADDRESS", env = "HOOKS_GUARD_LISTEN")]
    listen: Option<SocketAddr>,
    /// Unix socket to listen on in addition.
    #[arg(long, value_name = "PATH", env = "HOOKS_GUARD_SOCKET")]
    socket: Option<PathBuf>,
    /// File with the operator's token of at least 16 characters, instead of a random token shown on
    /// the terminal. Everyone who can read the file can answer questions.
    #[arg(long, value_name = "FILE", env = "HOOKS_GUARD_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// Maximum number of permission requests per client and minute; 0 for no limit.
    #[arg(long, value_name = "NUMBER", env = "HOOKS_GUARD_RATE_LIMIT")]
    rate_limit: Option<u32>,
    #[command(flatten)]
    setup: Setup,
    #[command(flatten)]
    semantic: semantic::SemanticArgs,
}

pub(crate) fn serve(options: ServeArgs) -> Result<bool, CommandError> {
    let mut loaded = options.setup.load()?;
    let config = &mut loaded.config;
    config.listen = options.listen.unwrap_or(config.listen);
    config.socket = options.socket.or(config.socket.take());
    config.rate_limit_per_minute = options.rate_limit.unwrap_or(config.rate_limit_per_minute);
    config.semantic = options.semantic.stage().or(config.semantic.take());
    config.check()?;
    let token = match &options.token_file {
        Some(path) => token_of(path)?,
        None => OperatorToken::random(),
    };
    logs();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(loaded, token, options.token_file))?;
    Ok(true)
}

fn token_of(path: &Path) -> Result<OperatorToken, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        CommandError::Other(format!(
            "cannot read the token in `{}`: {error}; check the path and its permissions",
            path.display()
        ))
    })?;
    OperatorToken::new(&text).ok_or_else(|| {
        CommandError::Other(format!(
            "the token in `{}` is too short; use at least 16 unpredictable characters",
            path.display()
        ))
    })
}

/// Returns a warning if other users can read or write the token's file.
fn token_file_warning(path: &Path) -> Option<String> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o066 != 0).then(|| {
        let path = escape(&path.display().to_string());
        format!(
            "other users can read or write `{path}` (mode {mode:o}), and answer questions with \
             its token; run `chmod 600` on it"
        )
    })
}

/// Writes warnings and errors to standard error, one per line.
pub(super) fn logs() {
    let level = std::env::var("HOOKS_GUARD_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(tracing::level_filters::LevelFilter::WARN);
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_max_level(level)
        .init();
}

async fn run(
    mut loaded: LoadedConfig,
    token: OperatorToken,
    token_file: Option<PathBuf>,
) -> Result<(), CommandError> {
    let sockets = Sockets::bind(&loaded.config).await?;
    loaded.config.listen = sockets.local_addr()?;
    let shown = token_file.is_none().then(|| token.clone());
    let exposed = token_file.as_deref().and_then(token_file_warning);
    let gate = gate(&loaded, token_file, Some(loaded.config.listen))?;
    let audit = open(&loaded.config).await?;
    let _claim = claim(&loaded.config)?;
    // Agents' hooks and `approve` send nothing to a service without the key.
    let key = ServiceKey::load_or_create(&loaded.key_file())?;
    let warnings = loaded.warnings();
    let files = loaded.clone();
    let config = loaded.config;
    let (ttl, limits) = (config.approval_ttl(), config.question_limits());
    let service = PermissionService::with_limits(gate, audit, ttl, limits);
    let metrics = Metrics::install();
    let state = AppState::new(service, token.clone(), config.clone(), metrics)
        .with_key(key)
        .with_file_check(move |cwd| ownership::problem_for(&files, cwd));
    // Install the handlers before the address is printed, so that an early signal ends the service
    // cleanly.
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    print_addresses(
        &config,
        shown.as_ref(),
        warnings.iter().map(ToString::to_string).chain(exposed),
    )?;
    Server::new(sockets, state)
        .run(async {
            tokio::select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
            }
        })
        .await;
    Ok(())
}

/// Claims the trail for this service.
fn claim(config: &Config) -> Result<ServiceClaim, CommandError> {
    let url = database(config)?;
    let holder = format!("process {} at http://{}", std::process::id(), config.listen);
    ServiceClaim::take(&url, &holder).map_err(|error| CommandError::Other(error.to_string()))
}

/// Prints the service's addresses, and on a terminal the operator's token.
fn print_addresses(
    config: &Config,
    token: Option<&OperatorToken>,
    warnings: impl Iterator<Item = String>,
) -> Result<(), CommandError> {
    let mut out = io::stderr().lock();
    writeln!(out, "hooks-guard listens on http://{}", config.listen)?;
    if let Some(socket) = &config.socket {
        writeln!(out, "and on {}", escape(&socket.display().to_string()))?;
    }
    writeln!(out, "audit trail: {}", without_password(&database(config)?))?;
    if let Some(days) = config.retention_days {
        writeln!(out, "decisions older than {days} days are deleted")?;
    }
    match token {
        // The operator already has the token.
        None => writeln!(out, "console: http://{}/", config.listen)?,
        Some(token) if out.is_terminal() => {
            let (address, token) = (config.listen, token.reveal());
            writeln!(out, "operator's token, for `hooks-guard approve`: {token}")?;
            writeln!(out, "console, signed in: http://{address}/#token={token}")?;
        }
        Some(_) => writeln!(
            out,
            "the operator's token is shown only on a terminal; start the service in one, or pass \
             a token with `--token-file`"
        )?,
    }
    for warning in warnings {
        let warning = escape(&warning);
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}
