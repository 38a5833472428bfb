//! Runs every `programs/FAMILY/PROGRAM.cases`: commands with the expected result of the tables, one
//! per line. All shells count, or those that a line `# shells: NAME …` above names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use hooks_classify::{
    Classifier, Crud, Decision, Language, Part, ProgramEntry, Shells, TableCheck, Tables, programs,
};

use crate::support::{languages, parallel};

struct Case {
    file: String,
    line: usize,
    want: Crud,
    ask: bool,
    shells: Shells,
    command: String,
}

/// Adds the files with cases in a folder and below it.
fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder of the tables") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(&path, files);
        } else if path.extension().is_some_and(|end| end == "cases") {
            files.push(path);
        }
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = Vec::new();
    add_files(&folder, &mut files);
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let file = path.strip_prefix(&folder).expect("a file in the folder");
        let file = file.to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a readable file");
        let mut shells = Shells::ALL;
        for (at, line) in text.lines().enumerate() {
            if let Some(names) = line.strip_prefix("# shells: ") {
                let named = names.split(' ').map(|name| {
                    Shells::named(name).unwrap_or_else(|| panic!("`{name}` is a shell"))
                });
                shells = named.reduce(|one, other| one | other).expect("a shell");
                continue;
            }
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (label, command) = line
                .split_once(' ')
                .unwrap_or_else(|| panic!("{file}:{}: no label", at + 1));
            let want = match label.trim_end_matches('!') {
                "READ" => Crud::Read,
                "CREATE" => Crud::Create,
                "UPDATE" => Crud::Update,
                "DELETE" => Crud::Delete,
                other => panic!("{file}:{}: unknown label `{other}`", at + 1),
            };
            cases.push(Case {
                file: file.clone(),
                line: at + 1,
                want,
                ask: label != "READ",
                shells,
                command: unescaped(command.trim_start()),
            });
        }
    }
    cases
}

/// Replaces `\n` by a line break and `\\` by a backslash.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek()) {
            ('\\', Some('n')) => {
                characters.next();
                out.push('\n');
            }
            ('\\', Some('\\')) => {
                characters.next();
                out.push('\\');
            }
            _ => out.push(c),
        }
    }
    out
}

#[test]
fn every_case_has_the_expected_class_and_decision() {
    let cases = cases();
    let mut wrong = String::new();
    let mut count = 0;
    let mut unread: BTreeMap<String, usize> = BTreeMap::new();
    let analyses = parallel::map(&cases, |case| {
        let classifier = Classifier::new().with_shells(case.shells);
        classifier.analyze(&case.command).expect("a command")
    });
    for (case, analysis) in cases.iter().zip(analyses) {
        let classification = analysis.classification;
        let ask = classification.decision == Decision::RequiresConfirmation;
        if let Some(language) = languages::unread_in(&analysis.parts) {
            assert!(
                ask,
                "{language:?} is not read, but allowed: {:?}",
                case.command
            );
            *unread.entry(format!("{language:?}")).or_default() += 1;
            continue;
        }
        if classification.crud != case.want || ask != case.ask {
            count += 1;
            let Case {
                file,
                line,
                want,
                command,
                ..
            } = case;
            let mark = if case.ask && case.want == Crud::Read {
                "!"
            } else {
                ""
            };
            let _ = writeln!(
                wrong,
                "{file}:{line}: want {want}{mark}, is {}{}: {command:?}\n    {}",
                classification.crud,
                if ask { " to be confirmed" } else { "" },
                classification.reasoning
            );
        }
    }
    assert!(
        count == 0,
        "{count} of {} cases are wrong:\n{wrong}",
        cases.len()
    );
    // Each language has cases, and they are left out only if its feature is off.
    println!("cases whose language this build does not read: {unread:?}");
    for language in [
        Language::Python,
        Language::Node,
        Language::Mongo,
        Language::Sql,
        Language::PowerShell,
    ] {
        let left_out = unread
            .get(&format!("{language:?}"))
            .copied()
            .unwrap_or_default();
        match languages::is_unread(language) {
            true => assert!(left_out >= 5, "only {left_out} cases of {language:?}"),
            false => assert_eq!(left_out, 0, "{language:?} is read"),
        }
    }
}

