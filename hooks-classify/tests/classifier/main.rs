//! Tests the results of the classifier, by commands.

mod explained;
mod hostile;
mod selected_calls;
mod terminal_input;
