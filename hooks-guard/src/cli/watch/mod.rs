//! Implements `watch`, which shows pending questions and events in a terminal and sends answers.
//!
//! | Module | Contents |
//! |---|---|
//! | [`feed`] | Reads from the service |
//! | [`model`] | State, selection and key bindings |
//! | [`remembered`] | State and key bindings of the list of remembered approvals |
//! | [`selection`] | Selection in lists |
//! | [`undo`] | Answers that have not taken effect |
//! | [`view`], [`remembered_view`], [`style`] | Rendering |

mod feed;
mod model;
mod remembered;
mod remembered_view;
mod selection;
mod style;
mod undo;
mod view;

use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use hooks_guard::client::{Address, Client, ClientError};
use jiff::Timestamp;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval};

use super::failure::CommandError;
use super::setup::{Setup, address, runtime};
use model::{WatchEffect, WatchMessage, WatchState};

/// Capacity of the channel of messages.
const CHANNEL_CAPACITY: usize = 1024;
/// Interval at which the remaining times are redrawn.
const TICK_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of the first request.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Seconds during which `u` undoes an answer, at most 10. With 0, answers take effect at once.
    #[arg(long, value_name = "SECONDS", default_value_t = 3,
        value_parser = clap::value_parser!(u64).range(0..=10))]
    undo: u64,
    #[command(flatten)]
    setup: Setup,
}

/// Runs `watch`. The token is read from the terminal, as in `approve`.
pub(crate) fn watch(options: WatchArgs) -> Result<bool, CommandError> {
    let loaded = options.setup.load()?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(CommandError::Other(
            "`watch` needs a terminal; run it in one, or read `GET /api/hooks/events`".to_owned(),
        ));
    }
    let place = address(&loaded.config);
    let client = loaded.client()?;
    let runtime = runtime()?;
    // No service need run yet, but another program at its address must not get the token.
    let looked = runtime.block_on(client.get("/health", FIRST_REQUEST_TIMEOUT));
    if let Err(error @ ClientError::Unproved(_)) = looked {
        return Err(error.into());
    }
    let token = rpassword::prompt_password("operator's token (Enter for view only): ")?;
    let state = WatchState::new(match &place {
        Address::Tcp(address) => format!("http://{address}"),
        Address::Unix(path) => path.display().to_string(),
    });
    let mut terminal = ratatui::try_init()?;
    let delay = Duration::from_secs(options.undo);
    let done = runtime.block_on(run(&mut terminal, state, client, token, delay));
    ratatui::restore();
    // The thread that reads keys is still blocked.
    runtime.shutdown_background();
    done?;
    Ok(true)
}

async fn run(
    terminal: &mut DefaultTerminal,
    mut state: WatchState,
    mut client: Client,
    token: String,
    delay: Duration,
) -> io::Result<()> {
    let (sender, mut messages) = mpsc::channel(CHANNEL_CAPACITY);
    if !token.trim().is_empty() {
        client = client.with_token(token.trim());
        state.has_token = true;
    }
    let (clients, current) = watch::channel(client.clone());
    tokio::spawn(feed::follow(current, sender.clone()));
    let keys = sender.clone();
    std::thread::spawn(move || read_keys(&keys));
    let mut tick = interval(TICK_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    loop {
        let now = Timestamp::now();
        state.answering.expire(now);
        terminal.draw(|frame| view::draw(frame, &mut state, now))?;
        let mut effects = Vec::new();
        tokio::select! {
            message = messages.recv() => {
                let Some(message) = message else { return Ok(()) };
                effects.push(state.update(message));
                // Handle queued messages before the next frame, but draw before a key is handled:
                // the user must have seen what a key applies to.
                while !matches!(effects.last(), Some(WatchEffect::Draw))
                    && let Ok(message) = messages.try_recv()
                {
                    effects.push(state.update(message));
                }
            }
            _ = tick.tick() => {}
            _ = terminated.recv() => return Ok(()),
            _ = hung_up.recv() => return Ok(()),
        }
        for effect in effects {
            match effect {
                WatchEffect::None | WatchEffect::Draw => {}
                WatchEffect::Quit => return Ok(()),
                WatchEffect::Token(token) => {
                    client = client.with_token(token);
                    clients.send_replace(client.clone());
                }
                WatchEffect::ReadAgain(after) => {
                    tokio::spawn(feed::read_again(client.clone(), after, sender.clone()));
                }
                WatchEffect::DenySession(id) => {
                    tokio::spawn(feed::deny_session(client.clone(), id, sender.clone()));
                }
                WatchEffect::Answer(answer) => {
                    tokio::spawn(feed::answer(client.clone(), answer, delay, sender.clone()));
                }
                WatchEffect::Withdraw(id) => {
                    tokio::spawn(feed::withdraw(client.clone(), id, sender.clone()));
                }
                WatchEffect::ReadRemembered => {
                    tokio::spawn(feed::read_remembered(client.clone(), sender.clone()));
                }
                WatchEffect::Revoke(id) => {
                    tokio::spawn(feed::revoke(client.clone(), id, sender.clone()));
                }
            }
        }
        // After the effects: one of them may have set the token.
        if let Some(id) = state.wanted_changes() {
            tokio::spawn(feed::changes(client.clone(), id, sender.clone()));
        }
    }
}

/// Reads keys until the terminal is closed or the receiver is dropped.
fn read_keys(sender: &mpsc::Sender<WatchMessage>) {
    loop {
        let message = match event::read() {
            Ok(event::Event::Key(key)) => WatchMessage::Key(key),
            Ok(event::Event::Paste(_) | event::Event::Mouse(_)) => continue,
            Ok(_) => WatchMessage::Redraw,
            Err(_) => WatchMessage::Closed,
        };
        let closed = matches!(message, WatchMessage::Closed);
        if sender.blocking_send(message).is_err() || closed {
            return;
        }
    }
}
