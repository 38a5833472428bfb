//! State, selection and key bindings of `watch`. In: messages (keys, events, questions). Out:
//! effects, and the state that the view draws.
//!
//! Nothing is selected automatically, and an answer applies only to the selected, visible question:
//! if a question appears or vanishes while a key is pressed, the answer must not go to another one.
//! A question can be approved only after it was shown to its end.

use std::collections::VecDeque;

use hooks_guard::audit::{AuditRecord, Remembered, SessionQuestions};
use hooks_guard::changes::{ChangeTotals, FileChanges};
use hooks_guard::classify::Crud;
use hooks_guard::client::ClientError;
use hooks_guard::service::RememberScope;
use hooks_runtime::display::{escape, shorten};
use jiff::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::super::diff::{self, DiffLine};
use super::super::questions::{PAGE_SIZE, PendingPage};
use super::remembered::{RememberedKey, RememberedView};
use super::selection::step;
use super::undo::{Answering, AnsweringList};

/// Maximum number of stored events.
const MAX_EVENTS: usize = 500;

/// A message to the model.
#[derive(Debug)]
pub(super) enum WatchMessage {
    Key(KeyEvent),
    /// The terminal was resized.
    Redraw,
    /// The terminal is closed.
    Closed,
    Link(ConnectionState),
    /// A page of pending questions, as the service listed it at a time.
    Pending {
        page: PendingPage,
        at: Timestamp,
        /// Cursor of the page; `None` is the first page.
        after: Option<String>,
        /// `true` for the first page of a complete reload.
        anew: bool,
    },
    /// The pending questions could not be read.
    Unknown(String),
    Event(TrailEvent),
    /// The changes of a question became known.
    ChangesKnown {
        id: i64,
        totals: ChangeTotals,
    },
    /// The changes of a question, as the service returned them.
    Changes {
        id: i64,
        result: Result<Option<FileChanges>, ClientError>,
    },
    /// Number of denied questions of a session.
    Denied(Result<u64, ClientError>),
    /// Result of an answer; `Some` if it takes effect later.
    Sent {
        id: i64,
        result: Result<Option<Answering>, ClientError>,
    },
    /// An answer takes effect later.
    Answering(Answering),
    /// An answer was withdrawn, or did not take effect for this reason.
    NotAnswered {
        id: i64,
        reason: Option<String>,
    },
    /// The service will announce the answers that take effect later.
    AnsweringUnknown,
    /// Result of the withdrawal of an answer.
    Withdrawn {
        id: i64,
        result: Result<(), ClientError>,
    },
    /// All remembered approvals, or why they cannot be read.
    Remembered(Result<Vec<Remembered>, String>),
    /// Result of a revocation.
    Revoked {
        id: i64,
        result: Result<(), ClientError>,
    },
}

/// State of the connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    Connecting,
    Up,
    /// The service refuses the event stream, for this reason; pending questions are read every
    /// second.
    Polling(String),
    Down(String),
}

/// State of the list of pending questions.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ListFreshness {
    /// The list is current.
    Now,
    /// The list cannot be read, for this reason.
    Unknown(String),
}

/// An event of the trail.
#[derive(Debug)]
pub(super) enum TrailEvent {
    Asked(Box<AuditRecord>),
    Answered(Box<AuditRecord>),
    Executed(Box<AuditRecord>),
    Cleaned,
    Missed,
}

/// The changes of the selected question.
#[derive(Debug, Default)]
pub(super) struct SelectedChanges {
    /// The question whose changes were requested.
    id: Option<i64>,
    /// Their lines, once they are read.
    pub(super) lines: Option<Vec<DiffLine>>,
    /// `true` if all lines are displayed, else at most a screen.
    pub(super) whole: bool,
}

/// An answer to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PendingAnswer {
    pub(super) id: i64,
    pub(super) approved: bool,
    pub(super) remember: RememberScope,
    pub(super) confirms_deletion: bool,
}

/// Confirmation that a deletion is always allowed, while it is typed.
#[derive(Debug)]
pub(super) struct DeletionConfirmation {
    id: i64,
    pub(super) typed: String,
}

