//! Compares the page of the book on operation with the command line. In: the definition of the
//! arguments. Out: the table of every option.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use clap::{Arg, Command, CommandFactory};

use super::Arguments;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operation.md");
const HEADING: &str = "\n## Every option\n";

/// Collects all commands by name, except clap's `help`.
fn commands(of: &Command, path: &str, found: &mut Vec<(String, Command)>) {
    for command in of.get_subcommands().filter(|it| it.get_name() != "help") {
        let path = format!("{path} {}", command.get_name());
        commands(command, &path, found);
        found.push((path.trim().to_owned(), command.clone()));
    }
}

fn all() -> Vec<(String, Command)> {
    let mut found = Vec::new();
    commands(&Arguments::command(), "", &mut found);
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Returns a row of the table: the option, its default, its variable and its description.
fn row(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.first().map_or("", |name| name.as_str());
    let written = match arg.get_long() {
        Some(long) if arg.get_action().takes_values() => format!("--{long} <{value}>"),
        Some(long) => format!("--{long}"),
        None => format!("<{value}>"),
    };
    let defaults = arg.get_default_values();
    let default = defaults.iter().map(|it| it.to_string_lossy());
    let default = default.map(|it| format!("`{it}`")).collect::<String>();
    let variable = arg
        .get_env()
        .map(|it| format!("`{}`", it.to_string_lossy()));
    let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let possible = arg.get_possible_values();
    let possible: Vec<&str> = possible.iter().map(|it| it.get_name()).collect();
    if arg.get_action().takes_values() && !possible.is_empty() {
        let _ = write!(help, ": `{}`", possible.join("`, `"));
    }
    format!(
        "| `{written}` | {default} | {} | {} |\n",
        variable.unwrap_or_default(),
        help.replace('|', "\\|").replace('\n', " ")
    )
}

const HEAD: &str = "\n| Option | Default | Variable | Description |\n|---|---|---|---|\n";

/// Returns the section of the page, generated from the definition of the arguments.
fn section() -> String {
    let commands = all();
    let mut shared: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let own = |command: &Command| -> Vec<String> {
        let args = command.get_arguments();
        let args = args.filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"));
        args.map(row).collect()
    };
    for (path, command) in &commands {
        for row in own(command) {
            shared.entry(row).or_default().push(path);
        }
    }
    shared.retain(|_, commands| commands.len() > 1);
    let mut text = String::from(
        "\nThe options of `hooks-guard COMMAND --help` and the manual pages.\n\n### Shared options\n",
    );
    text.push_str(HEAD);
    for (row, of) in &shared {
        let row = row.trim_end_matches(" |\n");
        let _ = writeln!(text, "{row} (`{}`) |", of.join("`, `"));
    }
    for (path, command) in &commands {
        let about = command.get_about().map(ToString::to_string);
        if command.has_subcommands() {
            continue;
        }
        let _ = write!(text, "\n### `{path}`\n\n{}\n", about.unwrap_or_default());
        let rows = own(command);
        let rows = rows.iter().filter(|row| !shared.contains_key(*row));
        let rows: String = rows.map(String::as_str).collect();
        if !rows.is_empty() {
            text.push_str(HEAD);
            text.push_str(&rows);
        }
    }
    text
}

#[test]
fn the_options_on_the_page_are_up_to_date() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let (before, rest) = page.split_once(HEADING).expect("its section");
    let after = rest.find("\n## ").map_or("", |at| &rest[at..]);
    let fresh = format!("{before}{HEADING}{}{after}", section());
    if std::env::var_os("HOOKS_WRITE").is_some() {
        fs::write(PAGE, &fresh).expect("it can be written");
        return;
    }
    assert!(
        page == fresh,
        "the options in `docs/operation.md` are out of date; update them with \
         `HOOKS_WRITE=1 cargo test -p hooks-guard --bins`"
    );
}

#[test]
fn options_listed_with_configuration_keys_exist_in_serve() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let (_, rest) = page
        .split_once("\n## Configuration\n")
        .expect("its section");
    let section = rest.split("\n## ").next().unwrap_or(rest);
    let serve = Arguments::command();
    let serve = serve.find_subcommand("serve").expect("it is there");
    let mut found = 0;
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        // The last of four cells.
        let cell = line.split('|').nth(4).expect("four cells");
        let mut words = cell.split('`').skip(1).step_by(2);
        let Some(option) = words.next() else { continue };
        let long = option.strip_prefix("--").expect("an option");
        let arg = serve
            .get_arguments()
            .find(|arg| arg.get_long() == Some(long));
        let arg = arg.unwrap_or_else(|| panic!("`serve` has no `{option}`"));
        let env = arg.get_env().map(|env| env.to_string_lossy().into_owned());
        assert_eq!(
            words.next().map(str::to_owned),
            env,
            "the variable of `{option}`"
        );
        found += 1;
    }
    // Address, socket, rate limit, trail, and the three options of the second stage.
    assert_eq!(found, 7);
}