/// A key of tables that selects calls.
struct CallKey {
    name: &'static str,
    is_key_of: fn(&ProgramEntry) -> bool,
    selects: fn(&Part) -> bool,
}

const CALL_KEYS: [CallKey; 6] = [
    CallKey {
        name: "outside",
        is_key_of: |entry| entry.has_outside,
        selects: |part| Tables::embedded().works_outside(part),
    },
    CallKey {
        name: "installs",
        is_key_of: |entry| entry.has_installs,
        selects: |part| {
            part.effect_with_children > Crud::Read && Tables::embedded().installs_packages(part)
        },
    },
    CallKey {
        name: "runs_packages",
        is_key_of: |entry| entry.has_runs_packages,
        selects: |part| Tables::embedded().runs_packages(part),
    },
    CallKey {
        name: "places_links",
        is_key_of: |entry| entry.has_places_links,
        selects: |part| Tables::embedded().places_links(part),
    },
    CallKey {
        name: "controls",
        is_key_of: |entry| entry.has_controls,
        selects: |part| !Tables::embedded().controls(part).is_empty(),
    },
    CallKey {
        name: "sets_shell_variables",
        is_key_of: |entry| entry.has_sets_shell_variables,
        selects: |part| Tables::embedded().sets_shell_variables(part),
    },
];