/// An effect for the event loop to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WatchEffect {
    None,
    /// Draws before the next message is handled.
    Draw,
    Quit,
    Answer(PendingAnswer),
    /// Denies all questions of this question's session.
    DenySession(i64),
    /// Reads the page at this cursor again; `None` is the first page.
    ReadAgain(Option<String>),
    /// Sets the operator's token.
    Token(String),
    /// Withdraws the answer to this question.
    Withdraw(i64),
    /// Reads the remembered approvals.
    ReadRemembered,
    /// Revokes this remembered approval.
    Revoke(i64),
}

/// The state that the view draws.
#[derive(Debug)]
pub(super) struct WatchState {
    pub(super) address: String,
    pub(super) link: ConnectionState,
    pub(super) has_token: bool,
    /// Pending questions, oldest first; if there are several pages, the oldest of each session
    /// first.
    pub(super) pending: Vec<AuditRecord>,
    /// Number of all pending questions, on this page and others.
    pub(super) total: u64,
    /// The sessions with the most questions.
    pub(super) sessions: Vec<SessionQuestions>,
    /// Cursor of the requested page, and the number of questions on earlier pages; the first page
    /// has no cursor.
    after: Option<String>,
    requested_before: u64,
    /// Number of questions on pages before the displayed one.
    pub(super) before: u64,
    /// Cursor of the next page.
    pub(super) next: Option<String>,
    pub(super) known: ListFreshness,
    /// When `pending` was last current.
    pub(super) known_at: Option<Timestamp>,
    /// `true` while a page is being read.
    reading: bool,
    /// `true` if an event arrived since that read began.
    outdated: bool,
    /// The question whose session is denied if the key is pressed again.
    denying: Option<i64>,
    pub(super) selected: Option<i64>,
    /// First displayed line of the details.
    pub(super) scroll: u16,
    /// Maximum of `scroll`; set by the view.
    pub(super) max_scroll: u16,
    /// `true` if the selected question has been drawn; set by the view.
    pub(super) is_drawn: bool,
    /// `true` if its end has been drawn since it was selected; set by the view.
    pub(super) is_end_drawn: bool,
    /// Width of the details when they were last drawn; set by the view.
    pub(super) width: u16,
    pub(super) events: VecDeque<TrailEvent>,
    pub(super) notice: String,
    /// The token that is being typed.
    pub(super) typed: Option<String>,
    /// Text that displayed questions and events contain; empty for all.
    pub(super) search: String,
    /// `true` while `search` is being typed.
    pub(super) searching: bool,
    /// `true` while the keys are displayed.
    pub(super) help: bool,
    /// Set while a confirmation is typed.
    pub(super) confirming: Option<DeletionConfirmation>,
    /// Answers that have not taken effect.
    pub(super) answering: AnsweringList,
    pub(super) remembered: RememberedView,
    pub(super) changes: SelectedChanges,
}

impl WatchState {
    pub(super) fn new(address: String) -> Self {
        Self {
            address,
            link: ConnectionState::Connecting,
            has_token: false,
            pending: Vec::new(),
            total: 0,
            sessions: Vec::new(),
            after: None,
            requested_before: 0,
            before: 0,
            next: None,
            known: ListFreshness::Unknown("not read yet".to_owned()),
            known_at: None,
            reading: false,
            outdated: false,
            denying: None,
            selected: None,
            scroll: 0,
            max_scroll: 0,
            is_drawn: false,
            is_end_drawn: false,
            width: 0,
            events: VecDeque::new(),
            notice: String::new(),
            typed: None,
            search: String::new(),
            searching: false,
            help: false,
            confirming: None,
            answering: AnsweringList::default(),
            remembered: RememberedView::default(),
            changes: SelectedChanges::default(),
        }
    }

    /// Returns the questions of this page that match the search.
    pub(super) fn found(&self) -> impl Iterator<Item = &AuditRecord> {
        let search = self.search.to_lowercase();
        let pending = self.pending.iter();
        pending.filter(move |record| contains(record, &search))
    }

