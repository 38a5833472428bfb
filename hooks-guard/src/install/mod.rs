//! Installs the hook. In: an agent, and the place of its settings. Out: its settings with or
//! without the hook.
//!
//! Everything else in a settings file is kept: comments, order, other hooks and unknown keys. The
//! file is replaced atomically, a backup is kept beside it, and a file that does not parse is left
//! unchanged.

mod codex;
mod diff;
mod document;
mod endpoint;
mod error;
mod file;
mod http;
mod jsonc;
mod places;
mod plan;
mod plugin;
mod preset;
mod removal;
mod report;
mod script;
mod toml_list;
mod version;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::protocol::{Agent, PluginHost};
use file::Settings;

pub use self::error::InstallError;
pub use self::preset::{present_preset, write_preset};
pub use self::report::{FileChange, Report};
pub(crate) use codex::skipped as codex_skips;
pub(crate) use document::entries;
pub(crate) use http::{TOKEN_VARIABLE, is_http, plan as http_plan};
pub use jsonc::DocumentError;
pub(crate) use places::others;
pub use places::{Homes, SettingsScope, settings_files};
pub(crate) use plan::{HookCall, Plan, mcp_pattern};
pub(crate) use plugin::{is_installed as plugin_is_installed, text as plugin_text};
pub(crate) use version::claude_ignores_lateness;
pub use version::in_path;

/// Name of the program, by which its entries in settings are recognised.
pub(crate) const BINARY_NAME: &str = "hooks-guard";

/// Options for changing an agent's settings.
#[derive(Clone, Debug)]
pub struct InstallOptions {
    /// The directories in which agents keep the user's settings.
    pub homes: Homes,
    /// The user's or a project's settings.
    pub place: SettingsScope,
    /// Absolute path of the binary that the agent runs.
    pub binary: PathBuf,
    /// Absolute path of the hook's configuration. The file need not exist.
    pub config: PathBuf,
    /// The hook's trail: an absolute path, or a URL without a password, because everyone who can
    /// read the settings would see it. `None` if the configuration names it.
    pub database: Option<String>,
    /// The search path, `PATH`, used to find the agent; its version decides what the report says
    /// about a late hook.
    pub path: Option<OsString>,
    /// `true` if the agent runs without a user at the keyboard: the hook asks the operator, and
    /// denies if no service runs, instead of making the agent ask.
    pub unattended: bool,
    /// Address of the service, for an agent that calls its hooks over HTTP.
    pub service: SocketAddr,
    /// `true` if the agent calls its hooks over HTTP instead of running the binary.
    pub http: bool,
    /// `true` to report the changes without making them.
    pub dry_run: bool,
}

impl InstallOptions {
    /// Returns the hook's command line.
    fn call(&self) -> Result<HookCall<'_>, InstallError> {
        let unusable = |path: &str| InstallError::Argument {
            path: path.to_owned(),
        };
        let config = self
            .config
            .to_str()
            .filter(|text| self.config.is_absolute() && !text.contains(char::is_control));
        let config = config.ok_or_else(|| unusable(&self.config.to_string_lossy()))?;
        let database = self.database.as_deref();
        if let Some(url) = database.filter(|url| url.contains(char::is_control)) {
            return Err(unusable(url));
        }
        Ok(HookCall {
            binary: check_usable(&self.binary)?,
            config,
            database,
            unattended: self.unattended,
        })
    }

    /// Returns the entries for an agent's settings.
    fn plan(&self, agent: Agent, call: HookCall<'_>) -> Result<Plan, InstallError> {
        match self.http {
            true => {
                let plan = http::plan(agent, self.service, self.unattended)?;
                http::check_version(self.path.as_deref())?;
                Ok(plan)
            }
            false => Ok(Plan::new(agent, call)),
        }
    }
}

