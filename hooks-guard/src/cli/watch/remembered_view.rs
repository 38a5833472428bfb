//! Draws the list of remembered approvals. Text from other programs is escaped.

use hooks_guard::audit::Remembered;
use hooks_runtime::display::{escape, shorten};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{List, ListItem, ListState, Paragraph, Wrap};

use super::super::when::shown_time;
use super::remembered::RememberedView;
use super::style::{block, bold, colour, dim, field};

/// Maximum number of characters of a command in the list.
const MAX_LISTED_CHARS: usize = 300;

/// Keys of the list.
pub(super) const KEYS: &str = "↑↓ select  x revoke  h show revoked  r back  ? help  q quit";

pub(super) fn draw(frame: &mut Frame<'_>, view: &RememberedView, area: Rect) {
    let [above, below] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(area);
    let mut at = None;
    let mut items = Vec::new();
    for (place, one) in view.shown().into_iter().flatten().enumerate() {
        if view.selected == Some(one.id) {
            at = Some(place);
        }
        items.push(item(one));
    }
    let list = List::new(items)
        .block(block(format!(" {} ", title(view))))
        .highlight_symbol("▶ ")
        .highlight_style(bold());
    let mut scrolled = ListState::default().with_selected(at);
    frame.render_stateful_widget(list, above, &mut scrolled);
    let text = match view.selection() {
        Some(one) => details(one),
        None => vec![Line::from(
            "A remembered approval allows equal commands without another question. Press ↑ or ↓ \
             to select one and see what it covers.",
        )],
    };
    let text = Paragraph::new(text).wrap(Wrap { trim: false });
    frame.render_widget(text.block(block("")), below);
}

fn title(view: &RememberedView) -> String {
    let count = view.shown().map(Iterator::count);
    let count = match (count, view.shows_revoked) {
        (None, _) => "remembered approvals unknown".to_owned(),
        (Some(0), false) => "no remembered approvals".to_owned(),
        (Some(0), true) => "no remembered approvals, also none revoked".to_owned(),
        (Some(1), false) => "1 remembered approval".to_owned(),
        (Some(count), false) => format!("{count} remembered approvals"),
        (Some(count), true) => format!("{count} remembered approvals, with revoked ones"),
    };
    match &view.error {
        Some(why) => format!("{count}; cannot be read now: {}", escape(why)),
        None => count,
    }
}

fn item(one: &Remembered) -> ListItem<'static> {
    let lasts = match (one.revoked_at, &one.session_id) {
        (Some(_), _) => "revoked",
        (None, Some(_)) => "session",
        (None, None) => "always",
    };
    let class = match one.classification {
        Some(class) => Span::styled(format!("{class:<6} "), colour(class)),
        None => Span::raw(format!("{:<6} ", "-")),
    };
    ListItem::new(Line::from(vec![
        Span::raw(format!("{:>5} ", one.id)),
        class,
        Span::raw(format!("{lasts:<7} ")),
        Span::styled(format!("{} ", shown_time(one.created_at)), dim()),
        Span::raw(shorten(&escape(&one.command), MAX_LISTED_CHARS)),
    ]))
}

fn details(one: &Remembered) -> Vec<Line<'static>> {
    let given = format!("{} by {}", shown_time(one.created_at), one.created_by);
    let revoked = one.revoked_at.map(|at| {
        let by = one.revoked_by.as_deref().unwrap_or("-");
        format!("{} by {by}", shown_time(at))
    });
    let lasts = match one.session_id {
        Some(_) => "for the session",
        None => "always, until it is revoked",
    };
    let holds = match &one.holds {
        // The sentence describes `always`, but its conditions are the same for a session.
        Some(holds) => holds.strip_prefix("`always` ").unwrap_or(holds).to_owned(),
        None => format!("matches no request: {}", Remembered::UNBOUND_REASON),
    };
    let cwd = one.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let mut lines = vec![Line::from(Span::styled(escape(&one.command), bold()))];
    lines.extend(
        [
            field("revoked", revoked),
            field("lasts", Some(lasts.to_owned())),
            field("scope", Some(holds)),
            field("files", Some(one.covers.join(", "))),
            field("in", cwd),
            field("agent", one.agent.clone()),
            field("session", one.session_id.clone()),
            field("given", Some(given)),
            field("decision", one.decision_id.map(|id| id.to_string())),
        ]
        .into_iter()
        .flatten(),
    );
    lines
}
