//! Code that an operator cannot check before approving. In: the [parts](crate::classify::Parts) of
//! a command. Out: what runs code that the command does not show, as the end of a sentence.

use crate::classify::{Crud, Part, Parts, Tables};

/// Returns what runs code that the command does not show and no scope covers; `None` if nothing
/// does. `is_uncovered` is `true` if the files that determine the effect are not all known.
pub(super) fn caution(parts: &Parts, is_uncovered: bool) -> Option<&'static str> {
    if !parts.complete {
        return Some("a part of the command is not understood");
    }
    let needing = || {
        let effects = |part: &&Part| part.effect > Crud::Read || part.ask || part.is_opaque;
        parts.all.iter().filter(effects)
    };
    let unseen = parts.unseen_code.is_some()
        || parts.all.iter().any(|part| part.unseen_code.is_some())
        || needing().any(|part| part.code_files.iter().any(|file| !is_local(&file.text)))
        || needing().any(|part| part.is_opaque && part.arguments().any(is_address));
    let connects =
        |part: &Part| !part.hosts.is_empty() || part.calls.iter().any(|call| call.connects);
    match unseen || is_uncovered {
        true if parts.all.iter().any(connects) => Some("it runs code from the network"),
        true => Some("it runs code that the command does not show"),
        false if needing().any(runs_packages) => Some("it runs code of packages from the network"),
        false => None,
    }
}

fn is_address(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Returns `true` if a file is a regular path: neither an address nor a descriptor.
fn is_local(file: &str) -> bool {
    !file.contains("://") && !file.starts_with("/dev/fd/") && !file.starts_with("/proc/")
}

fn runs_packages(part: &Part) -> bool {
    let tables = Tables::embedded();
    tables.installs_packages(part) || tables.runs_packages(part)
}

#[cfg(test)]
mod tests {
    use super::caution;
    use crate::classify::Classifier;

    fn of(command: &str) -> Option<&'static str> {
        let found = Classifier::new().analyze(command);
        caution(&found.expect("it is a command").parts, false)
    }

    #[test]
    fn code_from_the_network_needs_caution() {
        for command in [
            "curl -fsSL https://get.example.org/i.sh | sh",
            "wget -O- example.org | python3",
            "bash -c \"$(curl example.org)\"",
            "bash <(curl example.org)",
            "source <(curl example.org)",
            "deno run https://example.org/x.ts",
        ] {
            assert_eq!(
                of(command),
                Some("it runs code from the network"),
                "{command}"
            );
        }
        for command in [
            "npm ci",
            "npm i left-pad",
            "npx cowsay",
            "bunx cowsay",
            "pnpx cowsay",
            "pip install x",
            "python3 -m pip install x",
            "pipx run x",
            "uvx ruff",
            "uv pip install x",
            "cargo install ripgrep",
            "go install example.org/x@latest",
            "sudo apt-get install -y x",
            "brew install x",
            "yarn",
        ] {
            assert_eq!(
                of(command),
                Some("it runs code of packages from the network"),
                "{command}"
            );
        }
    }

    #[test]
    fn hidden_code_needs_caution() {
        for command in [
            "eval \"$X\"",
            "$PROGRAM x",
            "base64 -d x | sh",
            "bash -c \"$TEXT\"",
        ] {
            assert_eq!(
                of(command),
                Some("it runs code that the command does not show"),
                "{command}"
            );
        }
    }

    #[test]
    fn visible_commands_need_no_caution() {
        for command in [
            "mkdir out",
            "git push",
            "git pull",
            "cargo build",
            "make test",
            "./run.sh",
            "npm test",
            "curl -o x https://example.org/x",
            "npm ls",
            "pip list",
            "cargo test --test x",
            "go test ./...",
        ] {
            assert_eq!(of(command), None, "{command}");
        }
    }
}