/// Registers the hook in the agent's settings. Has no effect if it is already registered.
///
/// Codex silently skips a hook until it is trusted, so this function also adds the trust.
///
/// # Errors
/// If the settings cannot be read, parsed or written; they are unchanged then.
pub fn install(agent: Agent, options: &InstallOptions) -> Result<Report, InstallError> {
    let call = options.call()?;
    let plan = options.plan(agent, call)?;
    check_installable(agent, call)?;
    if matches!(options.place, SettingsScope::Project(_)) && !agent.description().reads_project() {
        return Err(InstallError::UserOnly { agent });
    }
    let path = options.homes.settings(agent, &options.place);
    let settings = Settings::read(&path)?;
    let (wanted, had) = if agent.description().owns_file() {
        let wanted = plugin::text(agent, call);
        plugin::check(&settings)?;
        (wanted, settings.text().is_some())
    } else {
        let document = |source| settings.document(source);
        let wanted = document::with(settings.text(), &plan).map_err(document)?;
        let had = match settings.text() {
            Some(text) => document::has(text, &plan).map_err(document)?,
            None => false,
        };
        (wanted, had)
    };
    let change = settings.change(&wanted);
    let http_steps = match options.http {
        true => http::TO_DO,
        false => &[],
    };
    let mut report = Report {
        to_do: http_steps
            .iter()
            .map(|&text| text.to_owned())
            .chain(plan::to_do(agent, options.path.as_deref()))
            .collect(),
        ..settings.report(change, Some(&wanted))
    };
    if change != FileChange::None && !options.dry_run {
        // Keep the backup of the content before the first installation.
        if change == FileChange::Changed && !had {
            report.backup = Some(settings.back_up()?);
        }
        settings.replace(&wanted)?;
    }
    // The hook is installed at this point; if the second file cannot be changed, the user has to do
    // it.
    let description = agent.description();
    let (also, by_hand) = if description.needs_trust() {
        (trust(&path, &wanted, options), plan::TRUST_BY_HAND)
    } else if description.plugin_host() == Some(PluginHost::OpenCode) {
        (write_npmrc(&path, options), plan::LONG_START)
    } else if let Some(scripts) = description.scripts() {
        let after = path.with_file_name(scripts.after);
        (
            write_script(&after, &script::after(agent, call), options),
            plan::NO_RUNS,
        )
    } else if let Some(companion) = description.companion() {
        report.also = write_companion(&path, companion, options)?.map(Box::new);
        return Ok(report);
    } else {
        return Ok(report);
    };
    match also {
        Ok(Some(also)) => report.also = Some(Box::new(also)),
        Ok(None) => report.to_do.push(by_hand.to_owned()),
        Err(error) => report.to_do.push(format!("{error}. {by_hand}")),
    }
    Ok(report)
}

/// Appends a text to a file of the user, separated by an empty line. The file is replaced
/// atomically, and its previous content is kept as a backup beside it. `check` gets the whole new
/// content; if it fails, the file is unchanged.
///
/// # Errors
/// If the file cannot be read or written, or if `check` fails.
pub fn append<E: From<InstallError>>(
    path: &Path,
    text: &str,
    check: impl FnOnce(&str) -> Result<(), E>,
) -> Result<Report, E> {
    let file = Settings::read(path)?;
    let wanted = match file.text().map(str::trim_end) {
        None | Some("") => text.to_owned(),
        Some(before) => format!("{before}\n\n{text}"),
    };
    check(&wanted)?;
    let mut report = file.report(file.change(&wanted), Some(&wanted));
    if report.change == FileChange::Changed {
        report.backup = Some(file.back_up()?);
    }
    file.replace(&wanted)?;
    Ok(report)
}

/// Writes the `.npmrc` beside the settings of opencode or Kilo Code; returns `None` if there is another
/// one.
fn write_npmrc(plugin: &Path, options: &InstallOptions) -> Result<Option<Report>, InstallError> {
    let (name, text) = plugin::NPMRC;
    let Some(path) = plugin::beside(plugin, name) else {
        return Ok(None);
    };
    let settings = Settings::read(&path)?;
    match settings.text() {
        Some(there) if !there.contains("fetch-retries") => Ok(None),
        _ => create(&settings, text, options).map(Some),
    }
}