#[test]
fn every_key_that_selects_calls_has_a_case_for_each_of_its_programs() {
    let entries = programs();
    let keys = CALL_KEYS.iter();
    let mut missing: Vec<(&CallKey, &ProgramEntry)> = keys
        .flat_map(|key| entries.iter().map(move |entry| (key, entry)))
        .filter(|(key, entry)| (key.is_key_of)(entry))
        .collect();
    assert!(missing.len() >= 100, "the keys are read");
    let classifier = Classifier::new();
    for case in cases() {
        let is_named =
            |entry: &ProgramEntry| entry.names.iter().any(|name| case.command.contains(name));
        if !missing.iter().any(|(_, entry)| is_named(entry)) {
            continue;
        }
        let parts = classifier.analyze(&case.command).expect("a command").parts;
        for part in &parts.all {
            let Some(name) = part.program() else { continue };
            missing.retain(|(key, entry)| {
                let is_entry = entry.names.iter().any(|known| known == name);
                !(is_entry && (key.selects)(part))
            });
        }
    }
    let missing: Vec<String> = missing
        .iter()
        .map(|(key, entry)| format!("{} of {}", key.name, entry.names.join(" ")))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// A second case for a command tests nothing, and with another label it contradicts the first case.
/// A command may have one case for each set of shells.
#[test]
fn every_command_has_one_case() {
    let cases = cases();
    let mut places = HashMap::new();
    let mut duplicates = Vec::new();
    for Case {
        file,
        line,
        shells,
        command,
        ..
    } in &cases
    {
        if let Some((first, at)) = places.insert((command, *shells), (file, line)) {
            duplicates.push(format!("{file}:{line}: {command:?}; see also {first}:{at}"));
        }
    }
    assert!(
        duplicates.is_empty(),
        "{} duplicate cases:\n{}",
        duplicates.len(),
        duplicates.join("\n")
    );
}

/// Maximum number of files with the same comment; a comment in many files is a heading that does
/// not describe the cases below it.
const MAX_FILES_WITH_SAME_COMMENT: usize = 7;

#[test]
fn every_comment_describes_the_cases_below_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = Vec::new();
    add_files(&folder, &mut files);
    files.sort();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).expect("a readable file");
        let mut lines = text.lines().peekable();
        let mut comments = BTreeSet::new();
        while let Some(line) = lines.next() {
            if !line.starts_with('#') || line.starts_with("# shells: ") {
                continue;
            }
            if lines.peek().is_none_or(|next| next.trim().is_empty()) {
                wrong.push(format!("{}: no case below `{line}`", path.display()));
            }
            comments.insert(line.to_owned());
        }
        for comment in comments {
            *counts.entry(comment).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > MAX_FILES_WITH_SAME_COMMENT);
    for (comment, count) in counts {
        wrong.push(format!(
            "{count} files contain `{comment}`; describe the cases instead"
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_of_cases_has_a_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut files = Vec::new();
    add_files(&folder, &mut files);
    files.retain(|path| !path.with_extension("toml").exists());
    assert_eq!(files, Vec::<PathBuf>::new());
}

/// Returns the items with commas between them, in lines of at most 120 bytes.
fn wrapped(items: &[String]) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for item in items {
        if !line.is_empty() {
            line.push(',');
            if line.len() + item.len() + 2 > 120 {
                text += &line;
                text.push('\n');
                line.clear();
            } else {
                line.push(' ');
            }
        }
        line += item;
    }
    text + &line + "\n"
}

/// The page about tables lists the programs with the key `checked`: in a table, and those of the
/// recorder in a paragraph. `HOOKS_WRITE=1` rewrites both lists.
#[test]
fn checked_programs_are_listed_on_the_page_about_tables() {
    const BEGIN: &str = "<!-- checked: written by the test of the cases -->\n";
    const END: &str = "<!-- end of checked -->\n";
    const RECORDER: &str = "contrib/recorder";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/classifier-tables.md");
    let text = fs::read_to_string(&page).expect("the page about tables");
    let (head, rest) = text.split_once(BEGIN).expect("the begin of the list");
    let (listed, tail) = rest.split_once(END).expect("the end of the list");
    let (mut rows, mut recorded) = (Vec::new(), Vec::new());
    for program in programs() {
        if let Some(checked) = program.last_check {
            let TableCheck {
                program,
                version,
                by,
                on,
            } = checked;
            if let Some(rest) = by.strip_prefix(RECORDER) {
                // `contrib/recorder (gawk)`: another program of the entry ran.
                let named = rest
                    .strip_prefix(" (")
                    .and_then(|rest| rest.split(')').next());
                recorded.push(format!("`{}` {version}", named.unwrap_or(program)));
            } else {
                rows.push(format!("| `{program}` | {version} | {by} | {on} |\n"));
            }
        }
    }
    rows.sort();
    recorded.sort();
    let wanted = format!(
        "\n| Program | Version | By | Day |\n|---|---|---|---|\n{}\n`{RECORDER}` ran reading commands of {} programs:\n{}\n",
        rows.concat(),
        recorded.len(),
        wrapped(&recorded)
    );
    if env::var_os("HOOKS_WRITE").is_some() {
        fs::write(&page, [head, BEGIN, &wanted, END, tail].concat()).expect("a page to write");
    } else {
        assert_eq!(listed, wanted, "run the test with `HOOKS_WRITE=1`");
    }
    assert!(rows.len() >= 5, "{rows:?}");
}

/// Programs without an allowed case: each call starts a server that continues, or writes a file of the
/// project.
const NEVER_ALLOWED: &[&str] = &[
    "adb shell content",
    "adb shell dumpsys",
    "adb shell logcat",
    "adb shell settings",
    "adb shell wm",
    "openapi-generator-cli",
    "pm2",
    "rabbitmq-diagnostics",
];

/// A program needs an allowed case and a confirmed case; one case is enough if every call has the
/// same effect, or none is allowed.
#[test]
fn every_program_has_enough_cases() {
    let mut forms: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for case in cases() {
        for word in case
            .command
            .split(|c: char| c.is_whitespace() || "|;&()'\"`".contains(c))
        {
            let name = word.rsplit('/').next().unwrap_or(word);
            let entry = forms.entry(name.to_owned()).or_default();
            entry.0 |= !case.ask;
            entry.1 |= case.ask;
        }
    }
    let known = programs();
    assert!(known.len() >= 250, "only {} names of programs", known.len());
    let mut missing = Vec::new();
    for program in known {
        // Aliases of an entry share its cases.
        let seen = program.names.iter().fold((false, false), |all, name| {
            let last = name.rsplit(' ').next().unwrap_or(name);
            let (read, other) = forms.get(last).copied().unwrap_or_default();
            (all.0 || read, all.1 || other)
        });
        let is_never_allowed = NEVER_ALLOWED.contains(&program.names[0].as_str());
        let enough = if program.has_single_effect || is_never_allowed {
            seen.0 || seen.1
        } else {
            seen.0 && seen.1
        };
        if !enough {
            missing.push(program.names[0].clone());
        }
    }
    missing.sort();
    assert!(
        missing.is_empty(),
        "{} programs lack cases: {}",
        missing.len(),
        missing.join(", ")
    );
}
