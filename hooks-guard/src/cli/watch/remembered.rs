//! List of remembered approvals in `watch`: its contents, selection and keys.

use hooks_guard::audit::Remembered;
use ratatui::crossterm::event::KeyCode;

use super::selection::step;

/// State of the list.
#[derive(Debug, Default)]
pub(super) struct RememberedView {
    pub(super) is_open: bool,
    /// All remembered approvals, newest first; `None` before they were read.
    list: Option<Vec<Remembered>>,
    /// Why the list could not be read the last time.
    pub(super) error: Option<String>,
    /// `true` if revoked approvals are displayed.
    pub(super) shows_revoked: bool,
    pub(super) selected: Option<i64>,
    /// The approval that is revoked if the key is pressed again.
    revoking: Option<i64>,
}

/// Result of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RememberedKey {
    /// The key has another meaning, or none.
    Unused,
    /// Shows a notice; an empty one removes the last.
    Notice(String),
    /// Revokes an approval.
    Revoke(i64),
}

impl RememberedView {
    pub(super) fn open(&mut self) {
        self.is_open = true;
        self.selected = None;
        self.revoking = None;
    }

    /// Accepts the approvals as the service lists them, oldest first, or the reason why it does not.
    pub(super) fn accept(&mut self, result: Result<Vec<Remembered>, String>) {
        match result {
            Ok(mut list) => {
                list.reverse();
                self.list = Some(list);
                self.error = None;
            }
            Err(why) => self.error = Some(why),
        }
        if self.selection().is_none() {
            self.selected = None;
        }
    }

    /// Returns the displayed approvals; `None` before they were read.
    pub(super) fn shown(&self) -> Option<impl Iterator<Item = &Remembered>> {
        let list = self.list.as_ref()?.iter();
        Some(list.filter(|one| self.shows_revoked || one.revoked_at.is_none()))
    }

    /// Returns the selected approval.
    pub(super) fn selection(&self) -> Option<&Remembered> {
        let id = self.selected?;
        self.shown()?.find(|one| one.id == id)
    }

    /// Describes how long the approval of a decision lasts, if it is remembered.
    pub(super) fn lasts(&self, decision: i64) -> Option<&'static str> {
        let mut list = self.list.as_ref()?.iter();
        let one = list.find(|one| one.decision_id == Some(decision))?;
        Some(match (&one.session_id, one.revoked_at) {
            (Some(_), None) => ", for the session",
            (None, None) => ", always",
            (Some(_), Some(_)) => ", for the session (revoked)",
            (None, Some(_)) => ", always (revoked)",
        })
    }

    /// Handles a key while the list is displayed.
    pub(super) fn key(&mut self, code: KeyCode, has_token: bool) -> RememberedKey {
        let revoking = self.revoking.take();
        match code {
            KeyCode::Esc | KeyCode::Char('r') => self.is_open = false,
            KeyCode::Down | KeyCode::Char('j') => self.step(true),
            KeyCode::Up | KeyCode::Char('k') => self.step(false),
            KeyCode::Char('h') => {
                self.shows_revoked = !self.shows_revoked;
                if self.selection().is_none() {
                    self.selected = None;
                }
            }
            KeyCode::Char('x') => return self.revoke(revoking, has_token),
            _ => return RememberedKey::Unused,
        }
        RememberedKey::Notice(String::new())
    }

    /// Selects the next or the previous approval; the first or the last if none is selected.
    fn step(&mut self, down: bool) {
        let Some(shown) = self.shown() else { return };
        self.selected = step(shown.map(|one| one.id), self.selected, down);
    }

    /// Revokes the selected approval; requires the key a second time.
    fn revoke(&mut self, revoking: Option<i64>, has_token: bool) -> RememberedKey {
        let Some(selected) = self.selection() else {
            return RememberedKey::Notice("select an approval first (↑ or ↓)".to_owned());
        };
        let id = selected.id;
        if selected.revoked_at.is_some() {
            return RememberedKey::Notice(format!("approval {id} is already revoked"));
        }
        if !has_token {
            let text = "revoking needs the operator's token; press t to enter it";
            return RememberedKey::Notice(text.to_owned());
        }
        if revoking == Some(id) {
            return RememberedKey::Revoke(id);
        }
        self.revoking = Some(id);
        RememberedKey::Notice(format!("press x again to revoke approval {id}"))
    }
}