/// Writes the script after a tool; returns `None` if there is another one.
fn write_script(
    path: &Path,
    text: &str,
    options: &InstallOptions,
) -> Result<Option<Report>, InstallError> {
    let settings = Settings::read(path)?;
    if settings
        .text()
        .is_some_and(|there| !plugin::is_installed(there))
    {
        return Ok(None);
    }
    let change = settings.change(text);
    if change != FileChange::None && !options.dry_run {
        settings.replace(text)?;
    }
    Ok(Some(settings.report(change, Some(text))))
}

/// Plans the removal of the script after a tool, unless it was changed.
fn plan_script_removal(path: &Path) -> Result<Option<Undo>, InstallError> {
    let settings = Settings::read(path)?;
    let ours = settings.text().is_some_and(plugin::is_installed);
    Ok(ours.then_some(Undo {
        settings,
        remaining: None,
    }))
}

/// Writes the second file that an agent needs.
fn write_companion(
    hooks: &Path,
    (name, text): (&str, &str),
    options: &InstallOptions,
) -> Result<Option<Report>, InstallError> {
    let Some(path) = plugin::beside(hooks, name) else {
        return Ok(None);
    };
    create(&Settings::read(&path)?, text, options).map(Some)
}

/// Writes a file; an existing one stays as it is.
fn create(
    settings: &Settings,
    text: &str,
    options: &InstallOptions,
) -> Result<Report, InstallError> {
    if let Some(there) = settings.text() {
        return Ok(settings.report(FileChange::None, Some(there)));
    }
    if !options.dry_run {
        settings.replace(text)?;
    }
    Ok(settings.report(FileChange::Created, Some(text)))
}

/// Plans the removal of the second file, unless it was changed.
fn plan_companion_removal(
    hooks: &Path,
    (name, text): (&str, &str),
) -> Result<Option<Undo>, InstallError> {
    let Some(path) = plugin::beside(hooks, name) else {
        return Ok(None);
    };
    let settings = Settings::read(&path)?;
    let ours = settings.text() == Some(text);
    Ok(ours.then_some(Undo {
        settings,
        remaining: None,
    }))
}

/// Checks that the agent has a settings file for all of its sessions.
fn check_installable(agent: Agent, call: HookCall<'_>) -> Result<(), InstallError> {
    match agent.description().by_hand() {
        None => Ok(()),
        Some(how) => Err(InstallError::ByHand {
            agent,
            how,
            line: plan::line_by_hand(agent, call),
        }),
    }
}

/// Adds Codex's trust in the hook in `hooks`, a file with this text; returns `None` if its
/// `config.toml` cannot be changed safely.
fn trust(
    hooks: &Path,
    text: &str,
    options: &InstallOptions,
) -> Result<Option<Report>, InstallError> {
    let settings = Settings::read(&options.homes.directory(Agent::Codex).join("config.toml"))?;
    let Some(wanted) = codex::with_trust(settings.text(), hooks, text) else {
        return Ok(None);
    };
    let change = settings.change(&wanted);
    let mut report = settings.report(change, Some(&wanted));
    if change != FileChange::None && !options.dry_run {
        if change == FileChange::Changed && settings.backup().is_none() {
            report.backup = Some(settings.back_up()?);
        }
        settings.replace(&wanted)?;
    }
    Ok(Some(report))
}

/// The change that undoes the installation in another file.
struct Undo {
    settings: Settings,
    /// The remaining text; `None` if the file is removed.
    remaining: Option<String>,
}

impl Undo {
    fn report(&self) -> Report {
        let change = match &self.remaining {
            None => FileChange::Removed,
            Some(_) => FileChange::Changed,
        };
        self.settings.report(change, self.remaining.as_deref())
    }

    fn apply(&self) -> Result<(), InstallError> {
        match &self.remaining {
            None => self.settings.remove()?,
            Some(wanted) => self.settings.replace(wanted)?,
        }
        self.settings.forget_backup();
        Ok(())
    }
}

