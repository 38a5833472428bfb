//! Settings that a call gives a program, and the remote repositories that it names.

use crate::judge::redirect::shown;
use crate::judge::{Arg, Input, Judge, UNKNOWN};
use crate::shell::Span;
use crate::tables::{Call, Effect, matches};

/// Returns true if the name of a variable or a setting says that it is a secret.
fn private(name: &str) -> bool {
    // The programs that split text are no secrets.
    let name = name.to_ascii_uppercase().replace("TOKENIZE", "");
    [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "ACCESSKEY",
        "PRIVATEKEY",
        "EXTRAHEADER",
    ]
    .iter()
    .any(|word| name.contains(word))
        || name
            .split('_')
            .any(|word| ["KEY", "PASS", "PAT"].contains(&word))
        || name.ends_with("_AUTH")
}

impl Judge<'_> {
    /// Asks about a variable or a setting whose value is printed, if its name says that it is a
    /// secret. A variable that the command itself sets is none.
    pub(crate) fn prints_variable(&mut self, name: &str, span: Span) {
        if private(name) && !self.environment.variables.contains_key(name) {
            self.ask(span, format!("prints `{name}`, by its name a secret"));
        }
    }

    /// Addresses that name programs: `ext::COMMAND` and other helpers of git,
    /// `:backend,key=value:` of rclone.
    pub(super) fn remotes(&mut self, call: &Call) {
        let helpers = [
            "git ls-remote",
            "git fetch",
            "git clone",
            "git pull",
            "git push",
            "git archive",
            "git remote",
            "git remote show",
            "git remote update",
            "git submodule",
        ]
        .contains(&call.path.as_str());
        let clouds = call.path.starts_with("rclone ");
        let formulae = call.path.starts_with("brew ");
        if !helpers && !clouds && !formulae {
            return;
        }
        let values = call.options.iter().filter_map(|given| given.value.as_ref());
        for arg in call
            .operands
            .iter()
            .map(|operand| &operand.arg)
            .chain(values)
        {
            let command = match arg.text.split_once("::") {
                Some(("ext", command)) if helpers => Some(command.to_owned()),
                Some((name, _)) if helpers && name.chars().all(char::is_alphanumeric) => {
                    Some(String::new())
                }
                _ if formulae => {
                    (arg.text.ends_with(".rb") || arg.text.contains("://")).then(String::new)
                }
                _ => (clouds && arg.text.contains(',') && arg.text.contains('=')).then(String::new),
            };
            let Some(command) = command else { continue };
            self.find(
                Effect::Code,
                arg.span,
                format!("`{}` may name a program", shown(arg)),
            );
            if !command.is_empty() {
                self.shell_text(&arg.with(&command), &Input::Unknown);
            }
        }
    }

    /// Files that words name in ways of their own: `file://FILE`, `@FILE`, a string in a program.
    pub(super) fn files_in_words(&mut self, call: &Call) {
        let program = call.path.split(' ').next().unwrap_or("");
        let words: &[Arg] = &call.args;
        match program {
            "aws" => {
                for arg in words {
                    for mark in ["fileb://", "file://"] {
                        if let Some((_, file)) = arg.text.split_once(mark) {
                            self.input_file(&arg.with(file));
                        }
                    }
                }
            }
            "az" => {
                for arg in words {
                    if let Some((before, file)) = arg.text.split_once('@')
                        && (before.is_empty() || before.ends_with('='))
                    {
                        self.input_file(&arg.with(file));
                    }
                }
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
                    self.ask(span, format!("`{}` shows credentials", call.path));
                }
            }
            // `--from-file=NAME=FILE`
            "kubectl" | "oc" => {
                let from = call
                    .options
                    .iter()
                    .filter(|given| given.name == "--from-file");
                for value in from.filter_map(|given| given.value.clone()) {
                    if let Some((_, file)) = value.text.split_once('=') {
                        self.input_file(&value.with(file));
                    }
                }
            }
            "gpg" | "gpg2" if call.has(&["-d", "--decrypt"]) => {
                for operand in &call.operands {
                    let text = &operand.arg.text;
                    let stem = [".gpg", ".asc", ".pgp"]
                        .iter()
                        .find_map(|end| text.strip_suffix(end));
                    self.input_file(&operand.arg.with(stem.unwrap_or(text)));
                    self.input_file(&operand.arg);
                }
            }
            // A module that is not known here is asked for on a server.
            "go" if call.path == "go list" && call.has(&["-m"]) => {
                for operand in call.operands.iter().filter(|o| !o.arg.known()) {
                    let reason = "`go list` sends what an expansion holds over the network";
                    self.ask(operand.arg.span, reason);
                }
            }
            "jo" => {
                for arg in words {
                    let value = arg.text.split_once(['=', '@']).map_or("", |(_, v)| v);
                    let file = value.strip_prefix(['@', ':', '%']).unwrap_or(value);
                    let joined = arg.text.contains('@') || value != file;
                    for file in [file, arg.text.trim_start_matches([':', '%'])] {
                        if joined || arg.text != file {
                            self.input_file(&arg.with(file));
                        }
                    }
                }
            }
            "openssl" => {
                for arg in words {
                    if let Some(file) = arg.text.strip_prefix("file:") {
                        let file = file.strip_prefix("//").unwrap_or(file);
                        self.input_file(&arg.with(file));
                    }
                }
            }
            // What is a path need not be quoted.
            "nix" | "nix-instantiate" | "ansible" => {
                for arg in words {
                    for part in arg
                        .text
                        .split(|c: char| c.is_whitespace() || "'\"()[]{};,=".contains(c))
                    {
                        self.named(arg, part);
                    }
                }
            }
            "duckdb" | "clickhouse" | "clickhouse-local" | "clickhouse-client" | "chdb"
            | "sqlite3" | "sqlite" | "awk" | "gawk" | "mawk" | "nawk" | "goawk"
            | "original-awk" | "yq" | "mlr" | "psql" | "mysql" | "mariadb" => {
                for arg in words {
                    for (at, part) in arg.text.split(['\'', '"']).enumerate() {
                        if at % 2 == 1 {
                            self.named(arg, part);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Asks about a string that names a file with secrets. A word alone may be anything.
    fn named(&mut self, arg: &Arg, text: &str) {
        let path = text.strip_prefix("file:").unwrap_or(text);
        if path.contains('/') || path.starts_with(".env") || path.starts_with("id_") {
            self.input_file(&arg.with(path));
        }
    }

    pub(super) fn config(&mut self, call: &Call, arg: &Arg) {
        let (key, value) = arg.text.split_once('=').unwrap_or((&arg.text, "true"));
        let key = key.to_ascii_lowercase();
        let pair = format!("{key}={value}");
        let harmless = |pattern: &&str| {
            let pattern = pattern.to_ascii_lowercase();
            if pattern.contains('=') {
                matches(&pattern, &pair) && !value.contains(['!', ';', '|', '&', '`', '$', UNKNOWN])
            } else {
                matches(&pattern, &key)
            }
        };
        if !key.contains(UNKNOWN) && call.program.details.harmless_config.iter().any(harmless) {
            return;
        }
        let path = &call.path;
        // Without a list of its own the program sets variables of an environment.
        let name = arg.text.split('=').next().unwrap_or("");
        let plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == UNKNOWN);
        let contained = ["docker", "podman", "nerdctl", "kubectl"]
            .iter()
            .any(|name| call.path.starts_with(name));
        if (call.program.details.harmless_config.is_empty() || contained) && plain {
            if name.contains(UNKNOWN) {
                self.find(
                    Effect::Code,
                    arg.span,
                    "which variable is set is only known when it runs",
                );
            }
            self.sets(name, &arg.with(value));
            // A shell that it starts may compute the value.
            self.environment.outer.insert(value.to_owned());
            self.environment.set_unknown(name);
            return;
        }
        self.find(
            Effect::Code,
            arg.span,
            format!("`{path}` is told `{key}`, which may change what runs"),
        );
        self.parts.told();
        let command = value.trim_start_matches('!');
        let runs = value.starts_with('!')
            || [
                "pager",
                "editor",
                "command",
                "alias",
                "exec",
                "helper",
                "textconv",
                "external",
                "fsmonitor",
                "askpass",
                "program",
                "driver",
                "smudge",
                "clean",
                "process",
                "invoke",
            ]
            .iter()
            .any(|w| key.contains(w));
        if runs && !command.is_empty() {
            self.shell_text(&arg.with(command), &Input::Unknown);
        }
    }
}