    /// Returns the events that match the search.
    pub(super) fn found_events(&self) -> impl Iterator<Item = &TrailEvent> {
        let search = self.search.to_lowercase();
        self.events.iter().filter(move |event| {
            let has_text = event_text(event).to_lowercase().contains(&search);
            has_text
                || match event {
                    TrailEvent::Asked(record)
                    | TrailEvent::Answered(record)
                    | TrailEvent::Executed(record) => contains(record, &search),
                    TrailEvent::Cleaned | TrailEvent::Missed => false,
                }
        })
    }

    /// Returns the selected question.
    pub(super) fn question(&self) -> Option<&AuditRecord> {
        let id = self.selected?;
        self.pending.iter().find(|record| record.id == id)
    }

    pub(super) fn update(&mut self, message: WatchMessage) -> WatchEffect {
        match message {
            WatchMessage::Key(key) if key.kind == KeyEventKind::Release => {
                return WatchEffect::None;
            }
            WatchMessage::Key(key) => return self.key(key),
            WatchMessage::Redraw => return WatchEffect::Draw,
            WatchMessage::Closed => return WatchEffect::Quit,
            WatchMessage::Link(link) => {
                if let ConnectionState::Down(why) = &link {
                    self.known = ListFreshness::Unknown(why.clone());
                }
                self.link = link;
            }
            WatchMessage::Pending {
                page,
                at,
                after,
                anew,
            } => {
                self.reading &= anew;
                if anew {
                    self.request_page(None, 0);
                }
                match after == self.after {
                    true => self.accept_page(page, at),
                    // Another page has been requested since.
                    false => self.outdated = true,
                }
            }
            WatchMessage::Unknown(why) => {
                self.reading = false;
                self.outdated = true;
                self.known = ListFreshness::Unknown(why);
            }
            WatchMessage::Event(happened) => self.push_event(happened),
            WatchMessage::ChangesKnown { id, totals } => {
                let mut pending = self.pending.iter_mut();
                if let Some(record) = pending.find(|record| record.id == id) {
                    record.changes = Some(totals);
                    self.is_end_drawn &= self.selected != Some(id);
                }
                // The page that is being read may be older.
                self.outdated |= self.reading;
            }
            WatchMessage::Changes { id, result } => self.on_changes(id, result),
            WatchMessage::Sent { id, result } => self.on_answer_sent(id, result),
            WatchMessage::Denied(result) => self.on_denied(result),
            WatchMessage::Answering(answering) => self.answering.add(answering),
            WatchMessage::NotAnswered { id, reason } => {
                let is_own = self.answering.remove(id);
                if let Some(why) = reason.filter(|_| is_own) {
                    self.notice = format!("{id} was not answered: {}", escape(&why));
                }
            }
            WatchMessage::AnsweringUnknown => self.answering.clear(),
            WatchMessage::Withdrawn { id, result } => self.on_withdrawn(id, result),
            WatchMessage::Remembered(result) => self.remembered.accept(result),
            WatchMessage::Revoked { id, result } => self.on_revoked(id, result),
        }
        if self.question().is_none() {
            self.choose(None);
        }
        match self.outdated && !self.reading && !matches!(self.link, ConnectionState::Down(_)) {
            false => WatchEffect::None,
            true => {
                self.outdated = false;
                self.reading = true;
                WatchEffect::ReadAgain(self.after.clone())
            }
        }
    }

    /// Returns the question whose changes have to be read, once.
    pub(super) fn wanted_changes(&mut self) -> Option<i64> {
        let question = self.question()?;
        let id = question.id;
        if question.changes.is_none() || !self.has_token || self.changes.id == Some(id) {
            return None;
        }
        self.changes = SelectedChanges {
            id: Some(id),
            ..SelectedChanges::default()
        };
        Some(id)
    }

    /// Returns `true` while the changes of the selected question are being read.
    fn reads_changes(&self) -> bool {
        let has_changes = self.question().is_some_and(|one| one.changes.is_some());
        has_changes && self.has_token && self.selected_changes().is_none()
    }

