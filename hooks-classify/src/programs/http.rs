//! Clients of HTTP and gRPC: a call in, the effect of its request out.

use super::effect::operand_words;
use super::graphql::{note_body, note_statement};
use super::remote::check_sent_input;
use super::requests::{check_metadata_address, effect_of_method, note_address};
use super::roles::note_role;
use crate::analysis::{Analysis, Context};
use crate::model::arg::{Arg, UNKNOWN};
use crate::model::effect::Effect;
use crate::model::environment::FileContents;
use crate::model::io::Input;
use crate::model::role::Role;
use crate::model::span::Span;
use crate::options::call::Call;

/// Options of `curl` whose value is a body or a part of it.
const CURL_BODIES: &[&str] = &[
    "-d",
    "--data",
    "--data-ascii",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "--form-string",
    "-T",
    "--upload-file",
];

/// Analyzes `curl`, of which the method decides the effect.
pub(super) fn curl(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut strongest = Effect::Read;
    let mut request = HttpieRequest::default();
    for opt in &call.options {
        let text = opt.value.as_ref().map_or("", |value| value.text.as_str());
        let name = opt.name.as_str();
        match name {
            "--next" | "-:" => strongest = strongest.max(std::mem::take(&mut request).effect()),
            "-X" | "--request" => request.method = Some(text.to_owned()),
            "-T" | "--upload-file" => request.upload = true,
            "-I" | "--head" => request.head = true,
            "-G" | "--get" => request.get = true,
            "-d" | "--json" | "-F" | "--form" | "--form-string" => request.body = true,
            _ if name.starts_with("--data") => request.body = true,
            _ => {}
        }
        if ["-n", "--netrc", "--netrc-optional", "--netrc-file"].contains(&name) {
            analysis.require_confirmation(opt.span, "`curl` sends credentials from a file");
        }
        let Some(value) = &opt.value else { continue };
        if CURL_BODIES.contains(&name) {
            match input {
                Input::Known(sent) if text.ends_with("@-") => {
                    note_body(&mut analysis, &call.path, &Arg::new(sent.clone(), whole));
                }
                _ if text.contains('@') => {
                    let file = text.split_once('@').map_or(text, |(_, file)| file);
                    let contents = context.environment.files.get(file);
                    if let Some(FileContents::Text(sent)) = contents {
                        note_body(&mut analysis, &call.path, &value.with_text(sent));
                    }
                    note_body(&mut analysis, &call.path, value);
                }
                _ => note_body(&mut analysis, &call.path, value),
            }
        }
        if ["-b", "--cookie"].contains(&name) && !text.is_empty() && !text.contains('=') {
            analysis.require_confirmation(value.span, "`curl` sends cookies from a file");
        }
        let file = match name {
            "-F" | "--form" => text
                .split_once('=')
                .map(|(_, v)| v)
                .and_then(|v| v.strip_prefix(['@', '<']))
                .map(|v| v.split(';').next().unwrap_or(v)),
            "--data-urlencode" | "--url-query" => text.split_once('@').map(|(_, v)| v),
            "-T" | "--upload-file" => Some(text),
            "-H" | "--header" | "--proxy-header" | "-d" | "--json" => text.strip_prefix('@'),
            _ if name.starts_with("--data") => text.strip_prefix('@'),
            _ => None,
        };
        // A part of a form may have its headers from a file.
        let headers = [";headers=@", ";headers=<"];
        let headers = headers.iter().find_map(|mark| text.split_once(mark));
        let headers = headers.filter(|_| matches!(name, "-F" | "--form"));
        // A file that `--etag-save` of this call writes too.
        let tag = call.options.iter().any(|other| {
            other.name == "--etag-save" && other.value.as_ref().is_some_and(|v| v.text == text)
        });
        let tag = (name == "--etag-compare" && !tag).then_some(text);
        let files = [file, tag, headers.map(|(_, file)| file)];
        for file in files.into_iter().flatten() {
            analysis.read_file(&value.with_text(file));
            analysis.require_confirmation(value.span, "`curl` sends the contents of a file");
        }
        if ["-H", "--header", "--proxy-header"].contains(&name) && text.starts_with('@') {
            let reason = "`curl` sends headers of a file, which may set another method";
            analysis.add_finding(Effect::Unknown, value.span, reason);
        }
        if (name == "-w" || name == "--write-out") && text.starts_with('@') {
            analysis.add_finding(
                Effect::Unknown,
                value.span,
                "`curl` reads its options from a file",
            );
        }
        if (name == "-w" || name == "--write-out")
            && let Some((_, rest)) = text.split_once("%output{")
        {
            let file = rest.split('}').next().unwrap_or("");
            note_role(
                &mut analysis,
                context,
                call,
                Role::Output,
                &[value.with_text(file)],
                &Input::Unknown,
            );
        }
    }
    strongest = strongest.max(request.effect());
    for opt in call
        .options
        .iter()
        .filter(|g| ["-Q", "--quote"].contains(&g.name.as_str()))
    {
        if let Some(value) = &opt.value
            && value
                .text
                .trim_start_matches(['-', '+', '*'])
                .to_ascii_uppercase()
                .starts_with(['D', 'R'])
            && ["DELE", "RMD", "RM ", "RMDIR"].iter().any(|word| {
                value
                    .text
                    .trim_start_matches(['-', '+', '*'])
                    .to_ascii_uppercase()
                    .starts_with(word)
            })
        {
            analysis.add_finding(Effect::Delete, value.span, "`curl` deletes on the server");
        }
    }
    let values_of = |name: &'static str| {
        let options = call.options.iter().filter(move |opt| opt.name == name);
        options.filter_map(|opt| opt.value.clone())
    };
    let default = values_of("--proto-default");
    let files = default
        .clone()
        .any(|value| value.text.to_ascii_lowercase().starts_with("file"));
    let addresses: Vec<_> = values_of("--url").chain(operand_words(call)).collect();
    let bodies = call
        .options
        .iter()
        .filter(|opt| CURL_BODIES.contains(&opt.name.as_str()));
    for body in bodies.filter_map(|opt| opt.value.as_ref()) {
        if strongest > Effect::Read {
            note_statement(&mut analysis, &call.path, body);
        }
    }
    for address in &addresses {
        check_file_url(&mut analysis, address, files);
        if strongest > Effect::Read {
            note_address(&mut analysis, &call.path, address);
        }
    }
    let other_protocol = addresses
        .into_iter()
        .filter(|address| !only_downloads(&address.text));
    let default = default.filter(|scheme| !only_downloads(&format!("{}://", scheme.text)));
    for arg in other_protocol.chain(default) {
        let reason = "`curl` speaks a protocol that may change something";
        analysis.add_finding(Effect::Unknown, arg.span, reason);
    }
    analysis.with_effect(strongest)
}

