//! Programs that may print secrets: a call in, findings that require
//! confirmation out.

use super::effect::prints_help_or_version;
use super::git::log_options;
use crate::analysis::{Analysis, Context};
use crate::languages::HASHES;
use crate::model::arg::Arg;
use crate::model::io::Input;
use crate::model::span::Span;
use crate::options::call::{Call, ParsedOption};

/// Analyzes a program that prints keys unless an option keeps them back.
pub(super) fn private_keys(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let kept = [
        "-noout", "-pubout", "-pubin", "-nokeys", "-help", "--help", "-export", "-certs", "-crls",
    ];
    let stated = |opt: &ParsedOption| {
        let name = opt.name.trim_start_matches('-');
        kept.iter().any(|k| k.trim_start_matches('-') == name)
    };
    if !call.options.iter().any(stated) {
        analysis.require_confirmation(whole, format!("`{}` prints a private key", call.path));
    }
    analysis
}

/// Analyzes a program for which `-d` decrypts with a cipher or a key, and decodes without one.
pub(super) fn decrypts(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let keyed = |name: &str| {
        let name = name.trim_start_matches('-');
        let ciphers = [
            "aes", "des", "chacha", "camellia", "aria", "sm4", "rc", "bf", "cast", "seed",
        ];
        matches!(name, "k" | "K" | "pass" | "kfile" | "pbkdf2" | "iv")
            || ciphers.iter().any(|cipher| name.starts_with(cipher))
    };
    let command = call.path.rsplit(' ').next().unwrap_or("");
    let named = keyed(command)
        || call
            .args
            .iter()
            .any(|arg| arg.text.starts_with('-') && keyed(&arg.text));
    if named && call.has_option(&["-d"]) {
        analysis.require_confirmation(whole, format!("`{}` prints decrypted text", call.path));
    }
    analysis
}

/// Analyzes a command that prints a state: as JSON it has the secrets that the text leaves out.
pub(super) fn state_as_json(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if call.has_option(&["-json"]) && call.operands.is_empty() {
        analysis.require_confirmation(
            whole,
            format!("`{}` prints the secrets of the state", call.path),
        );
    }
    analysis
}

/// Analyzes a program of which a format or a list of properties may name an environment.
pub(super) fn environment(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let values = call.options.iter().filter_map(|opt| opt.value.as_ref());
    for value in values {
        let mut words = value.text.split(|c: char| !c.is_ascii_alphanumeric());
        // All of the settings, the environment among them.
        let mut settings = value.text.split(".Config").skip(1);
        let mut whole =
            settings.any(|rest| !rest.starts_with(|c: char| c == '.' || c.is_ascii_alphanumeric()));
        whole |= value.text.contains("{{") && value.text.contains("json .}");
        if whole || words.any(|word| matches!(word, "Env" | "Environment")) {
            let reason = format!(
                "`{}` prints an environment, which may hold secrets",
                call.path
            );
            analysis.require_confirmation(value.span, reason);
        }
    }
    analysis
}

/// Analyzes a command that prints environments of functions, unless a query selects other members.
pub(super) fn queried(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let query = call.options.iter().rfind(|opt| opt.name == "--query");
    let query = query.and_then(|opt| opt.value.as_ref());
    let selects_others =
        query.is_some_and(|query| query.is_known() && selects_metadata(&query.text));
    if !selects_others && !prints_help_or_version(call) {
        let reason = format!(
            "`{}` prints an environment, which may hold secrets",
            call.path
        );
        analysis.require_confirmation(whole, reason);
    }
    analysis
}

