//! Draws the state of `watch`. In: the state. Out: one frame. Text from other programs is escaped.

use hooks_guard::audit::AuditRecord;
use hooks_guard::classify::Crud;
use hooks_runtime::display::{escape, shorten};
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{List, ListItem, ListState, Paragraph, Wrap};

use super::super::diff::{self, DiffLine, DiffLineKind};
use super::super::when::local_time;
use super::model::{ConnectionState, ListFreshness, TrailEvent, WatchState, event_text};
use super::remembered::RememberedView;
use super::remembered_view;
use super::style::{block, bold, colour, dim, field};

/// Minimum size of the terminal; a smaller one cannot show a question.
const MIN_SIZE: (u16, u16) = (40, 14);
/// Maximum number of characters of a command in a list.
const MAX_LISTED_CHARS: usize = 300;

const KEYS: &str = "↑↓ select  y approve  s session  a always  n deny  / search  ? help  q quit";

/// Keys and their descriptions, as the help lists them.
const HELP: [(&str, &str); 19] = [
    ("↓ j, ↑ k", "select the next or the previous question"),
    ("Home, End", "select the first or the last question"),
    ("Esc", "end the selection and the search"),
    ("PgDn Space", "scroll down in the selected question"),
    ("PgUp", "scroll up"),
    ("d", "show all changed lines, or a screen of them"),
    ("y", "approve once"),
    ("s", "approve for this session"),
    ("a", "approve always, until revoked"),
    ("n", "deny"),
    ("N N", "deny all questions of this session"),
    ("u", "undo an answer that has not taken effect"),
    ("r", "list and revoke remembered approvals"),
    ("> <", "show the next or the first page"),
    ("/", "search in commands, reasons, agents and directories"),
    ("t", "enter the operator's token"),
    ("?", "show this help"),
    ("q Ctrl-C", "quit"),
    ("", "times are local; any key closes this help"),
];

pub(super) fn draw(frame: &mut Frame<'_>, state: &mut WatchState, now: Timestamp) {
    let area = frame.area();
    state.is_drawn = false;
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        let least = format!("needs at least {} × {}", MIN_SIZE.0, MIN_SIZE.1);
        let text = vec![Line::from(least), notice_line(state)];
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
        return;
    }
    if state.help {
        let lines = HELP.iter().map(|(keys, what)| {
            Line::from(vec![
                Span::styled(format!(" {keys:<11}"), bold()),
                Span::raw(*what),
            ])
        });
        let text = Paragraph::new(lines.collect::<Vec<_>>()).block(block(" keys "));
        frame.render_widget(text.wrap(Wrap { trim: false }), area);
        return;
    }
    if state.remembered.is_open {
        let [head, list, notice, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(area);
        frame.render_widget(title(state), head);
        remembered_view::draw(frame, &state.remembered, list);
        frame.render_widget(notice_line(state), notice);
        frame.render_widget(Paragraph::new(remembered_view::KEYS).style(dim()), keys);
        return;
    }
    let [head, inbox, details, happened, notice, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(3),
        Constraint::Fill(4),
        Constraint::Fill(3),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(title(state), head);
    draw_inbox(frame, state, now, inbox);
    draw_details(frame, state, details);
    draw_events(frame, state, happened);
    frame.render_widget(notice_line(state), notice);
    frame.render_widget(Paragraph::new(KEYS).style(dim()), keys);
}

fn title(state: &WatchState) -> Line<'_> {
    let address = escape(&state.address);
    let link = match &state.link {
        ConnectionState::Connecting => Span::raw("connecting"),
        ConnectionState::Up => Span::styled("connected", Style::new().fg(Color::Green)),
        ConnectionState::Polling(why) => Span::styled(
            format!("polling every second: {}", escape(why)),
            Style::new().fg(Color::Yellow),
        ),
        ConnectionState::Down(why) => Span::styled(
            format!("disconnected: {}", escape(why)),
            Style::new().fg(Color::Red),
        ),
    };
    Line::from(vec![
        Span::styled("hooks-guard", bold()),
        Span::raw(format!("  {address}  ")),
        link,
    ])
}

