//! `find` and `fd`: a call in, the files that they find and the actions on these files out.

use super::roles::note_role;
use crate::analysis::{Analysis, Context, PathSource};
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::possible_path::PossiblePath;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Analyzes `find`, which may run, delete and write.
pub(super) fn find(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let args = &call.args;
    let mut at = 0;
    let mut folders = Vec::new();
    while at < args.len() && !args[at].text.starts_with(['-', '(', '!']) {
        folders.push(args[at].clone());
        at += 1;
    }
    // One unknown word is most likely a folder; more words may be actions.
    let may_be_several = |(at, arg): &(usize, &Arg)| !arg.is_known() && (*at > 0 || arg.may_split);
    if let Some((_, arg)) = folders.iter().enumerate().find(may_be_several) {
        analysis.add_finding(
            Effect::Unknown,
            arg.span,
            "the words of `find` are only known when it runs",
        );
    }
    let found = possible_results(context, args, &folders);
    // The next command of the pipeline gets the names of these files.
    found
        .iter()
        .for_each(|path| analysis.add_pipeline_path(path.clone()));
    let path_of_found = path_of_results(context, args, &folders);
    let mut base = Effect::Read;
    while at < args.len() {
        let arg = &args[at];
        let text = arg.text.as_str();
        at += 1;
        if !arg.is_known() && !text.starts_with('-') {
            analysis.add_finding(
                Effect::Unknown,
                arg.span,
                "the words of `find` are only known when it runs",
            );
        }
        match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut words: Vec<Arg> = Vec::new();
                while at < args.len() {
                    let word = &args[at];
                    at += 1;
                    if word.text == ";" {
                        break;
                    }
                    if word.text == "+"
                        && let Some(last) = words.last().cloned()
                        && last.text.contains(UNKNOWN)
                    {
                        // As many as fit, in one call.
                        words.push(last);
                        break;
                    }
                    let mut replaced =
                        word.with_text(&word.text.replace("{}", &UNKNOWN.to_string()));
                    if word.text == "{}" {
                        replaced.resolved_path.clone_from(&path_of_found);
                    }
                    words.push(replaced);
                }
                if words.is_empty() {
                    analysis.add_finding(
                        Effect::Unknown,
                        arg.span,
                        format!("`find` with `{text}` names no command"),
                    );
                } else {
                    let paths = PathSource::Known(found.clone());
                    analysis.with_paths(paths, |inner| inner.run_words(words, &Input::Inherited));
                }
            }
            "-delete" => analysis.add_finding(
                Effect::Delete,
                arg.span,
                "`find` with `-delete` deletes the files it finds",
            ),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = args.get(at) {
                    note_role(
                        &mut analysis,
                        context,
                        call,
                        Role::Output,
                        std::slice::from_ref(file),
                        input,
                    );
                }
                at += if text == "-fprintf" { 2 } else { 1 };
            }
            // The names in it are printed, if it names no files.
            "-files0-from" => {
                if let Some(file) = args.get(at) {
                    analysis.read_file(file);
                }
                at += 1;
            }
            "(" | ")" | "!" | "," => {}
            _ if text.starts_with('-') => {
                let other = format!("-{}", text.trim_start_matches('-'));
                match call
                    .program
                    .options
                    .get(text)
                    .or_else(|| call.program.options.get(&other))
                {
                    Some(option) if option.arity == crate::tables::ValueArity::Required => at += 1,
                    Some(_) => {}
                    None => {
                        analysis.add_finding(
                            Effect::Unknown,
                            arg.span,
                            format!("unknown test or action `{text}` of `find`"),
                        );
                        base = Effect::Read;
                    }
                }
            }
            // A word that may be anything, or a folder after the options `-H`, `-L`, `-P`.
            _ => {}
        }
    }
    analysis.add_finding(base, whole, "`find` looks for files");
    analysis.done()
}

/// Returns the files that are found: secrets by their names, or else the folders that are searched.
fn possible_results(context: &Context<'_>, args: &[Arg], folders: &[Arg]) -> Vec<PossiblePath> {
    let named: Vec<&str> = tested_names(args);
    if !named.is_empty()
        && named
            .iter()
            .all(|name| context.tables.is_harmless_file(name))
    {
        return Vec::new();
    }
    let by_name = possible_secret(context, args, folders);
    if by_name.is_none() && finds_only_source(context, args) {
        return Vec::new();
    }
    if args.iter().any(|arg| arg.text == "-files0-from") {
        let path = "…".to_owned();
        return vec![PossiblePath { path, secret: true }];
    }
    let by_name = by_name.map(|path| PossiblePath { path, secret: true });
    let folders: Vec<PossiblePath> = match folders {
        [] => vec![context.possible_path(".")],
        folders => {
            let folders = folders.iter().map(Arg::path);
            folders
                .map(|folder| context.possible_path(folder))
                .collect()
        }
    };
    by_name.into_iter().chain(folders).collect()
}