    /// Returns the lines of the selected question's changes, once they are read.
    pub(super) fn selected_changes(&self) -> Option<&[DiffLine]> {
        let lines = self.changes.lines.as_deref();
        lines.filter(|_| self.changes.id == self.selected)
    }

    fn on_changes(&mut self, id: i64, result: Result<Option<FileChanges>, ClientError>) {
        if self.changes.id != Some(id) {
            return;
        }
        self.changes.lines = Some(diff::of_result(result));
        self.is_end_drawn &= self.selected != Some(id);
    }

    /// Requests another page.
    fn request_page(&mut self, after: Option<String>, before: u64) {
        self.after = after;
        self.requested_before = before;
    }

    fn accept_page(&mut self, page: PendingPage, at: Timestamp) {
        // Answers move questions forward, so this page may be empty now.
        if page.pending.is_empty() && self.after.is_some() {
            self.request_page(None, 0);
            self.outdated = true;
            return;
        }
        self.next = page.next;
        self.before = self.requested_before;
        self.pending = page.pending;
        self.total = page.total.max(self.pending.len() as u64);
        self.sessions = page.sessions;
        if self.is_whole() {
            self.pending.sort_by_key(|record| record.id);
        }
        self.known = ListFreshness::Now;
        self.known_at = Some(at);
    }

    /// Returns `true` if every pending question is displayed.
    pub(super) fn is_whole(&self) -> bool {
        self.total == self.pending.len() as u64
    }

    /// Updates the count for a question that was asked or answered. If there are more questions
    /// than displayed, an event does not suffice: the page is read again.
    fn count(&mut self, record: &AuditRecord) {
        let was_whole = self.is_whole();
        let before = self.pending.len();
        self.pending.retain(|other| other.id != record.id);
        self.total -= (before - self.pending.len()) as u64;
        let waits = record.deadline.is_some() && record.user_response.is_none();
        if waits && was_whole && self.pending.len() < PAGE_SIZE {
            self.pending.push(record.clone());
            self.pending.sort_by_key(|record| record.id);
            self.total += 1;
            return;
        }
        if waits {
            self.total += 1;
        }
        // The question may be on another page.
        self.outdated |= waits || !was_whole && record.deadline.is_some();
    }

    fn push_event(&mut self, happened: TrailEvent) {
        match &happened {
            TrailEvent::Asked(record) | TrailEvent::Answered(record) => {
                self.count(record);
                self.outdated |= self.reading;
                let waits = record.deadline.is_some() && record.user_response.is_none();
                let is_own = !waits && self.answering.remove(record.id);
                if !waits && (self.selected == Some(record.id) || is_own) {
                    let response = record
                        .user_response
                        .map_or("answered", |said| said.as_str());
                    let by = record.answered_by.as_deref().unwrap_or("unknown");
                    self.notice = format!("{}: {response}, by {}", record.id, escape(by));
                }
            }
            TrailEvent::Executed(_) | TrailEvent::Cleaned | TrailEvent::Missed => {}
        }
        self.events.push_front(happened);
        self.events.truncate(MAX_EVENTS);
    }

    /// Describes why a request of the operator failed. Forgets a wrong token.
    fn failure(&mut self, error: &ClientError) -> String {
        match is_wrong_token(error) {
            true => {
                self.has_token = false;
                "wrong operator's token; press t to enter it".to_owned()
            }
            false => escape(&error.to_string()),
        }
    }

    fn on_answer_sent(&mut self, id: i64, result: Result<Option<Answering>, ClientError>) {
        match result {
            Ok(None) => self.notice = format!("{id} answered"),
            Ok(Some(answering)) => {
                let what = answering.describe(Timestamp::now());
                self.notice = format!("{id}: {what}; press u to undo");
                self.answering.add_own(answering);
            }
            Err(error) => {
                self.notice = format!("{id} was not answered: {}", self.failure(&error));
            }
        }
    }

    fn on_withdrawn(&mut self, id: i64, result: Result<(), ClientError>) {
        self.notice = match result {
            Ok(()) => {
                self.answering.remove(id);
                format!("answer to {id} undone; the question is pending again")
            }
            Err(error) => format!("answer to {id} not undone: {}", self.failure(&error)),
        };
    }

