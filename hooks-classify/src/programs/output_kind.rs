//! Kinds of output: the words of a command whose output is unknown in, the kind of the output out.

use crate::model::arg::Arg;
use crate::model::environment::Environment;
use crate::model::io::OutputKind;
use crate::model::program_name::without_system_folder;
use crate::model::value::is_numeric;

/// Returns `true` if a command prints its words and nothing else, not even errors.
pub(crate) fn prints_only_words(command: &str) -> bool {
    matches!(command, "echo" | "printf")
}

/// Returns `true` if a command reads none of the files that its words may name.
pub(crate) fn reads_no_files(command: &str) -> bool {
    matches!(command, "echo" | "printf" | "test" | "[")
}

/// Returns `true` if the output of a command follows from its words and its input.
pub(crate) fn has_known_output(command: &str) -> bool {
    matches!(
        command,
        ":" | "true"
            | "echo"
            | "printf"
            | "cat"
            | "base64"
            | "gbase64"
            | "openssl"
            | "rev"
            | "xxd"
            | "tr"
            | "git"
            | "pwd"
    )
}

/// Returns the kind of the output of a command, for which `input` is the kind of its input.
pub(crate) fn output_kind(
    args: &[Arg],
    environment: &Environment,
    input: OutputKind,
) -> OutputKind {
    let Some((name, args)) = args.split_first() else {
        return OutputKind::Numbers;
    };
    if environment.aliases.contains_key(&name.text) {
        return OutputKind::Anything;
    }
    if environment.functions.contains_key(&name.text) {
        // The commands of the function decide.
        return OutputKind::Numbers;
    }
    let known = args.iter().all(|arg| arg.is_known() && !arg.glob);
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let (flags, operands): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.starts_with(['-', '+']));
    let flagged = |letters: &str| {
        flags
            .iter()
            .any(|flag| !flag.starts_with("--") && flag.contains(|c| letters.contains(c)))
    };
    let number = |arg: &Arg| match arg.is_known() {
        true => is_numeric(&arg.text),
        false => arg.inert,
    };
    let name = without_system_folder(&name.text);
    let flags_within = |letters: &str| {
        flags
            .iter()
            .all(|flag| flag[1..].chars().all(|c| letters.contains(c)))
    };
    let prints_numbers = match name {
        // These commands print nothing.
        "test" | "[" | "[[" | "true" | "false" | ":" | "sleep" | "exit" | "return" | "shift"
        | "break" | "continue" | "unset" | "read" | "let" | "wait" => true,
        "echo" | "seq" => args.iter().all(number),
        "printf" => prints_only_arguments(&words) && args.iter().skip(1).all(number),
        "expr" => args
            .iter()
            .all(|arg| number(arg) || ["+", "-", "*", "/", "%"].contains(&arg.text.as_str())),
        "awk" | "gawk" | "mawk" if prints_sums(args) => true,
        _ if !known => false,
        "nproc" => true,
        "pgrep" => flags_within("fxoniuPtgs"),
        "bc" => words.is_empty() && input == OutputKind::Numbers,
        "wc" => operands.is_empty() && flags_within("clmwL"),
        "date" => words
            .iter()
            .any(|word| word.strip_prefix('+').is_some_and(is_numeric_date_format)),
        "id" => flagged("ugG") && !flagged("n"),
        "tput" => matches!(words.as_slice(), ["cols" | "lines"]),
        "stat" => match words.as_slice() {
            ["-c" | "-f", format, _] => is_numeric_stat_format(format),
            [format, _] => format
                .strip_prefix("-c")
                .is_some_and(is_numeric_stat_format),
            _ => false,
        },
        "grep" | "egrep" | "fgrep" => {
            let counts = flagged("c") || words.contains(&"--count");
            let short = flags.iter().all(|flag| {
                *flag == "--count" || flag[1..].chars().all(|c| "civwxEFPm".contains(c))
            });
            counts && short && operands.len() <= 2
        }
        "git" => match words.as_slice() {
            ["rev-list", "--count", ..] => true,
            ["log", options @ ..] => {
                let is_plain = |word: &&str| {
                    !word.starts_with('-')
                        || *word == "--"
                        || is_time_format(word)
                        || word[1..].chars().all(|c| c.is_ascii_digit())
                };
                options.iter().any(|word| is_time_format(word)) && options.iter().all(is_plain)
            }
            _ => false,
        },
        "jq" => {
            flags_within("rceMsS")
                && operands.first().is_some_and(|filter| {
                    *filter == "length" || filter.trim_end().ends_with("| length")
                })
        }
        "curl" => {
            let discards_output = words
                .windows(2)
                .any(|pair| pair[0].ends_with('o') && pair[1] == "/dev/null");
            let format = words
                .iter()
                .position(|word| matches!(*word, "-w" | "--write-out"))
                .and_then(|at| words.get(at + 1));
            let long = ["--write-out", "--max-time", "--connect-timeout"];
            let plain = flags.iter().all(|flag| {
                long.contains(flag) || flag[1..].chars().all(|c| "sSoLkfIXmw".contains(c))
            });
            discards_output && plain && format.is_some_and(|format| is_numeric_curl_format(format))
        }
        "cut" => {
            let first = |words: &[&str]| matches!(words, ["-f1"] | ["-f", "1"]);
            let parted = |by: &str| match words.as_slice() {
                ["-d", sign, rest @ ..] => *sign == by && first(rest),
                [joined, rest @ ..] if joined.starts_with("-d") => {
                    joined[2..] == *by && first(rest)
                }
                rest => by == "\t" && first(rest),
            };
            match input {
                OutputKind::Counted(sign) => parted(sign.encode_utf8(&mut [0; 4])),
                OutputKind::Anything | OutputKind::Numbers => false,
            }
        }
        "awk" | "gawk" | "mawk" => {
            let counted = matches!(input, OutputKind::Numbers | OutputKind::Counted(' ' | '\t'));
            counted && matches!(words.as_slice(), ["{print $1}" | "{ print $1 }"])
        }
        "tr" => match words.as_slice() {
            ["-d", _] => input == OutputKind::Numbers,
            ["-dc" | "-cd", kept] => kept
                .replace("[:digit:]", "")
                .chars()
                .all(|c| c.is_ascii_digit() || "-.\n".contains(c)),
            _ => false,
        },
        "xargs" => input == OutputKind::Numbers && words.is_empty(),
        _ => false,
    };
    match name {
        _ if prints_numbers => OutputKind::Numbers,
        "wc" | "cksum" | "sum" if known && flags_within("clmwL") => OutputKind::Counted(' '),
        "du" if known && flags_within("sbkmacx") => OutputKind::Counted('\t'),
        "grep" | "egrep" | "fgrep"
            if known && flagged("n") && flags_within("civnowxEFPm") && operands.len() <= 2 =>
        {
            OutputKind::Counted(':')
        }
        // These commands print some lines of their input.
        "head" | "tail" if known && prints_first_or_last_lines(&words) => input,
        "sort" if flags_within("nru") && operands.is_empty() => input,
        "cat" | "uniq" if words.is_empty() => input,
        _ => OutputKind::Anything,
    }
}