/// Returns the path of the files that are found, as far as it is known.
fn path_of_results(context: &Context<'_>, args: &[Arg], folders: &[Arg]) -> Option<String> {
    let folder = match folders {
        [] => ".",
        [folder] => folder.path(),
        _ => return None,
    };
    if args.iter().any(|arg| arg.text == "-files0-from") {
        return None;
    }
    let named = tested_names(args);
    let harmless = !named.is_empty()
        && named
            .iter()
            .all(|name| context.tables.is_harmless_file(name));
    let end = match (harmless, finds_only_source(context, args)) {
        (true, _) => ".pub",
        (_, true) => ".rs",
        _ => "",
    };
    Some(format!("{}/{UNKNOWN}{end}", folder.trim_end_matches('/')))
}

/// Returns the names and paths that `find` tests for.
fn tested_names(args: &[Arg]) -> Vec<&str> {
    args.windows(2)
        .filter(|pair| matches!(pair[0].text.as_str(), "-name" | "-iname" | "-path"))
        .map(|pair| pair[1].text.as_str())
        .collect()
}

/// Returns `true` if the first action of `find` gets only source texts, according to the tests
/// before it.
fn finds_only_source(context: &Context<'_>, args: &[Arg]) -> bool {
    let (mut named, mut depth) = (false, 0_usize);
    let mut words = args.iter().map(|arg| arg.text.as_str()).peekable();
    while let Some(word) = words.next() {
        match word {
            "-name" | "-iname" => match words.next() {
                Some(name) if context.tables.is_source(name) => named = true,
                _ => return false,
            },
            // Files that a test leaves out do not count.
            "!" | "-not" => match words.next() {
                Some("-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-type") => {
                    words.next();
                }
                _ => return false,
            },
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "-o" | "-or" if depth > 0 => {}
            "-o" | "-or" | "," => return false,
            _ if ACTIONS.contains(&word) => break,
            _ if depth > 0 => return false,
            _ => {}
        }
    }
    // Behind an action other tests may begin.
    named && !words.any(|word| matches!(word, "-o" | "-or" | ","))
}

/// Action of `find` on the files that it finds.
const ACTIONS: &[&str] = &[
    "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-printf", "-fprint", "-fprint0",
    "-fprintf", "-ls", "-fls", "-delete",
];