/// Returns `true` if `curl` only fetches from an address, according to its scheme or, by default,
/// the name of its host.
fn only_downloads(address: &str) -> bool {
    let text = address.trim_start().to_ascii_lowercase();
    match text.split_once(':') {
        Some((scheme, rest)) if rest.starts_with('/') => {
            ["http", "https", "ftp", "ftps", "sftp", "scp", "file"].contains(&scheme)
                || scheme.contains(UNKNOWN)
        }
        _ => {
            let guessed = [
                "dict", "gopher", "imap", "ldap", "mqtt", "pop3", "smtp", "telnet",
            ];
            // Of a pattern, any part may be the beginning; of a file, every line.
            !text.starts_with(['{', '[', '@']) && !guessed.iter().any(|name| text.starts_with(name))
        }
    }
}

/// Requires confirmation for an address that is a file with secrets.
fn check_file_url(analysis: &mut Analysis, address: &Arg, protocol: bool) {
    let text = address.text.to_ascii_lowercase();
    let path = match text.strip_prefix("file:") {
        Some(path) => &address.text[address.text.len() - path.len()..],
        None if protocol => address.text.as_str(),
        None => return,
    };
    // `file://HOST/PATH`; a host is left out.
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or(rest, |at| &rest[at..]),
        None => path,
    };
    if path.contains(['%', '[', '{', '*', '?', '\\']) || !address.is_known() {
        let reason = "which file `curl` reads is not plain to see";
        analysis.require_confirmation(address.span, reason);
    }
    analysis.read_file(&address.with_text(path));
}