    fn on_revoked(&mut self, id: i64, result: Result<(), ClientError>) {
        self.notice = match result {
            Ok(()) => format!("approval {id} revoked"),
            Err(error) => format!("approval {id} not revoked: {}", self.failure(&error)),
        };
    }

    /// Withdraws the answer to the selected question, or the last answer.
    fn undo(&mut self) -> WatchEffect {
        let selected = self.selected.filter(|id| self.answering.get(*id).is_some());
        let last = self.answering.last_own();
        let Some(id) = selected.or(last) else {
            self.notice = "no answer to undo".to_owned();
            return WatchEffect::Draw;
        };
        if !self.has_token {
            self.notice = "undoing needs the operator's token; press t to enter it".to_owned();
            return WatchEffect::Draw;
        }
        self.notice = format!("undoing the answer to {id} …");
        WatchEffect::Withdraw(id)
    }

    /// Types a confirmation, and answers if it is complete.
    fn type_confirmation(
        &mut self,
        mut confirming: DeletionConfirmation,
        code: KeyCode,
    ) -> WatchEffect {
        match code {
            KeyCode::Enter if confirming.typed == "yes" && self.selected == Some(confirming.id) => {
                return self.answer(true, RememberScope::Always, true);
            }
            KeyCode::Enter | KeyCode::Esc => {
                self.notice = format!("{} was not answered", confirming.id);
                return WatchEffect::Draw;
            }
            KeyCode::Backspace => drop(confirming.typed.pop()),
            KeyCode::Char(character) => confirming.typed.push(character),
            _ => {}
        }
        self.confirming = Some(confirming);
        WatchEffect::Draw
    }

    /// Handles a key of the list of remembered approvals; `None` for a key of the other views.
    fn remembered_key(&mut self, code: KeyCode) -> Option<WatchEffect> {
        match self.remembered.key(code, self.has_token) {
            RememberedKey::Notice(notice) => {
                self.notice = notice;
                Some(WatchEffect::Draw)
            }
            RememberedKey::Revoke(id) => {
                self.notice = format!("revoking approval {id} …");
                Some(WatchEffect::Revoke(id))
            }
            // These keys mean the same as elsewhere; all others would answer hidden questions.
            RememberedKey::Unused => match code {
                KeyCode::Char('q' | 't' | '?' | 'u') => None,
                _ => Some(WatchEffect::Draw),
            },
        }
    }

    fn on_denied(&mut self, result: Result<u64, ClientError>) {
        self.outdated = true;
        self.notice = match result {
            Ok(1) => "1 question denied".to_owned(),
            Ok(count) => format!("{count} questions denied"),
            Err(error) if is_wrong_token(&error) => {
                format!("nothing was denied: {}", self.failure(&error))
            }
            Err(error) => format!("not all questions denied: {}", self.failure(&error)),
        };
    }

    /// Requests the next page, or the first one.
    fn show_page(&mut self, next: bool) -> WatchEffect {
        match (next, self.next.clone()) {
            // A page is already being read.
            _ if self.before != self.requested_before => return WatchEffect::Draw,
            (true, None) => {
                self.notice = "last page; press < for the first".to_owned();
                return WatchEffect::Draw;
            }
            (true, after) => self.request_page(after, self.before + self.pending.len() as u64),
            (false, _) => self.request_page(None, 0),
        }
        self.choose(None);
        self.reading = true;
        WatchEffect::ReadAgain(self.after.clone())
    }

    /// Denies all questions of the selected question's session; requires the key a second time.
    fn deny_session(&mut self, denying: Option<i64>) -> WatchEffect {
        let Some(question) = self.question() else {
            self.notice = "select a question first (↑ or ↓)".to_owned();
            return WatchEffect::Draw;
        };
        let id = question.id;
        if !self.has_token {
            self.notice = "answering needs the operator's token; press t to enter it".to_owned();
            return WatchEffect::Draw;
        }
        if denying == Some(id) {
            self.choose(None);
            self.notice = "denying the questions of this session …".to_owned();
            return WatchEffect::DenySession(id);
        }
        let name = |text: &Option<String>| escape(text.as_deref().unwrap_or("-"));
        let (agent, session) = (name(&question.agent), name(&question.session_id));
        self.denying = Some(id);
        self.notice = format!(
            "press N again to deny all questions from agent {agent}, session \
             {session}"
        );
        WatchEffect::Draw
    }