fn draw_inbox(frame: &mut Frame<'_>, state: &WatchState, now: Timestamp, area: Rect) {
    let mut block = block(format!(" {} ", pending_title(state)));
    if let Some(most) = state.sessions.first().filter(|_| !state.is_whole()) {
        let name = |text: &Option<String>| shorten(&escape(text.as_deref().unwrap_or("-")), 20);
        let (agent, session) = (name(&most.agent), name(&most.session_id));
        let most = format!(
            " most: {} from {agent}, session {session} ",
            grouped(most.count)
        );
        block = block.title(Line::from(most).right_aligned());
    }
    let items = state.found().map(|record| {
        ListItem::new(Line::from(vec![
            Span::raw(format!("{:>5} ", record.id)),
            Span::styled(
                format!("{:<6} ", record.classification),
                colour(record.classification),
            ),
            match state.answering.get(record.id) {
                Some(answering) => Span::styled(
                    format!("{} ", answering.describe(now)),
                    Style::new().fg(Color::Yellow),
                ),
                None => Span::raw(format!("{:>6} ", time_left(record, now))),
            },
            Span::raw(shorten(&escape(&record.command), MAX_LISTED_CHARS)),
        ]))
    });
    let list = List::new(items)
        .block(block)
        .highlight_symbol("▶ ")
        .highlight_style(bold());
    let chosen = state.selected;
    let at = state.found().position(|record| Some(record.id) == chosen);
    let mut scrolled = ListState::default().with_selected(at);
    frame.render_stateful_widget(list, area, &mut scrolled);
}

/// Returns the heading of pending questions. Says that there are none only while the list is
/// current.
fn pending_title(state: &WatchState) -> String {
    let count = match (state.total, state.pending.len()) {
        (0, _) => "no pending questions".to_owned(),
        (1, 1) => "1 pending question".to_owned(),
        (total, _) if state.is_whole() => format!("{total} pending questions"),
        (total, shown) => {
            let (first, last) = (state.before + 1, state.before + shown as u64);
            let (first, last, total) = (grouped(first), grouped(last), grouped(total));
            let page = match state.next {
                Some(_) => "> next page",
                None => "< first page",
            };
            format!("{first}–{last} of {total} pending questions, {page}")
        }
    };
    let count = match state.search.as_str() {
        "" => count,
        search => {
            let found = grouped(state.found().count() as u64);
            let search = shorten(&escape(search), 20);
            format!("{count}; {found} match `{search}`")
        }
    };
    let why = match &state.known {
        ListFreshness::Now => return count,
        ListFreshness::Unknown(why) => escape(why),
    };
    match state.known_at {
        None => format!("pending questions unknown: {why}"),
        Some(at) => {
            let at = clock(at);
            format!("pending questions unknown: {why}; at {at}: {count}")
        }
    }
}

