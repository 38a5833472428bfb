//! Finds the crates that the call site can name, on the command line of the compiler.
//!
//! A macro runs in the process of the compiler, whose arguments have one `--extern` per crate that
//! the code can name: cargo has already applied tables, `optional`, targets and features. The files
//! of `--extern` have the names of the crates before a dependency renames them.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

use crate::names::crate_of;

/// The part of the compiler's command line that decides which crates the code can name.
#[derive(Debug, Default)]
pub(super) struct CommandLine {
    /// The crate that is compiled.
    crate_name: Option<String>,
    externs: Vec<Extern>,
}

/// A crate that the code can name.
#[derive(Debug)]
struct Extern {
    name: String,
    /// Its name in its own package.
    original: String,
}

impl CommandLine {
    /// Returns the command line of this process, or `None` if the process is no compiler: editors
    /// expand macros in a server.
    pub(super) fn current() -> Option<&'static Self> {
        static CURRENT: OnceLock<Option<CommandLine>> = OnceLock::new();
        CURRENT
            .get_or_init(|| Self::parse(env::args_os().skip(1)))
            .as_ref()
    }

    /// Parses the arguments of a compiler, and those in the files that `@path` names.
    fn parse(args: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut words = Vec::new();
        for arg in args {
            let arg = arg.to_string_lossy();
            match arg.strip_prefix('@') {
                // Without the file, the crates are unknown.
                Some(path) => {
                    let file = std::fs::read_to_string(path).ok()?;
                    words.extend(file.lines().map(str::to_owned));
                }
                None => words.push(arg.into_owned()),
            }
        }
        let (mut line, mut is_compiler) = (Self::default(), false);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (&*word, None),
            };
            if !matches!(option, "--extern" | "--crate-name" | "--crate-type") {
                continue;
            }
            is_compiler = true;
            let value = value.or_else(|| words.next())?;
            match option {
                "--extern" => line.externs.extend(Extern::parse(&value)),
                "--crate-name" => line.crate_name = Some(value),
                _ => {}
            }
        }
        is_compiler.then_some(line)
    }

    /// Returns the name of the package's crate in the code, if the code can name it.
    pub(super) fn name_of(&self, package: &str) -> Option<&str> {
        let original = crate_of(package);
        let mut found = self
            .externs
            .iter()
            .filter(|linked| linked.original == original);
        let first = found.clone().next();
        // Of two versions, the one that is not renamed.
        let linked = found.find(|linked| linked.name == original).or(first);
        linked.map(|linked| &*linked.name)
    }

    /// Returns `true` if this crate is compiled, which names itself by `extern crate self as …`.
    pub(super) fn compiles(&self, package: &str) -> bool {
        let is_package = env::var("CARGO_PKG_NAME").is_ok_and(|name| name == package);
        is_package && self.crate_name.as_ref() == Some(&crate_of(package))
    }
}

impl Extern {
    /// Parses `[options:]name[=path]`. Returns `None` for a crate that has to be declared by
    /// `extern crate` first.
    fn parse(value: &str) -> Option<Self> {
        let (name, path) = match value.split_once('=') {
            Some((name, path)) => (name, Some(path)),
            None => (value, None),
        };
        let (options, name) = name.split_once(':').unwrap_or(("", name));
        if options.split(',').any(|option| option == "noprelude") {
            return None;
        }
        let original = path.and_then(crate_of_file).unwrap_or(name);
        Some(Self {
            original: original.to_owned(),
            name: name.to_owned(),
        })
    }
}

/// Returns the crate in a file with a name such as `libhooks_core-1f0e.rmeta`. The names of crates
/// contain no `-`.
fn crate_of_file(path: &str) -> Option<&str> {
    let stem = Path::new(path).file_stem()?.to_str()?;
    let name = stem.split('-').next()?;
    Some(name.strip_prefix("lib").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::CommandLine;

    fn parse(line: &str) -> Option<CommandLine> {
        CommandLine::parse(line.split_whitespace().map(Into::into))
    }

    fn name(line: &str, package: &str) -> Option<String> {
        let line = parse(line).expect("the command line of a compiler");
        line.name_of(package).map(str::to_owned)
    }

    const LINE: &str = "rustc --crate-name app --edition=2024 src/lib.rs --crate-type lib";

    #[test]
    fn the_crate_of_an_extern_is_the_crate_in_its_file() {
        for (externs, core, runtime) in [
            ("", None, None),
            (
                "--extern hooks_runtime=/d/libhooks_runtime-1f.rmeta",
                None,
                Some("hooks_runtime"),
            ),
            (
                "--extern plugins=/d/libhooks_runtime-1f.rmeta --extern points=/d/libhooks_core-2.rlib",
                Some("points"),
                Some("plugins"),
            ),
            ("--extern=points=/d/libhooks_core.so", Some("points"), None),
            (
                "--extern points=/my-lib=1/libhooks_core-1f.rlib",
                Some("points"),
                None,
            ),
            // Another package that is renamed.
            ("--extern hooks_core=/d/libfacade-1f.rmeta", None, None),
            // Packages whose names begin alike.
            (
                "--extern a=/d/libhooks_core_ext-1f.rmeta --extern b=/d/libhooks-1.rlib",
                None,
                None,
            ),
            // From the search path.
            ("--extern hooks_core", Some("hooks_core"), None),
            (
                "--extern priv,nounused:points=/d/libhooks_core-1f.rmeta",
                Some("points"),
                None,
            ),
            (
                "--extern noprelude:points=/d/libhooks_core-1f.rmeta",
                None,
                None,
            ),
            // Two versions.
            (
                "--extern hooks_core=/d/libhooks_core-2.rlib --extern core_1=/d/libhooks_core-1.rlib",
                Some("hooks_core"),
                None,
            ),
            (
                "--extern core_1=/d/libhooks_core-1.rlib --extern hooks_core=/d/libhooks_core-2.rlib",
                Some("hooks_core"),
                None,
            ),
        ] {
            let line = format!("{LINE} {externs}");
            assert_eq!(name(&line, "hooks-core").as_deref(), core, "{line}");
            assert_eq!(name(&line, "hooks-runtime").as_deref(), runtime, "{line}");
        }
    }

    #[test]
    fn a_program_that_is_no_compiler_has_no_crates() {
        for line in ["", "--format postcard-legacy", "--nocapture krate --exact"] {
            assert!(parse(line).is_none(), "{line}");
        }
        assert!(parse(LINE).is_some());
    }

    #[test]
    fn arguments_in_a_file_count_and_a_file_that_is_gone_leaves_the_crates_unknown() {
        let path = env::temp_dir().join(format!("hooks-macros-args-{}", std::process::id()));
        let args = "--check-cfg=cfg(test)\n--extern=points=/a folder/libhooks_core-1f.rlib\n-Cx=y";
        std::fs::write(&path, args).expect("the file is written");
        let line = format!("@{} --edition 2024 --crate-type=bin -", path.display());
        let found = name(&line, "hooks-core");
        std::fs::remove_file(&path).expect("the file is there");
        assert_eq!(found.as_deref(), Some("points"));
        assert!(parse(&line).is_none());
    }
}
