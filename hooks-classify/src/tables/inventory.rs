//! Test of the tables: the loaded tables in, one line for each program and command out, compared with
//! `tests/tables/inventory.txt`.
//!
//! The test fails with the name of a command if a change of a table or of the format loses a program, a
//! command or an option. `HOOKS_WRITE=1` rewrites the file, whose difference shows the change.
//! `HOOKS_TABLES=FILE` writes all options of every command, to compare two states option by option.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use super::calls::CallPattern;
use super::{Program, ProgramDetails, SecretShape, SqlDialect, Tables};

/// Record of one program or command: a line for the entry, and one for each option.
struct EntryRecord {
    path: String,
    effect: String,
    keys: Vec<String>,
    options: Vec<String>,
}

/// Returns the records of all programs and commands, in the order of their names.
fn records() -> Vec<EntryRecord> {
    let tables = Tables::embedded();
    let mut records = Vec::new();
    let programs = tables
        .names()
        .filter_map(|name| Some((name, tables.program(name)?)));
    for (names, program) in by_entry(programs) {
        add_records(&names, program, &mut records);
    }
    records
}

/// Joins the names that share an entry.
fn by_entry<'a>(
    named: impl Iterator<Item = (&'a str, &'static Program)>,
) -> Vec<(String, &'static Program)> {
    let mut entries: BTreeMap<*const Program, (Vec<&str>, &Program)> = BTreeMap::new();
    for (name, program) in named {
        let entry = entries.entry(std::ptr::from_ref(program));
        entry.or_insert((Vec::new(), program)).0.push(name);
    }
    let joined = entries.into_values().map(|(mut names, program)| {
        names.sort_unstable();
        (names.join("|"), program)
    });
    let mut entries: Vec<_> = joined.collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

fn add_records(path: &str, program: &Program, records: &mut Vec<EntryRecord>) {
    let Program {
        does,
        effect,
        given,
        operands,
        options,
        style,
        function,
        commands,
        details,
    } = program;
    let ProgramDetails {
        commands_of,
        options_anywhere,
        reveals,
        reveals_given,
        dash_is_file,
        shell_text,
        prints_words,
        prints_paths,
        dialect,
        files_in_words,
        programs_in_words,
        sends,
        offline,
        hosts,
        probes,
        shows,
        only_first,
        options_first,
        terminal,
        pager,
        contents,
        recurses,
        finds,
        help,
        variables,
        harmless_variables,
        expands_files,
        unguarded,
        harmless_config,
        runs_input,
        decided_by,
        configured_by,
        package_scripts,
        replaces_files,
        outside,
        installs,
        runs_packages,
        packages_in,
        places_links,
        keeps_files,
        controls,
        discards,
        sets_shell_variables,
        client,
        file_operation,
        output,
        edits_named_files,
        changes_directory,
        slash_words,
        sets_variables,
        schedules_input,
        secrets,
        loads,
        prints_variables,
        elsewhere,
        runs_scripts,
        loads_decide,
        reveals_from,
    } = details.get();
    let mut keys = vec![
        format!(
            "does {does:?} given {given:?} style {style:?} function {function:?} help {help:?}"
        ),
        format!("operands {operands:?}"),
        format!("commands_of {commands_of:?} options_anywhere {options_anywhere}"),
        format!("reveals {reveals:?} {reveals_given:?} shows {shows:?} finds {finds:?}"),
        format!(
            "dash_is_file {dash_is_file} sends {sends} offline {offline} hosts {hosts} probes {probes}"
        ),
        format!("only_first {only_first} options_first {options_first}"),
        format!("terminal {terminal:?} pager {pager:?}"),
        format!("contents {contents:?} recurses {recurses:?}"),
        format!("variables {variables:?} harmless_config {harmless_config:?}"),
        format!("decided_by {decided_by:?} configured_by {configured_by:?}"),
        format!(
            "runs_input {runs_input} package_scripts {package_scripts:?} replaces_files {replaces_files}"
        ),
    ];
    if *expands_files {
        keys.push("expands_files".to_owned());
    }
    if !unguarded.is_empty() {
        keys.push(format!("unguarded {unguarded:?}"));
    }
    if !harmless_variables.is_empty() {
        keys.push(format!("harmless_variables {harmless_variables:?}"));
    }
    let shown = |calls: &[CallPattern]| (!calls.is_empty()).then(|| format!("{calls:?}"));
    // Few entries have these keys.
    for (key, value) in [
        ("shell_text", shell_text.then(String::new)),
        ("prints_words", prints_words.then(String::new)),
        ("prints_paths", prints_paths.then(String::new)),
        (
            "dialect",
            (*dialect != SqlDialect::Unknown).then(|| format!("{dialect:?}")),
        ),
        (
            "files_in_words",
            files_in_words.map(|notation| format!("{notation:?}")),
        ),
        (
            "programs_in_words",
            programs_in_words.map(|notation| format!("{notation:?}")),
        ),
        ("outside", shown(outside)),
        ("installs", shown(installs)),
        ("runs_packages", shown(runs_packages)),
        ("packages_in", packages_in.map(str::to_owned)),
        ("places_links", shown(places_links)),
        ("keeps_files", shown(keeps_files)),
        (
            "controls",
            (!controls.is_empty()).then(|| format!("{controls:?}")),
        ),
        (
            "discards",
            (!discards.is_empty()).then(|| format!("{discards:?}")),
        ),
        ("sets_shell_variables", shown(sets_shell_variables)),
        ("client", client.map(|client| format!("{client:?}"))),
        (
            "file_operation",
            file_operation.map(|operation| format!("{operation:?}")),
        ),
        ("output", output.map(|output| format!("{output:?}"))),
        ("edits_named_files", edits_named_files.then(String::new)),
        ("changes_directory", changes_directory.then(String::new)),
        ("slash_words", slash_words.map(|words| format!("{words:?}"))),
        ("sets_variables", sets_variables.then(String::new)),
        ("schedules_input", schedules_input.then(String::new)),
        (
            "secrets",
            (!secrets.is_empty()).then(|| format!("{secrets:?}")),
        ),
        (
            "prints_variables",
            prints_variables.map(|off| format!("{off:?}")),
        ),
        ("elsewhere", elsewhere.then(String::new)),
        ("runs_scripts", runs_scripts.then(String::new)),
        (
            "reveals_from",
            (!reveals_from.is_empty()).then(|| format!("{reveals_from:?}")),
        ),
        ("loads_decide", loads_decide.then(String::new)),
        ("loads", (!loads.is_empty()).then(|| format!("{loads:?}"))),
    ] {
        if let Some(value) = value {
            keys.push(format!("{key} {value}"));
        }
    }
    let order: Vec<&str> = commands.patterns().map(|(name, _)| name).collect();
    keys.push(format!("patterns {order:?}"));
    let mut options: Vec<String> = options
        .iter()
        .map(|(name, option)| {
            let (arity, role, effect) = (option.arity, option.role, option.effect);
            let secret = match option.secret {
                SecretShape::Unstated => String::new(),
                shape => format!(" {shape:?}"),
            };
            format!("{name} {arity:?} {role:?}{secret} {effect:?}")
        })
        .collect();
    options.sort();
    records.push(EntryRecord {
        path: path.to_owned(),
        effect: format!("{effect:?}").to_lowercase(),
        keys,
        options,
    });
    let plain = commands
        .names()
        .filter_map(|name| Some((name, commands.get(name)?)));
    for (names, command) in by_entry(plain.chain(commands.patterns())) {
        add_records(&format!("{path} {names}"), command, records);
    }
}

/// Returns the 64-bit FNV-1a hash, which is independent of the machine and the version of the
/// compiler.
fn digest(lines: &[&[String]]) -> u64 {
    let bytes = lines
        .iter()
        .copied()
        .flatten()
        .flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_tables_equal_the_inventory() {
    let records = records();
    if let Some(file) = env::var_os("HOOKS_TABLES") {
        let mut text = String::new();
        for record in &records {
            let _ = writeln!(text, "{}: {}", record.path, record.effect);
            for line in record.keys.iter().chain(&record.options) {
                let _ = writeln!(text, "    {line}");
            }
        }
        fs::write(file, text).expect("a file that can be written");
    }
    let lines = records.iter().map(|record| {
        let (count, digest) = (
            record.options.len(),
            digest(&[&record.keys, &record.options]),
        );
        format!(
            "{}: {}, {count} options, {digest:016x}",
            record.path, record.effect
        )
    });
    let now: Vec<String> = lines.collect();
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tables/inventory.txt");
    if env::var_os("HOOKS_WRITE").is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, now.join("\n") + "\n").expect("a file that can be written");
        return;
    }
    let text = fs::read_to_string(&file).expect("the inventory");
    let path = |line: &str| {
        line.rsplit_once(": ")
            .map_or("", |(path, _)| path)
            .to_owned()
    };
    let before: BTreeMap<String, &str> = text.lines().map(|line| (path(line), line)).collect();
    let after: BTreeMap<String, &str> =
        now.iter().map(|line| (path(line), line.as_str())).collect();
    let mut changed = String::new();
    for (path, line) in &before {
        match after.get(path) {
            None => drop(writeln!(changed, "lost: {line}")),
            Some(now) if now != line => drop(writeln!(changed, "was: {line}\n is: {now}")),
            Some(_) => {}
        }
    }
    for (path, line) in &after {
        if !before.contains_key(path) {
            let _ = writeln!(changed, "new: {line}");
        }
    }
    assert!(
        changed.is_empty(),
        "the tables are not those of `tests/tables/inventory.txt`; if the change is intended, run the test with \
         `HOOKS_WRITE=1` and look at the difference\n{changed}"
    );
}