#[derive(Default)]
struct HttpieRequest {
    method: Option<String>,
    upload: bool,
    head: bool,
    get: bool,
    body: bool,
}

impl HttpieRequest {
    fn effect(self) -> Effect {
        match self.method {
            Some(name) => effect_of_method(&name),
            None if self.upload => Effect::Create,
            None if self.head && self.body && !self.get => Effect::Create,
            None if self.head || self.get => Effect::Read,
            None if self.body => Effect::Create,
            None => Effect::Read,
        }
    }
}

/// Analyzes `httpie`: `[METHOD] URL [ITEM…]`.
pub(super) fn httpie(context: &Context<'_>, call: &Call, whole: Span, input: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    let mut operands = operand_words(call);
    let first = operands
        .first()
        .map_or("", |arg| arg.text.as_str())
        .to_owned();
    let is_standard_method = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
        .contains(&first.to_ascii_uppercase().as_str());
    let looks_like_method =
        !first.is_empty() && first.chars().all(|c| c.is_ascii_uppercase()) && operands.len() > 1;
    let named = (is_standard_method || looks_like_method).then(|| operands.remove(0).text);
    let mut body = matches!(input, Input::Known(_) | Input::Unknown)
        && !call.has_option(&["--ignore-stdin", "-I"]);
    if body {
        check_sent_input(&mut analysis, call, whole, input);
    }
    if let Some(address) = operands.first() {
        check_metadata_address(&mut analysis, context, address);
    }
    if let (true, Input::Known(sent)) = (body, input) {
        note_body(&mut analysis, &call.path, &Arg::new(sent.clone(), whole));
    }
    for opt in call.options.iter().filter(|opt| opt.name == "--raw") {
        if let Some(value) = &opt.value {
            note_body(&mut analysis, &call.path, value);
        }
    }
    for item in operands.iter().skip(1) {
        let text = item.text.as_str();
        if let Some(query) = text
            .strip_prefix("query")
            .map(|rest| rest.trim_start_matches(':'))
        {
            let query = query.trim_start_matches('=');
            note_body(&mut analysis, &call.path, &item.with_text(query));
        }
        let mark = text.find([':', '=', '@']);
        let Some(at) = mark else { continue };
        let rest = &text[at..];
        let file = ["@", "=@", ":=@", "==@", ":@"]
            .iter()
            .find_map(|m| rest.strip_prefix(m));
        if let Some(file) = file {
            analysis.read_file(&item.with_text(file));
            analysis.require_confirmation(item.span, "sends the contents of a file");
        }
        if rest.starts_with("==") {
            continue;
        }
        body |= rest.starts_with('=') || rest.starts_with(":=") || rest.starts_with('@');
    }
    let effect = match named {
        Some(name) => effect_of_method(&name),
        None if body => Effect::Create,
        None => Effect::Read,
    };
    if let Some(address) = operands.first().filter(|_| effect > Effect::Read) {
        note_address(&mut analysis, &call.path, address);
    }
    analysis.with_effect(effect)
}

/// Analyzes `grpcurl`, which only reads with `list` and `describe`.
pub(super) fn grpcurl(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let analysis = Analysis::new();
    let operands = operand_words(call);
    let reads = |at: usize| {
        operands
            .get(at)
            .is_some_and(|arg| arg.text == "list" || arg.text == "describe")
            && operands.len() <= at + 2
    };
    if reads(0) || reads(1) {
        analysis.with_effect(Effect::Read)
    } else {
        analysis.with_effect(Effect::Create)
    }
}

/// Analyzes `wget`, whose body may be a GraphQL mutation.
pub(super) fn wget(_: &Context<'_>, call: &Call, _: Span, _: &Input) -> Analysis {
    let mut analysis = Analysis::new();
    for opt in &call.options {
        if let ("--post-data" | "--body-data", Some(value)) = (opt.name.as_str(), &opt.value) {
            note_body(&mut analysis, &call.path, value);
            note_statement(&mut analysis, &call.path, value);
        }
    }
    analysis
}