/// Formats a time of day in the time zone of this machine.
fn clock(at: Timestamp) -> String {
    local_time(at, "%H:%M:%S")
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats the time left for an answer.
fn time_left(record: &AuditRecord, now: Timestamp) -> String {
    let Some(deadline) = record.deadline else {
        return String::new();
    };
    let seconds = deadline.duration_since(now).as_secs().max(0);
    match seconds {
        0..100 => format!("{seconds}s"),
        100..6000 => format!("{}m{:02}", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}", seconds / 3600, seconds / 60 % 60),
    }
}

fn draw_details(frame: &mut Frame<'_>, state: &mut WatchState, area: Rect) {
    let Some(record) = state.question() else {
        let text = match (state.pending.is_empty(), state.known == ListFreshness::Now) {
            (true, true) => {
                "A question appears here as soon as an agent asks it. To connect an agent, run \
                 `hooks-guard install`."
            }
            (true, false) => "",
            (false, _) => "No question selected. Press ↑ or ↓ to select one and see all of it.",
        };
        let text = Paragraph::new(text).wrap(Wrap { trim: true });
        frame.render_widget(text.block(block("")), area);
        return;
    };
    let confidence = format!("{:.2}", record.confidence);
    let command = Line::from(Span::styled(escape(&record.command), bold()));
    let mut lines = vec![command];
    let cwd = record.cwd.as_ref().map(|cwd| cwd.display().to_string());
    lines.extend(
        [
            field("reason", Some(record.reasoning.clone())),
            field("confidence", Some(confidence)),
            field("in", cwd),
            field("agent", record.agent.clone()),
            field("session", record.session_id.clone()),
            field("always", record.always.clone()),
            field("context", record.context.clone()),
            field("rule", record.rule.clone()),
            field("details", Some(record.explanation.clone())),
        ]
        .into_iter()
        .flatten(),
    );
    lines.extend(change_lines(state, record, area.height.saturating_sub(1)));
    let title = format!(" {} {} ", record.id, record.classification);
    let style = colour(record.classification);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    let inner = area.height.saturating_sub(1);
    let all = u16::try_from(text.line_count(area.width)).unwrap_or(u16::MAX);
    // With another width the lines break differently, and some would never have been shown.
    if state.width != area.width && !state.is_end_drawn {
        state.scroll = 0;
    }
    state.width = area.width;
    state.max_scroll = all.saturating_sub(inner);
    state.scroll = state.scroll.min(state.max_scroll);
    state.is_drawn = inner > 0;
    state.is_end_drawn |= state.is_drawn && state.scroll == state.max_scroll;
    let mut block = block(title).title_style(style);
    if state.scroll < state.max_scroll {
        let below = state.max_scroll - state.scroll;
        block = block.title(Line::from(format!(" {below} more lines (PgDn) ")).right_aligned());
    }
    frame.render_widget(text.block(block).scroll((state.scroll, 0)), area);
}

/// Returns the lines of the changes of a question; at most `screen` of them unless all are wanted.
fn change_lines(state: &WatchState, record: &AuditRecord, screen: u16) -> Vec<Line<'static>> {
    let Some(totals) = &record.changes else {
        return Vec::new();
    };
    let note = |text: String| Line::from(Span::styled(text, Style::new().fg(Color::Yellow)));
    let Some(changes) = state.selected_changes() else {
        let files = match totals.files {
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        let why = match state.has_token {
            true => "being read",
            false => "press t to enter the operator's token and see them",
        };
        let (added, removed) = (totals.added, totals.removed);
        return vec![note(format!(
            "changes: {files}, +{added} -{removed}; {why}"
        ))];
    };
    let shown = match state.changes.whole {
        true => changes.len(),
        false => changes.len().min(screen.max(5).into()),
    };
    let mut lines: Vec<_> = changes[..shown].iter().map(change_line).collect();
    if shown < changes.len() {
        lines.push(note(diff::more_lines(changes.len() - shown)));
    }
    lines
}

fn change_line(line: &DiffLine) -> Line<'static> {
    let style = match line.kind {
        DiffLineKind::File => bold(),
        DiffLineKind::Note => Style::new().fg(Color::Yellow),
        DiffLineKind::Hunk => Style::new().fg(Color::Cyan),
        DiffLineKind::Added => Style::new().fg(Color::Green),
        DiffLineKind::Removed => Style::new().fg(Color::Red),
        DiffLineKind::Same => Style::new(),
    };
    Line::from(Span::styled(line.text.clone(), style))
}

fn draw_events(frame: &mut Frame<'_>, state: &WatchState, area: Rect) {
    let lines: Vec<Line<'_>> = state
        .found_events()
        .take(area.height.into())
        .map(|happened| line(happened, &state.remembered))
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block(" events ")), area);
}

fn line(happened: &TrailEvent, remembered: &RememberedView) -> Line<'static> {
    let mut what = event_text(happened);
    let (record, at) = match happened {
        TrailEvent::Cleaned | TrailEvent::Missed => return Line::from(what),
        TrailEvent::Asked(record) => (record, Some(record.timestamp)),
        TrailEvent::Answered(record) => {
            what += remembered.lasts(record.id).unwrap_or_default();
            (record, record.answered_at)
        }
        TrailEvent::Executed(record) => (record, record.executed_at),
    };
    let at = at.map_or_else(String::new, clock);
    let class = record.classification;
    Line::from(vec![
        Span::styled(format!("{at:<8} "), dim()),
        Span::raw(format!("{:>5} ", record.id)),
        Span::styled(format!("{class:<6} "), colour(class)),
        match happened {
            TrailEvent::Executed(record) if record.ran_command.is_some() => {
                Span::styled(format!("{what}: "), colour(Crud::Delete))
            }
            _ => Span::raw(format!("{what}: ")),
        },
        Span::raw(shorten(&escape(&record.command), MAX_LISTED_CHARS)),
    ])
}

fn notice_line(state: &WatchState) -> Line<'_> {
    if state.searching {
        let search = escape(&state.search);
        return Line::from(format!("search: {search}▏ (Enter keeps it, Esc ends it)"));
    }
    if let Some(confirming) = &state.confirming {
        let typed = escape(&confirming.typed);
        return Line::from(format!(
            "always allow this deletion? type yes, then Enter: {typed}▏ (Esc cancels)"
        ));
    }
    match &state.typed {
        Some(typed) => Line::from(format!(
            "operator's token, then Enter: {}",
            "•".repeat(typed.chars().count())
        )),
        None => Line::from(Span::styled(
            state.notice.as_str(),
            Style::new().fg(Color::Yellow),
        )),
    }
}
