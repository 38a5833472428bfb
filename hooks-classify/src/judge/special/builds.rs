//! Judges of compilers and build programs.

use super::{Outcome, args};
use crate::judge::redirect::nowhere;
use crate::judge::{Input, Judge};
use crate::shell::Span;
use crate::tables::{Call, Effect};

/// The last `--cache-dir` counts.
pub(super) fn mypy(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let cache = call.options.iter().rev().find(|g| g.name == "--cache-dir");
    match cache.and_then(|given| given.value.as_ref()) {
        Some(value) if value.text == "/dev/null" => Outcome::Is(Effect::Read),
        _ => Outcome::Table,
    }
}

/// Compilers read only where they say so and write nothing.
pub(super) fn cc(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    let name = call.path.rsplit('/').next().unwrap_or("");
    let fact = |w: &&str| {
        matches!(
            *w,
            "--version"
                | "-v"
                | "-V"
                | "--help"
                | "-dumpversion"
                | "-dumpfullversion"
                | "-dumpmachine"
                | "-dumpspecs"
                | "-###"
                | "-qversion"
        ) || w.starts_with("-print-")
            || w.starts_with("--print-")
            || w.starts_with("-m")
            || w.starts_with("-std=")
    };
    if !words.is_empty() && words.iter().all(fact) {
        return Outcome::Is(Effect::Read);
    }
    if [
        "ld", "ld.lld", "ld.gold", "lld", "mold", "as", "nasm", "yasm",
    ]
    .contains(&name)
    {
        return Outcome::Is(Effect::Create);
    }
    let pre = name.ends_with("cpp") && !name.contains("++");
    if !pre
        && !words
            .iter()
            .any(|w| matches!(*w, "-fsyntax-only" | "-E" | "-M" | "-MM"))
    {
        return Outcome::Is(Effect::Create);
    }
    let mut operands = 0;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let valued = [
            "-I", "-D", "-U", "-isystem", "-iquote", "-include", "-x", "-target",
        ];
        if valued.contains(word) {
            at += 1;
        } else if *word == "-o" {
            if !words.get(at).is_some_and(|file| nowhere(file)) {
                return Outcome::Is(Effect::Create);
            }
            at += 1;
        } else if !word.starts_with('-') || *word == "-" {
            if word.starts_with('@') {
                return Outcome::Is(Effect::Create);
            }
            operands += 1;
        } else {
            let fine = matches!(
                *word,
                "-fsyntax-only"
                    | "-E"
                    | "-M"
                    | "-MM"
                    | "-w"
                    | "-pedantic"
                    | "-pedantic-errors"
                    | "-ansi"
                    | "-P"
                    | "-C"
                    | "-v"
                    | "-dM"
                    | "-dD"
                    | "-nostdinc"
                    | "-pthread"
                    | "-fPIC"
            ) || valued.iter().any(|v| word.starts_with(v) && v.len() == 2)
                || [
                    "-std=",
                    "-O",
                    "-g",
                    "-fdiagnostics-color",
                    "-fno-",
                    "-fmax-errors=",
                    "--target=",
                    "--std=",
                ]
                .iter()
                .any(|p| word.starts_with(p))
                || (word.starts_with("-W")
                    && !["-Wl,", "-Wa,", "-Wp,"].iter().any(|p| word.starts_with(p)))
                || (word.starts_with("-m")
                    && word
                        .chars()
                        .all(|c| c.is_alphanumeric() || "-=".contains(c)));
            if !fine {
                return Outcome::Is(Effect::Create);
            }
        }
    }
    if pre && operands > 1 {
        Outcome::Is(Effect::Create)
    } else {
        Outcome::Is(Effect::Read)
    }
}

pub(super) fn ninja(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let Some(tool) = call
        .options
        .iter()
        .find(|g| g.name == "-t")
        .and_then(|g| g.value.clone())
    else {
        return Outcome::Table;
    };
    if call.has(&["-n"]) {
        return Outcome::Is(Effect::Read);
    }
    let effect = match tool.text.as_str() {
        "list" | "targets" | "query" | "deps" | "commands" | "inputs" | "multi-inputs"
        | "compdb" | "compdb-targets" | "graph" | "rules" | "missingdeps" | "wincodepage" => {
            Effect::Read
        }
        "clean" | "cleandead" => Effect::Delete,
        "recompact" | "restat" => Effect::Update,
        _ => Effect::Unknown,
    };
    judge.find(
        effect,
        tool.span,
        format!("`ninja` runs its tool `{}`", tool.text),
    );
    Outcome::Is(effect)
}