    /// Changes the search. The selection ends if its question does not match.
    fn type_search(&mut self, code: KeyCode) -> WatchEffect {
        match code {
            KeyCode::Enter => self.searching = false,
            KeyCode::Esc => {
                self.searching = false;
                self.search.clear();
            }
            KeyCode::Backspace => drop(self.search.pop()),
            KeyCode::Char(character) => self.search.push(character),
            _ => {}
        }
        if !self.found().any(|record| Some(record.id) == self.selected) {
            self.choose(None);
        }
        WatchEffect::Draw
    }

    fn key(&mut self, key: KeyEvent) -> WatchEffect {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            return WatchEffect::Quit;
        }
        if let Some(typed) = self.typed.take() {
            return self.type_token(typed, key.code);
        }
        if control || key.modifiers.contains(KeyModifiers::ALT) {
            return WatchEffect::None;
        }
        if let Some(confirming) = self.confirming.take() {
            return self.type_confirmation(confirming, key.code);
        }
        if self.searching {
            return self.type_search(key.code);
        }
        // A key that closes the help answers nothing.
        if std::mem::take(&mut self.help) {
            return WatchEffect::Draw;
        }
        if self.remembered.is_open
            && let Some(effect) = self.remembered_key(key.code)
        {
            return effect;
        }
        self.notice.clear();
        let denying = self.denying.take();
        match key.code {
            KeyCode::Char('q') => return WatchEffect::Quit,
            KeyCode::Char('t') => self.typed = Some(String::new()),
            KeyCode::Char('?') => self.help = true,
            KeyCode::Char('/') => self.searching = true,
            KeyCode::Char('u') => return self.undo(),
            KeyCode::Char('r') => {
                self.choose(None);
                self.remembered.open();
                return WatchEffect::ReadRemembered;
            }
            KeyCode::Esc => {
                self.search.clear();
                self.choose(None);
            }
            KeyCode::Down | KeyCode::Char('j') => self.step(true),
            KeyCode::Up | KeyCode::Char('k') => self.step(false),
            KeyCode::Home => {
                let first = self.found().next().map(|record| record.id);
                self.choose(first);
            }
            KeyCode::End => {
                let last = self.found().last().map(|record| record.id);
                self.choose(last);
            }
            KeyCode::PageDown | KeyCode::Char(' ') => {
                self.scroll = self.scroll.saturating_add(3).min(self.max_scroll);
            }
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(3),
            KeyCode::Char('d') => {
                self.changes.whole ^= true;
                // All lines have to be seen now.
                self.is_end_drawn &= !self.changes.whole;
            }
            KeyCode::Char('y') => return self.answer(true, RememberScope::Once, false),
            KeyCode::Char('s') => return self.answer(true, RememberScope::Session, false),
            KeyCode::Char('a') => return self.answer(true, RememberScope::Always, false),
            KeyCode::Char('n') => return self.answer(false, RememberScope::Once, false),
            KeyCode::Char('N') => return self.deny_session(denying),
            KeyCode::Char('>') => return self.show_page(true),
            KeyCode::Char('<') => return self.show_page(false),
            _ => {}
        }
        WatchEffect::Draw
    }

    fn type_token(&mut self, mut typed: String, code: KeyCode) -> WatchEffect {
        match code {
            KeyCode::Esc => return WatchEffect::Draw,
            KeyCode::Enter if typed.trim().is_empty() => return WatchEffect::Draw,
            KeyCode::Enter => {
                self.has_token = true;
                self.changes = SelectedChanges::default();
                return WatchEffect::Token(typed.trim().to_owned());
            }
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Char(character) => typed.push(character),
            _ => {}
        }
        self.typed = Some(typed);
        WatchEffect::Draw
    }

    fn choose(&mut self, id: Option<i64>) {
        if self.selected != id {
            self.selected = id;
            self.scroll = 0;
            self.is_drawn = false;
            self.is_end_drawn = false;
        }
    }

    /// Selects the next or the previous question; the first or the last if none is selected.
    fn step(&mut self, down: bool) {
        let ids = self.found().map(|record| record.id);
        let next = step(ids, self.selected, down);
        self.choose(next);
    }

    fn answer(
        &mut self,
        approved: bool,
        remember: RememberScope,
        confirms_deletion: bool,
    ) -> WatchEffect {
        let Some(question) = self.question() else {
            self.notice = "select a question first (↑ or ↓)".to_owned();
            return WatchEffect::Draw;
        };
        let (id, class) = (question.id, question.classification);
        if let Some(answering) = self.answering.get(id) {
            let what = answering.describe(Timestamp::now());
            self.notice = format!("{id} is already answered: {what}; press u to undo");
            return WatchEffect::Draw;
        }
        if !self.is_drawn {
            self.notice = "enlarge the terminal to see the question before answering".to_owned();
            return WatchEffect::Draw;
        }
        // The end of a long command may be the dangerous part; denying is always safe.
        if approved && !self.is_end_drawn {
            self.notice = "scroll to the end before approving (PgDn)".to_owned();
            return WatchEffect::Draw;
        }
        if !self.has_token {
            self.notice = "answering needs the operator's token; press t to enter it".to_owned();
            return WatchEffect::Draw;
        }
        if approved && self.reads_changes() {
            self.notice = "the changes are being read; try again".to_owned();
            return WatchEffect::Draw;
        }
        let is_always = approved && remember == RememberScope::Always;
        if is_always && class == Crud::Delete && !confirms_deletion {
            let typed = String::new();
            self.confirming = Some(DeletionConfirmation { id, typed });
            return WatchEffect::Draw;
        }
        self.choose(None);
        self.notice = format!("answering {id} …");
        WatchEffect::Answer(PendingAnswer {
            id,
            approved,
            remember,
            confirms_deletion,
        })
    }
}

