//! What is known, what is chosen, and what a key does to it.
//!
//! Nothing is chosen by itself, and an answer is only for what is chosen and to be seen: a
//! question that comes or goes while a key is pressed must not get the answer of another. What is
//! approved has been shown to its end.

use std::collections::VecDeque;

use hooks_guard::audit::AuditRecord;
use hooks_guard::client::ClientError;
use hooks_guard::service::Remember;
use hooks_runtime::display::escape;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// How much of what happened is kept.
const KEPT: usize = 500;

/// Something to be taken notice of.
#[derive(Debug)]
pub(super) enum Message {
    Key(KeyEvent),
    /// The terminal has another size.
    Redraw,
    /// The terminal is gone.
    Closed,
    Link(Link),
    /// All that waits for an answer.
    Pending(Vec<AuditRecord>),
    Happened(Happened),
    /// What came of an answer.
    Sent {
        id: i64,
        result: Result<(), ClientError>,
    },
}

/// Whether the service is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Link {
    Connecting,
    Up,
    Down(String),
}

/// Something in the trail.
#[derive(Debug)]
pub(super) enum Happened {
    Asked(Box<AuditRecord>),
    Answered(Box<AuditRecord>),
    Executed(Box<AuditRecord>),
    Cleaned,
    Missed,
}

/// An answer to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) id: i64,
    pub(super) approved: bool,
    pub(super) remember: Remember,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    /// Nothing more is read before this has been drawn.
    Draw,
    Quit,
    Answer(Answer),
    /// The operator's token from now on.
    Token(String),
}

/// All that is shown.
#[derive(Debug)]
pub(super) struct State {
    pub(super) address: String,
    pub(super) link: Link,
    pub(super) has_token: bool,
    /// What waits, the oldest first.
    pub(super) pending: Vec<AuditRecord>,
    pub(super) chosen: Option<i64>,
    /// The first line of the details that is shown.
    pub(super) scroll: u16,
    /// How far the details can be scrolled; by who draws them.
    pub(super) most_scroll: u16,
    /// Whether the chosen question has been drawn; by who draws it.
    pub(super) seen: bool,
    /// Whether its end has been drawn since it was chosen; by who draws it.
    pub(super) read: bool,
    /// How wide the details were when they were drawn last; by who draws them.
    pub(super) width: u16,
    pub(super) happened: VecDeque<Happened>,
    pub(super) notice: String,
    /// The token that is being typed.
    pub(super) typed: Option<String>,
}

impl State {
    pub(super) fn new(address: String) -> Self {
        Self {
            address,
            link: Link::Connecting,
            has_token: false,
            pending: Vec::new(),
            chosen: None,
            scroll: 0,
            most_scroll: 0,
            seen: false,
            read: false,
            width: 0,
            happened: VecDeque::new(),
            notice: String::new(),
            typed: None,
        }
    }

    /// The chosen question.
    pub(super) fn question(&self) -> Option<&AuditRecord> {
        let id = self.chosen?;
        self.pending.iter().find(|record| record.id == id)
    }

    pub(super) fn update(&mut self, message: Message) -> Effect {
        match message {
            Message::Key(key) if key.kind == KeyEventKind::Release => return Effect::None,
            Message::Key(key) => return self.key(key),
            Message::Redraw => return Effect::Draw,
            Message::Closed => return Effect::Quit,
            Message::Link(link) => self.link = link,
            Message::Pending(records) => {
                self.pending = records;
                self.pending.sort_by_key(|record| record.id);
            }
            Message::Happened(happened) => self.happen(happened),
            Message::Sent { id, result } => self.sent(id, result),
        }
        if self.question().is_none() {
            self.choose(None);
        }
        Effect::None
    }

    fn happen(&mut self, happened: Happened) {
        match &happened {
            Happened::Asked(record) | Happened::Answered(record) => {
                self.pending.retain(|other| other.id != record.id);
                if record.deadline.is_some() && record.user_response.is_none() {
                    self.pending.push((**record).clone());
                    self.pending.sort_by_key(|record| record.id);
                } else if self.chosen == Some(record.id) {
                    let said = record
                        .user_response
                        .map_or("answered", |said| said.as_str());
                    let by = record.answered_by.as_deref().unwrap_or("somebody");
                    self.notice = format!("{}: {said}, by {}", record.id, escape(by));
                }
            }
            Happened::Executed(_) | Happened::Cleaned | Happened::Missed => {}
        }
        self.happened.push_front(happened);
        self.happened.truncate(KEPT);
    }