/// Returns `true` if `head` or `tail` gets a number of lines and no file.
fn prints_first_or_last_lines(words: &[&str]) -> bool {
    let number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    match words {
        [] => true,
        ["-n", count] => number(count),
        [flag] => {
            number(flag.trim_start_matches("-n").trim_start_matches('-'))
                && flag.len() > 1
                && flag.starts_with('-')
        }
        _ => false,
    }
}

/// Returns `true` if a format of `printf` prints only its arguments and numbers.
fn prints_only_arguments(words: &[&str]) -> bool {
    words.first().is_some_and(|format| {
        let rest = format
            .replace("%s", "")
            .replace("%d", "")
            .replace("\\n", "");
        rest.chars().all(|c| c.is_ascii_digit() || c == ' ')
    })
}

/// Returns `true` if an option makes `git log` print the time of each commit as a number.
fn is_time_format(word: &str) -> bool {
    let format = word.strip_prefix("--format=");
    let format = format.or_else(|| word.strip_prefix("--pretty=format:"));
    matches!(format, Some("%ct" | "%at"))
}

/// Returns `true` if each `print` of an awk program prints a number: a sum with a number, a count of
/// records or fields, or a variable to which the program and the words behind it assign only sums.
fn prints_sums(args: &[Arg]) -> bool {
    let Some((program, files)) = args.split_first() else {
        return false;
    };
    let text = program.text.as_str();
    let others = [
        "printf", "getline", "OFS", "ORS", "OFMT", "CONVFMT", "print(", "@", "sub(", "split(",
    ];
    let is_plain = program.is_known()
        && program.overridden.is_none()
        && !text.starts_with('-')
        && !others.iter().any(|other| text.contains(other));
    let assigns_nothing = |file: &Arg| file.is_known() && !file.glob && !file.text.contains('=');
    let mut prints = text.split("print").skip(1);
    is_plain
        && text.contains("print")
        && prints.all(|rest| {
            let end = rest.find([';', '}', '\n']).unwrap_or(rest.len());
            let printed = rest[..end].trim();
            let sum = printed
                .split_once('+')
                .is_some_and(|(one, other)| is_name(one.trim()) && other.trim() == "0");
            let is_sum = || files.iter().all(assigns_nothing) && is_only_summed(printed, text);
            rest.starts_with(' ') && (sum || matches!(printed, "NR" | "NF") || is_sum())
        })
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns `true` if an awk program changes a variable only by `+=` and `++`.
fn is_only_summed(name: &str, program: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut uses = program.match_indices(name).filter(|(at, _)| {
        let (before, after) = (&program[..*at], &program[at + name.len()..]);
        !before.ends_with(part) && !after.starts_with(part)
    });
    is_name(name)
        && uses.all(|(at, _)| {
            let before = program[..at].trim_end();
            let after = program[at + name.len()..].trim_start();
            let is_end = after.is_empty() || after.starts_with([';', '}']);
            let is_counted = after.starts_with("+=") || after.starts_with("++");
            is_counted || is_end && (before.ends_with("print") || before.ends_with("++"))
        })
}

/// Returns `true` if the format of a date prints only numbers.
fn is_numeric_date_format(format: &str) -> bool {
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        let number = match c {
            '%' => rest
                .next()
                .is_some_and(|c| "sYymdHMSNjuwUVWCGgIklFT".contains(c)),
            _ => c.is_ascii_digit() || "-:. ".contains(c),
        };
        if !number {
            return false;
        }
    }
    true
}

/// Returns `true` if a format of `stat` prints only numbers.
fn is_numeric_stat_format(format: &str) -> bool {
    matches!(
        format,
        "%s" | "%Y" | "%X" | "%Z" | "%h" | "%i" | "%a" | "%u" | "%g" | "%b"
    )
}

/// Returns `true` if a format of `curl --write-out` prints a number.
fn is_numeric_curl_format(format: &str) -> bool {
    matches!(
        format.trim_end_matches("\\n"),
        "%{http_code}" | "%{response_code}" | "%{time_total}" | "%{size_download}"
    )
}
