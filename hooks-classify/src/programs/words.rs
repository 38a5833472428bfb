//! Words in the notations of their programs: the words of a call in, the files and programs that they
//! name out.

use crate::analysis::Analysis;
use crate::model::arg::{Arg, display_text};
use crate::model::effect::Effect;
use crate::model::io::Input;
use crate::model::notation::{FileNotation, ProgramNotation};
use crate::model::span::Span;
use crate::options::call::Call;

/// Notes addresses that name programs: `ext::COMMAND` and other helpers of git,
/// `:backend,key=value:` of rclone.
pub(super) fn note_remotes(analysis: &mut Analysis, call: &Call) {
    let details = call.program.details;
    let notation = match details.programs_in_words {
        Some(ProgramNotation::RemoteHelper) if details.offline => return,
        Some(notation) => notation,
        None => return,
    };
    let values = call.options.iter().filter_map(|opt| opt.value.as_ref());
    for arg in call
        .operands
        .iter()
        .map(|operand| &operand.arg)
        .chain(values)
    {
        let text = &arg.text;
        let command = match (notation, text.split_once("::")) {
            (ProgramNotation::RemoteHelper, Some(("ext", command))) => Some(command.to_owned()),
            (ProgramNotation::RemoteHelper, Some((name, _))) => {
                name.chars().all(char::is_alphanumeric).then(String::new)
            }
            (ProgramNotation::RemoteHelper, None) => None,
            (ProgramNotation::Formula, _) => {
                (text.ends_with(".rb") || text.contains("://")).then(String::new)
            }
            (ProgramNotation::Backend, _) => {
                (text.contains(',') && text.contains('=')).then(String::new)
            }
        };
        let Some(command) = command else { continue };
        analysis.add_finding(
            Effect::Code,
            arg.span,
            format!("`{}` may name a program", display_text(arg)),
        );
        if !command.is_empty() {
            analysis.run_shell_text(&arg.with_text(&command), &Input::Unknown);
        }
    }
}

/// Notes files that words name in notations of their own: `file://FILE`, `@FILE`, a string in a program.
pub(super) fn note_files_in_words(analysis: &mut Analysis, call: &Call) {
    let words: &[Arg] = &call.args;
    let Some(notation) = call.program.details.files_in_words else {
        return;
    };
    match notation {
        FileNotation::Url => {
            for arg in words {
                for mark in ["fileb://", "file://"] {
                    if let Some((_, file)) = arg.text.split_once(mark) {
                        analysis.read_file(&arg.with_text(file));
                    }
                }
            }
        }
        FileNotation::At => {
            for arg in words {
                if let Some((before, file)) = arg.text.split_once('@')
                    && (before.is_empty() || before.ends_with('='))
                {
                    analysis.read_file(&arg.with_text(file));
                }
            }
        }
        // `--from-file=NAME=FILE`
        FileNotation::FromFile => {
            let from = call.options.iter().filter(|opt| opt.name == "--from-file");
            for value in from.filter_map(|opt| opt.value.clone()) {
                if let Some((_, file)) = value.text.split_once('=') {
                    analysis.read_file(&value.with_text(file));
                }
            }
        }
        FileNotation::Encrypted if call.has_option(&["-d", "--decrypt"]) => {
            for operand in &call.operands {
                let text = &operand.arg.text;
                let stem = [".gpg", ".asc", ".pgp"]
                    .iter()
                    .find_map(|end| text.strip_suffix(end));
                analysis.read_file(&operand.arg.with_text(stem.unwrap_or(text)));
                analysis.read_file(&operand.arg);
            }
        }
        FileNotation::Encrypted => {}
        FileNotation::Member => {
            for arg in words {
                let value = arg.text.split_once(['=', '@']).map_or("", |(_, v)| v);
                let file = value.strip_prefix(['@', ':', '%']).unwrap_or(value);
                let joined = arg.text.contains('@') || value != file;
                for file in [file, arg.text.trim_start_matches([':', '%'])] {
                    if joined || arg.text != file {
                        analysis.read_file(&arg.with_text(file));
                    }
                }
            }
        }
        FileNotation::Source => {
            for arg in words {
                if let Some(file) = arg.text.strip_prefix("file:") {
                    let file = file.strip_prefix("//").unwrap_or(file);
                    analysis.read_file(&arg.with_text(file));
                }
            }
        }
        // A path needs no quotes.
        FileNotation::Expression => {
            for arg in words {
                for part in arg
                    .text
                    .split(|c: char| c.is_whitespace() || "'\"()[]{};,=".contains(c))
                {
                    note_string(analysis, arg, part);
                }
            }
        }
        FileNotation::Quoted => {
            for arg in words {
                for (at, part) in arg.text.split(['\'', '"']).enumerate() {
                    if at % 2 == 1 {
                        note_string(analysis, arg, part);
                    }
                }
            }
        }
    }
}

/// Notes effects of some services' commands that their tables do not describe.
pub(super) fn note_services(analysis: &mut Analysis, call: &Call) {
    match call.path.split(' ').next() {
        Some("az") => note_shown_keys(analysis, call),
        // A module that is not known here is asked for on a server.
        Some("go") if call.path == "go list" && call.has_option(&["-m"]) => {
            for operand in call.operands.iter().filter(|o| !o.arg.is_known()) {
                let reason = "`go list` sends the value of an expansion over the network";
                analysis.require_confirmation(operand.arg.span, reason);
            }
        }
        _ => {}
    }
}

/// Requires confirmation for a command that prints the keys of a service.
fn note_shown_keys(analysis: &mut Analysis, call: &Call) {
    // Services print their keys under one of these names, at any depth.
    let keys = |part: &str| {
        [
            "key",
            "keys",
            "credential",
            "credentials",
            "connection-string",
            "connection-strings",
            "admin-key",
            "query-key",
            "shared-key",
            "secrets",
            "appsettings",
        ]
        .contains(&part)
    };
    let shows = call.path.ends_with(" list") || call.path.ends_with(" show");
    if shows && !call.path.contains(" keyvault ") && call.path.split(' ').any(keys) {
        let span = call.args.last().map_or(Span::default(), |arg| arg.span);
        analysis.require_confirmation(span, format!("`{}` shows credentials", call.path));
    }
}

/// Notes a file that a string names. A word alone may be anything.
fn note_string(analysis: &mut Analysis, arg: &Arg, text: &str) {
    let path = text.strip_prefix("file:").unwrap_or(text);
    if path.contains('/') || path.starts_with(".env") || path.starts_with("id_") {
        analysis.read_file(&arg.with_text(path));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Classifier, Decision};

    #[test]
    fn every_name_of_a_program_needs_confirmation_for_secrets() {
        for (names, words) in [
            (["expr", "gexpr"], "$GITHUB_TOKEN : x"),
            (["basename", "gbasename"], "$GITHUB_TOKEN"),
            (["cowsay", "cowthink"], "$GITHUB_TOKEN"),
            (["aws", "awslocal"], "s3 ls file://~/.ssh/id_rsa"),
            (["yq", "tomlq"], "'load(\"~/.ssh/id_rsa\")' a.yml"),
            (
                ["psql", "pgcli"],
                "-c \"select pg_read_file('~/.ssh/id_rsa')\"",
            ),
        ] {
            for name in names {
                let command = format!("{name} {words}");
                let classification = Classifier::new().classify(&command).unwrap();
                assert_eq!(
                    classification.decision,
                    Decision::RequiresConfirmation,
                    "{command}"
                );
            }
        }
    }
}
