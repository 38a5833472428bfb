//! Styles, frames and lines that the views share.

use std::borrow::Cow;

use hooks_guard::classify::Crud;
use hooks_runtime::display::escape;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders};

pub(super) fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

pub(super) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

pub(super) fn colour(class: Crud) -> Style {
    let colour = match class {
        Crud::Read => Color::Green,
        Crud::Create => Color::Cyan,
        Crud::Update => Color::Yellow,
        Crud::Delete => Color::Red,
    };
    Style::new().fg(colour).add_modifier(Modifier::BOLD)
}

pub(super) fn block(title: impl Into<Cow<'static, str>>) -> Block<'static> {
    Block::new().borders(Borders::TOP).title(title.into())
}

/// Returns the line of a field of the details; `None` if the field has no value.
pub(super) fn field(name: &str, value: Option<String>) -> Option<Line<'static>> {
    let value = value.filter(|value| !value.is_empty())?;
    let name = Span::styled(format!("{name:<11}"), dim());
    Some(Line::from(vec![name, Span::raw(escape(&value))]))
}