pub(super) fn cmake(judge: &mut Judge<'_>, call: &Call, whole: Span, _: &Input) -> Outcome {
    let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    if words.first() == Some(&"-E") {
        let effect = match words.get(1).copied().unwrap_or("") {
            "capabilities" | "compare_files" | "environment" | "echo" | "cat" | "echo_append"
            | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "sleep" | "true" | "false" => {
                Effect::Read
            }
            "rename" | "touch_nocreate" => Effect::Update,
            "rm" | "remove" | "remove_directory" => Effect::Delete,
            "env" | "time" | "chdir" => Effect::Code,
            word if word.starts_with("copy")
                || word.starts_with("create_")
                || matches!(word, "make_directory" | "touch" | "tar") =>
            {
                Effect::Create
            }
            _ => Effect::Unknown,
        };
        judge.find(
            effect,
            whole,
            format!("`cmake -E {}`", words.get(1).copied().unwrap_or("")),
        );
        // What they run; it is confirmed in any case.
        let command = match words.get(1).copied() {
            Some("env") => words
                .iter()
                .skip(2)
                .position(|w| !w.contains('=') && !w.starts_with('-'))
                .map(|at| at + 2),
            Some("time") => Some(2),
            Some("chdir") => Some(3),
            _ => None,
        };
        if let Some(rest) = command.and_then(|at| call.args.get(at..))
            && !rest.is_empty()
        {
            judge.run(rest.to_vec(), &Input::Unknown);
        }
        return Outcome::Done(None);
    }
    let lists = words
        .iter()
        .any(|w| matches!(*w, "-L" | "-LA" | "-LH" | "-LAH"));
    if words.contains(&"-N") {
        return Outcome::Is(Effect::Read);
    }
    if lists {
        return Outcome::Is(Effect::Create);
    }
    Outcome::Table
}

pub(super) fn buildifier(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let value = |name: &str| {
        call.options
            .iter()
            .find(|g| g.name.trim_start_matches('-') == name)
            .and_then(|g| g.value.as_ref())
            .map(|v| v.text.clone())
    };
    let checks =
        value("mode").is_some_and(|m| ["check", "diff", "print_if_changed"].contains(&m.as_str()));
    if checks && value("lint").as_deref() != Some("fix") && !args(call).is_empty() {
        return Outcome::Is(Effect::Read);
    }
    Outcome::Table
}

/// `--flag false` takes back what the flag promises.
pub(super) fn flag_values(judge: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    for pair in call.args.windows(2) {
        let name = format!("-{}", pair[0].text.trim_start_matches('-'));
        let promises = call
            .program
            .options
            .get(&name)
            .is_some_and(|option| option.verb.is_some());
        if promises && (pair[1].text == "false" || !pair[1].known()) {
            judge.find(
                Effect::Create,
                pair[1].span,
                format!("`{}` may be told `false` by this", call.path),
            );
        }
    }
    Outcome::Table
}

/// Every operand is a goal; the strongest counts.
pub(super) fn goals(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    if call.operands.is_empty() {
        return Outcome::Table;
    }
    let effect = call
        .operands
        .iter()
        .map(|operand| {
            call.program
                .command(call.program, &operand.arg.text)
                .map_or(Effect::Code, |goal| goal.effect)
        })
        .max();
    Outcome::Is(effect.unwrap_or(Effect::Code))
}

/// Evaluates a flake: one in a folder has a lock file, which is brought up to date.
pub(super) fn flake(_: &mut Judge<'_>, call: &Call, _: Span, _: &Input) -> Outcome {
    let kept = ["--no-write-lock-file", "--expr", "-f", "--file"];
    if call.has(&kept) {
        return Outcome::Table;
    }
    let operands = args(call);
    let in_folder = |text: &str| {
        let folders = ["#", ".", "/", "~", "path:", "git+file:", "file:", "?"];
        let starts = folders.iter().any(|start| text.starts_with(start));
        text.is_empty() || starts && !text.starts_with("/nix/store/")
    };
    let local = operands.is_empty()
        || operands
            .iter()
            .any(|operand| !operand.known() || in_folder(&operand.text));
    Outcome::Is(match local {
        true => Effect::Create,
        false => Effect::Read,
    })
}