/// Plans the removal of Codex's trust in the hook in `hooks`, a file with this text.
fn plan_distrust(
    hooks: &Path,
    text: &str,
    options: &InstallOptions,
) -> Result<Option<Undo>, InstallError> {
    let settings = Settings::read(&options.homes.directory(Agent::Codex).join("config.toml"))?;
    let Some(now) = settings.text() else {
        return Ok(None);
    };
    let Some(wanted) = codex::without_trust(now, hooks, text).filter(|wanted| wanted != now) else {
        return Ok(None);
    };
    let wanted = match settings.backup() {
        // Nothing else was changed: restore the file byte for byte.
        Some(before) if before.trim_end() == wanted.trim_end() => Some(before),
        _ => Some(wanted).filter(|wanted| !wanted.trim().is_empty()),
    };
    Ok(Some(Undo {
        settings,
        remaining: wanted,
    }))
}

/// Removes the hook from the agent's settings. Restores the file byte for byte if nothing else was
/// changed since.
///
/// # Errors
/// As for [`install`].
pub fn uninstall(agent: Agent, options: &InstallOptions) -> Result<Report, InstallError> {
    let call = options.call()?;
    check_installable(agent, call)?;
    let path = options.homes.settings(agent, &options.place);
    let settings = Settings::read(&path)?;
    let mut report = Report {
        file: settings.path.clone(),
        change: FileChange::None,
        diff: String::new(),
        backup: None,
        to_do: Vec::new(),
        also: None,
    };
    let Some(text) = settings.text() else {
        return Ok(report);
    };
    let wanted = if agent.description().owns_file() {
        plugin::check(&settings)?;
        None
    } else {
        // The agent may call its hooks over HTTP, whatever the options are.
        let http = http::plan(agent, options.service, options.unattended).ok();
        before(&settings, text, &Plan::new(agent, call), http.as_ref())
            .map_err(|source| settings.document(source))?
    };
    report.change = match &wanted {
        None => FileChange::Removed,
        Some(wanted) if wanted == text => FileChange::None,
        Some(_) => FileChange::Changed,
    };
    report.diff = diff::unified(&settings.path, Some(text), wanted.as_deref());
    let description = agent.description();
    let also = if description.needs_trust() {
        plan_distrust(&path, text, options)?
    } else if description.plugin_host() == Some(PluginHost::OpenCode) {
        plan_companion_removal(&path, plugin::NPMRC)?
    } else if let Some(scripts) = description.scripts() {
        plan_script_removal(&path.with_file_name(scripts.after))?
    } else if let Some(companion) = description.companion() {
        plan_companion_removal(&path, companion)?
    } else {
        None
    };
    report.also = also.as_ref().map(|also| Box::new(also.report()));
    if options.dry_run {
        return Ok(report);
    }
    if report.change != FileChange::None {
        match wanted {
            None => settings.remove()?,
            Some(wanted) => settings.replace(&wanted)?,
        }
        settings.forget_backup();
    }
    // Remove the trust last: Codex would silently skip an untrusted hook that is still installed.
    if let Some(also) = also {
        also.apply()?;
    }
    Ok(report)
}

/// Returns the settings before the installation of one of the two plans; `None` if there were none.
fn before(
    settings: &Settings,
    text: &str,
    plan: &Plan,
    http: Option<&Plan>,
) -> Result<Option<String>, DocumentError> {
    let backup = settings.backup();
    let backup = backup.filter(|backup| !document::has(backup, plan).unwrap_or(true));
    for plan in std::iter::once(plan).chain(http) {
        // If installing into the backup gives the current content, nothing else was changed.
        let gives = |backup| document::with(Some(backup), plan).is_ok_and(|with| with == text);
        if backup.as_deref().is_some_and(gives) {
            return Ok(backup);
        }
        if document::with(None, plan)? == text {
            return Ok(None);
        }
    }
    document::without(text, plan).map(Some)
}

fn check_usable(binary: &Path) -> Result<&str, InstallError> {
    let text = binary.to_str().filter(|text| {
        // The name identifies the hook in the settings.
        let named = matches!(
            binary.file_name().and_then(|name| name.to_str()),
            Some("hooks-guard" | "hooks-guard.exe")
        );
        named && binary.is_absolute() && !text.contains(char::is_control)
    });
    text.ok_or_else(|| InstallError::Binary {
        path: binary.to_owned(),
    })
}