/// Returns `true` if the service denied the operator's token.
fn is_wrong_token(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { status: 401, .. })
}

/// Maximum length of a command that ran in the list of events, in characters.
const MAX_RAN_CHARS: usize = 100;

/// Returns what happened, as the list of events shows it.
pub(super) fn event_text(event: &TrailEvent) -> String {
    match event {
        TrailEvent::Cleaned => "old decisions were deleted".to_owned(),
        TrailEvent::Missed => "some events were missed".to_owned(),
        TrailEvent::Asked(record) => match (record.decision_requires_confirmation, record.deadline)
        {
            _ if record.denied => "denied by a rule",
            (false, _) => "allowed",
            (true, Some(_)) => "pending",
            (true, None) => "left to the agent's prompt",
        }
        .to_owned(),
        TrailEvent::Answered(record) => {
            let answer = record.user_response.map_or("-", |said| said.as_str());
            let by = record.answered_by.as_deref().unwrap_or("-");
            format!("{answer} by {}", escape(by))
        }
        TrailEvent::Executed(record) => match (&record.ran_command, record.exit_status) {
            (Some(ran), _) => {
                let ran = shorten(&escape(ran), MAX_RAN_CHARS);
                format!("ANOTHER COMMAND RAN, not decided: {ran}; decided")
            }
            (None, Some(status)) => format!("ran, exit status {status}"),
            (None, None) => "ran".to_owned(),
        },
    }
}

/// Returns `true` if a field of a record contains a text in lower case.
fn contains(record: &AuditRecord, search: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(search);
    search.is_empty()
        || record.id.to_string() == search
        || has(&record.command)
        || has(&record.reasoning)
        || has(&record.classification.to_string())
        || [&record.agent, &record.session_id]
            .into_iter()
            .flatten()
            .any(|text| has(text))
        || record
            .cwd
            .as_ref()
            .is_some_and(|cwd| has(&cwd.to_string_lossy()))
}