/// Returns a path of secrets that may be among the files that are found.
fn possible_secret(context: &Context<'_>, args: &[Arg], folders: &[Arg]) -> Option<String> {
    let tests_and_folders = args
        .iter()
        .take_while(|arg| !matches!(arg.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
    let tests = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
    ];
    let searched = args.windows(3).chain(args.get(..2)).find_map(|words| {
        let [.., test, pattern] = words else {
            return None;
        };
        let negated = words.len() == 3 && matches!(words[0].text.as_str(), "!" | "-not");
        let name = pattern.text.rsplit('/').next().unwrap_or("");
        let name = name.replace(['\\', '^', '$'], "");
        // In a path, `*` also matches parent folders.
        let below = name.trim_start_matches(['*', '.']);
        let searched = [name.as_str(), below]
            .iter()
            .any(|name| context.tables.matches_secret_names(name));
        let hit = tests.contains(&test.text.as_str())
            && !negated
            && !context.tables.is_source(&name)
            && searched;
        hit.then_some(name)
    });
    if searched.is_some() {
        return searched;
    }
    let named = tested_names(args);
    let secret = |text: &str| context.tables.may_read_secrets(text);
    // `/proc` and `environ`: at any depth.
    let below = folders.iter().find_map(|folder| {
        let folder = folder.text.trim_end_matches('/');
        let below = |name: &&str| [format!("{folder}/{name}"), format!("{folder}/*/{name}")];
        named.iter().flat_map(below).find(|path| secret(path))
    });
    if below.is_some() {
        return below;
    }
    tests_and_folders
        .map(|arg| arg.text.as_str())
        .find(|text| {
            // The end of a pattern decides.
            let end = text.rsplit(['*', '/']).next().unwrap_or(text);
            secret(text) || secret(&text.to_lowercase()) || secret(end.trim_end_matches('$'))
        })
        .map(str::to_owned)
}

/// Returns the files that `fd` finds: secrets by their names, or else the folders that are
/// searched.
fn possible_results_of_fd(context: &Context<'_>, call: &Call) -> Vec<PossiblePath> {
    let values = |names: &[&str]| {
        let matching = call
            .options
            .iter()
            .filter(|opt| names.contains(&opt.name.as_str()));
        matching
            .filter_map(|opt| opt.value.as_ref())
            .collect::<Vec<_>>()
    };
    let endings = values(&["-e", "--extension"]);
    let endings = endings
        .iter()
        .map(|arg| format!("*.{}", arg.text.trim_start_matches('.')));
    let pattern = call
        .operands
        .first()
        .map(|operand| operand.arg.text.replace(['\\', '^', '$'], ""));
    let pattern = pattern.filter(|pattern| !pattern.is_empty() && pattern != ".");
    let names: Vec<String> = endings.chain(pattern).collect();
    let tables = context.tables;
    // A pattern is a part of a name, most often its beginning.
    let parts = |name: &str| [format!("{name}*"), format!("*{name}*")];
    let searched = |name: &String| {
        tables.matches_secret_names(name)
            || parts(name)
                .iter()
                .any(|part| tables.matches_secret_names(part))
    };
    let secret = |name: &&String| {
        !tables.is_source(name) && (tables.may_read_secrets(name) || searched(name))
    };
    let by_name = names.iter().find(secret).map(|name| PossiblePath {
        path: name.clone(),
        secret: true,
    });
    // A pattern is a part of a name, and an ending is its end.
    let sources = |name: &String| tables.is_source(name) || tables.is_source(&format!("*{name}"));
    if by_name.is_none() && names.iter().any(sources) {
        return Vec::new();
    }
    let folders = call.operands.iter().skip(1).map(|operand| &operand.arg);
    let mut folders: Vec<_> = folders
        .chain(values(&["--search-path", "--base-directory", "-C"]))
        .map(|arg| context.possible_path(arg.path()))
        .collect();
    if folders.is_empty() {
        folders.push(context.possible_path("."));
    }
    by_name.into_iter().chain(folders).collect()
}

/// Analyzes `fd`, which may run a command with the files that it finds.
pub(super) fn fd(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let args = &call.args;
    let start = args.iter().position(|arg| {
        let text = arg.text.as_str();
        ["--exec", "--exec-batch"]
            .iter()
            .any(|o| text == *o || text.starts_with(&format!("{o}=")))
            || (text.starts_with('-')
                && !text.starts_with("--")
                && text.contains(['x', 'X'])
                && !text.contains(UNKNOWN))
    });
    let call_without_command = Call::read(
        &call.path,
        call.program,
        &args[..start.unwrap_or(args.len())],
    );
    let found = possible_results_of_fd(context, &call_without_command);
    let Some(start) = start else {
        found
            .into_iter()
            .for_each(|path| analysis.add_pipeline_path(path));
        return analysis;
    };
    let text = &args[start].text;
    let joined = if text.starts_with("--") {
        text.split_once('=').map(|(_, value)| value.to_owned())
    } else {
        text.split_once(['x', 'X'])
            .map(|(_, value)| value.to_owned())
            .filter(|v| !v.is_empty())
    };
    let mut words: Vec<Arg> = joined
        .map(|text| args[start].with_text(&text))
        .into_iter()
        .collect();
    let end = args[start + 1..]
        .iter()
        .position(|arg| arg.text == ";")
        .map_or(args.len(), |i| start + 1 + i);
    words.extend_from_slice(&args[start + 1..end]);
    let batch = text.starts_with("--exec-batch") || (!text.starts_with("--") && text.contains('X'));
    let mut placed = false;
    let mut index_of_files = None;
    for (at, word) in words.iter_mut().enumerate() {
        for mark in ["{}", "{/}", "{//}", "{.}", "{/.}"] {
            if word.text.contains(mark) {
                placed = true;
                index_of_files = Some(at);
                *word = word.with_text(&word.text.replace(mark, &UNKNOWN.to_string()));
            }
        }
    }
    if !placed {
        index_of_files = Some(words.len());
        words.push(Arg::unknown(args[start].span));
    }
    // As many as fit, in one call.
    if let Some(at) = index_of_files.filter(|_| batch) {
        words.insert(at, words[at].clone());
    }
    analysis.with_paths(PathSource::Known(found), |inner| {
        inner.run_words(words, &Input::Inherited)
    });
    let mut rest = args[..start].to_vec();
    rest.extend_from_slice(args.get(end + 1..).unwrap_or(&[]));
    // There may be another command.
    let inner = Call::read(&call.path, call.program, &rest);
    let output = analysis.run_call(inner, whole, input);
    analysis.done_with(output)
}
