//! `watch`: what waits for an answer and what happens, in a terminal, for as long as one looks.
//!
//! | Module | Is |
//! |---|---|
//! | [`feed`] | asks the service, and listens to it |
//! | [`model`] | what is known, what is chosen, and what a key does to it |
//! | [`view`] | how that looks |

mod feed;
mod model;
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

use super::failure::Failure;
use super::setup::{Setup, address, runtime};
use model::{Effect, Message, State};

/// How many messages wait to be shown.
const WAITING: usize = 1024;
/// How often the time that is left is shown anew.
const TICK: Duration = Duration::from_secs(1);
/// How long the service may take to say that it is the right one.
const SHORT: Duration = Duration::from_secs(3);

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    setup: Setup,
}

/// The token is read from the terminal, as `approve` does.
pub(crate) fn watch(options: Options) -> Result<bool, Failure> {
    let loaded = options.setup.load()?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::Other(
            "this needs a terminal; run it in one, or read `GET /api/hooks/events`".to_owned(),
        ));
    }
    let place = address(&loaded.config);
    let client = loaded.client()?;
    let runtime = runtime()?;
    // Nothing there may come yet; another process there must not have the token.
    let looked = runtime.block_on(client.get("/health", SHORT));
    if let Err(error @ ClientError::Unproved(_)) = looked {
        return Err(error.into());
    }
    let token = rpassword::prompt_password("operator's token (Enter to look on): ")?;
    let state = State::new(match &place {
        Address::Tcp(address) => format!("http://{address}"),
        Address::Unix(path) => path.display().to_string(),
    });
    let mut terminal = ratatui::try_init()?;
    let done = runtime.block_on(run(&mut terminal, state, client, token));
    ratatui::restore();
    // Whoever reads keys still waits for one.
    runtime.shutdown_background();
    done?;
    Ok(true)
}

async fn run(
    terminal: &mut DefaultTerminal,
    mut state: State,
    mut client: Client,
    token: String,
) -> io::Result<()> {
    let (sender, mut messages) = mpsc::channel(WAITING);
    if !token.trim().is_empty() {
        client = client.with_token(token.trim());
        state.has_token = true;
    }
    let (clients, current) = watch::channel(client.clone());
    tokio::spawn(feed::follow(current, sender.clone()));
    let keys = sender.clone();
    std::thread::spawn(move || read_keys(&keys));
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    loop {
        terminal.draw(|frame| view::draw(frame, &mut state, Timestamp::now()))?;
        let mut effects = Vec::new();
        tokio::select! {
            message = messages.recv() => {
                let Some(message) = message else { return Ok(()) };
                effects.push(state.update(message));
                // What came at the same time is drawn at the same time; but a key is read by who
                // has seen what it is about.
                while !matches!(effects.last(), Some(Effect::Draw))
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
                Effect::None | Effect::Draw => {}
                Effect::Quit => return Ok(()),
                Effect::Token(token) => {
                    client = client.with_token(token);
                    clients.send_replace(client.clone());
                }
                Effect::ReadAgain(after) => {
                    tokio::spawn(feed::read_again(client.clone(), after, sender.clone()));
                }
                Effect::DenySession(id) => {
                    tokio::spawn(feed::deny_session(client.clone(), id, sender.clone()));
                }
                Effect::Answer(answer) => {
                    tokio::spawn(feed::answer(client.clone(), answer, sender.clone()));
                }
            }
        }
    }
}

/// Ends with the terminal, or when nobody wants keys any more.
fn read_keys(sender: &mpsc::Sender<Message>) {
    loop {
        let message = match event::read() {
            Ok(event::Event::Key(key)) => Message::Key(key),
            Ok(event::Event::Paste(_) | event::Event::Mouse(_)) => continue,
            Ok(_) => Message::Redraw,
            Err(_) => Message::Closed,
        };
        let closed = matches!(message, Message::Closed);
        if sender.blocking_send(message).is_err() || closed {
            return;
        }
    }
}