/// Returns `true` if a query (`Functions[].[FunctionName,Runtime]`) selects only members that describe a
/// function. The names that lead to a member, and conditions in `[?…]`, select nothing.
fn selects_metadata(query: &str) -> bool {
    const METADATA: &[&str] = &[
        "FunctionName",
        "FunctionArn",
        "Runtime",
        "Role",
        "Handler",
        "CodeSize",
        "Description",
        "Timeout",
        "MemorySize",
        "LastModified",
        "CodeSha256",
        "Version",
        "State",
        "LastUpdateStatus",
        "PackageType",
        "Architectures",
    ];
    let mut text = query.to_owned();
    while let Some(start) = text.find("[?") {
        let Some(end) = text[start..].find(']') else {
            return false;
        };
        text.replace_range(start..=start + end, "[]");
    }
    if text.contains(['@', '`', '\'', '*', '(', '&', '!']) {
        return false;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut members = 0;
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_name) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        let leads = after.starts_with("[].") || after.starts_with(['.', ':']);
        let is_index = name.chars().all(|c| c.is_ascii_digit());
        match METADATA.contains(&name) {
            true => members += 1,
            false if leads || is_index => {}
            false => return false,
        }
    }
    members > 0
}

/// Analyzes a program that dumps databases, and with some of them the password hashes of users.
pub(super) fn dumps_users(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    if prints_help_or_version(call) {
        return analysis;
    }
    let dumps = if call.path.ends_with("pg_dumpall") {
        !call.has_option(&["--no-role-passwords", "--tablespaces-only"])
    } else if call.path.starts_with("pg_dump") {
        false
    } else {
        let several = call.has_option(&["-B", "--databases"]);
        let mut operands = call
            .operands
            .iter()
            .map(|operand| operand.arg.text.as_str());
        let first = operands.next();
        let mut tables = operands.clone();
        let users = |table: &str| matches!(table, "user" | "global_priv" | "password_history");
        let is_system = |name: &str| name.eq_ignore_ascii_case("mysql");
        call.has_option(&["--users", "-A", "--all-databases"])
            || several && first.into_iter().chain(operands).any(is_system)
            || !several
                && first.is_some_and(is_system)
                && (call.operands.len() == 1 || tables.any(users))
    };
    if dumps && !call.has_option(&["-d", "--no-data"]) {
        analysis.require_confirmation(whole, format!("`{}` {HASHES}", call.path));
    }
    analysis
}

/// Analyzes a scanner that prints the secrets that it finds.
pub(super) fn secret_scanner(
    context: &Context<'_>,
    call: &Call,
    whole: Span,
    input: &Input,
) -> Analysis {
    let mut analysis = Analysis::new();
    let hides = call.options.iter().any(|opt| {
        let all = |value: &Arg| !value.text.starts_with('0');
        opt.name == "--redact" && opt.value.as_ref().is_none_or(all)
    });
    let command = call.path.rsplit(' ').next().unwrap_or_default();
    let scans = !prints_help_or_version(call) && !matches!(command, "version" | "help");
    let always = call.path.starts_with("trufflehog ");
    if scans && !hides && (always || call.has_option(&["-v", "--verbose"])) {
        let reason = format!("`{}` prints the secrets that it finds", call.path);
        analysis.require_confirmation(whole, reason);
    }
    analysis.then(log_options(context, call, whole, input))
}

/// Analyzes a program that replaces variables in a text by their values.
pub(super) fn substitutes(_: &Context<'_>, call: &Call, _: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let span = call.args.last().map_or(Span::default(), |arg| arg.span);
    let mut texts: Vec<Arg> = call.operands.iter().map(|o| o.arg.clone()).collect();
    if let Input::Known(text) = input {
        texts.push(Arg::new(text.as_str(), span));
    }
    for text in texts {
        for part in text.text.split('$').skip(1) {
            let part = part.trim_start_matches('{');
            let name = part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            analysis.check_printed_variable(name.clone().next().unwrap_or(""), text.span);
        }
    }
    analysis
}

/// Analyzes `wg show`, which may print the keys of a tunnel.
pub(super) fn wg_show(_: &Context<'_>, call: &Call, whole: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let keys = ["private-key", "preshared-keys", "dump"];
    if call
        .args
        .iter()
        .any(|arg| !arg.is_known() || keys.contains(&arg.text.as_str()))
    {
        analysis.require_confirmation(whole, format!("`{}` prints private keys", call.path));
    }
    analysis
}