    fn sent(&mut self, id: i64, result: Result<(), ClientError>) {
        match result {
            Ok(()) => self.notice = format!("{id} was answered"),
            Err(ClientError::Refused { status: 401, .. }) => {
                self.has_token = false;
                self.notice = format!(
                    "{id} was not answered: this is not the operator's token; type it after t"
                );
            }
            Err(error) => {
                self.notice = format!("{id} was not answered: {}", escape(&error.to_string()));
            }
        }
    }

    fn key(&mut self, key: KeyEvent) -> Effect {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            return Effect::Quit;
        }
        if let Some(typed) = self.typed.take() {
            return self.type_token(typed, key.code);
        }
        if control || key.modifiers.contains(KeyModifiers::ALT) {
            return Effect::None;
        }
        self.notice.clear();
        match key.code {
            KeyCode::Char('q') => return Effect::Quit,
            KeyCode::Char('t') => self.typed = Some(String::new()),
            KeyCode::Esc => self.choose(None),
            KeyCode::Down | KeyCode::Char('j') => self.step(true),
            KeyCode::Up | KeyCode::Char('k') => self.step(false),
            KeyCode::Home => self.choose(self.pending.first().map(|record| record.id)),
            KeyCode::End => self.choose(self.pending.last().map(|record| record.id)),
            KeyCode::PageDown | KeyCode::Char(' ') => {
                self.scroll = self.scroll.saturating_add(3).min(self.most_scroll);
            }
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(3),
            KeyCode::Char('y') => return self.answer(true, Remember::Once),
            KeyCode::Char('s') => return self.answer(true, Remember::Session),
            KeyCode::Char('a') => return self.answer(true, Remember::Always),
            KeyCode::Char('n') => return self.answer(false, Remember::Once),
            _ => {}
        }
        Effect::Draw
    }

    fn type_token(&mut self, mut typed: String, code: KeyCode) -> Effect {
        match code {
            KeyCode::Esc => return Effect::Draw,
            KeyCode::Enter if typed.trim().is_empty() => return Effect::Draw,
            KeyCode::Enter => {
                self.has_token = true;
                return Effect::Token(typed.trim().to_owned());
            }
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Char(character) => typed.push(character),
            _ => {}
        }
        self.typed = Some(typed);
        Effect::Draw
    }

    fn choose(&mut self, id: Option<i64>) {
        if self.chosen != id {
            self.chosen = id;
            self.scroll = 0;
            self.seen = false;
            self.read = false;
        }
    }

    /// To the next or to the one before; to the first or the last if none is chosen.
    fn step(&mut self, down: bool) {
        let at = self
            .chosen
            .and_then(|id| self.pending.iter().position(|record| record.id == id));
        let last = self.pending.len().saturating_sub(1);
        let at = match (at, down) {
            (None, true) => 0,
            (None, false) => last,
            (Some(at), true) => (at + 1).min(last),
            (Some(at), false) => at.saturating_sub(1),
        };
        self.choose(self.pending.get(at).map(|record| record.id));
    }

    fn answer(&mut self, approved: bool, remember: Remember) -> Effect {
        let Some(id) = self.chosen else {
            self.notice = "choose a question first, with ↑ or ↓".to_owned();
            return Effect::Draw;
        };
        if !self.seen {
            self.notice = "make the terminal larger: what is not shown is not answered".to_owned();
            return Effect::Draw;
        }
        // What is at the end of a long command may be what it is about; to deny it is safe.
        if approved && !self.read {
            self.notice = "PgDn to its end first: what is not shown is not approved".to_owned();
            return Effect::Draw;
        }
        if !self.has_token {
            self.notice = "an answer needs the operator's token; type it after t".to_owned();
            return Effect::Draw;
        }
        self.choose(None);
        self.notice = format!("{id} is being answered");
        Effect::Answer(Answer {
            id,
            approved,
            remember,
        })
    }
}
