//! Code in manifests. In: the text of `package.json`, a makefile or another file of instructions.
//! Out: its scripts, or the files that it includes.

use serde_json::Value;

/// Returns the command lines of a script and of those that run before and after it.
pub(super) fn scripts(manifest: &str, name: &str) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<Value>(manifest) else {
        return Vec::new();
    };
    let names = ["pre", "", "post"].map(|when| format!("{when}{name}"));
    let scripts = match &manifest["scripts"] {
        // Deno's name for scripts.
        Value::Null => &manifest["tasks"],
        scripts => scripts,
    };
    let texts = names.iter().flat_map(|name| match &scripts[name] {
        Value::String(text) => vec![text.clone()],
        Value::Object(task) => {
            let text = task.get("command").and_then(Value::as_str);
            text.map(str::to_owned).into_iter().collect()
        }
        // Composer allows lists.
        Value::Array(texts) => {
            let texts = texts.iter().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    });
    texts.collect()
}

/// A file that another file includes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Included {
    /// Relative or absolute path; `*` in the name of one folder matches any text.
    pub(super) path: String,
    pub(super) base: IncludeBase,
}

/// Folder in which a program looks up an included file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IncludeBase {
    /// The working directory of the program.
    WorkingDirectory,
    /// The folder of the file that includes it.
    OwnFolder,
}

/// Files of a Python project that run when it is installed.
const PYTHON_PROJECT: &[&str] = &["setup.py", "setup.cfg", "pyproject.toml"];

/// Files of a package of Cargo that decide what its build runs.
const CARGO_PACKAGE: &[&str] = &["Cargo.toml", "build.rs"];

/// Files of a folder from which an image is built.
const BUILD_CONTEXT: &[&str] = &["Dockerfile", "Containerfile", ".dockerignore"];

/// Files of a module of a justfile.
const JUST_MODULE: &[&str] = &["mod.just", "justfile", ".justfile"];

/// Format of a file that may include other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IncludeFormat {
    /// GNU make 4.4, "Including Other Makefiles".
    Make,
    /// ninja 1.12, "Evaluation and scoping".
    Ninja,
    /// just 1.40, "Imports", "Modules".
    Just,
    /// pip 25, "Requirements File Format".
    Requirements,
    /// "Compose file reference".
    Compose,
    /// Cargo, "The `[workspace]` section", "Specifying path dependencies".
    Cargo,
}

impl IncludeFormat {
    /// Returns the format of a file by its name.
    pub(super) fn of(file: &str) -> Option<Self> {
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        let stem = file.strip_prefix("docker-").unwrap_or(file);
        let is_compose = stem.starts_with("compose.") || stem.starts_with("compose-");
        Some(match (file, ending) {
            ("Makefile" | "makefile" | "GNUmakefile", _) | (_, "mk") => Self::Make,
            (_, "ninja") => Self::Ninja,
            ("justfile" | "Justfile" | ".justfile", _) | (_, "just") => Self::Just,
            (_, "txt" | "in") => Self::Requirements,
            (_, "yml" | "yaml") if is_compose => Self::Compose,
            ("Cargo.toml", _) => Self::Cargo,
            _ => return None,
        })
    }

    /// Returns the files that a text includes by literal names.
    pub(super) fn includes(self, text: &str) -> Vec<Included> {
        let of = |base| move |path| Included { path, base };
        let (working, own) = (
            of(IncludeBase::WorkingDirectory),
            of(IncludeBase::OwnFolder),
        );
        match self {
            Self::Make => {
                let names = words_after(text, &["include ", "-include ", "sinclude "]);
                names.map(working).collect()
            }
            Self::Ninja => words_after(text, &["include ", "subninja "])
                .map(working)
                .collect(),
            Self::Just => of_justfile(text).map(own).collect(),
            Self::Requirements => of_requirements(text).collect(),
            Self::Compose => of_compose(text).map(own).collect(),
            Self::Cargo => of_cargo(text).map(own).collect(),
        }
    }
}

fn words_after(text: &str, directives: &[&str]) -> impl Iterator<Item = String> {
    let lines = text.lines().filter_map(|line| {
        let line = line.trim_start();
        directives.iter().find_map(|word| line.strip_prefix(word))
    });
    let names = lines.flat_map(|rest| {
        let rest = rest.split('#').next().unwrap_or(rest);
        rest.split_whitespace()
    });
    names.filter(|name| !name.contains('$')).map(str::to_owned)
}

fn of_justfile(text: &str) -> impl Iterator<Item = String> {
    let lines = text
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace));
    lines.flat_map(|(word, rest)| {
        let path = rest.split(['\'', '"']).nth(1);
        let name = rest.split_whitespace().next().unwrap_or_default();
        match (word.trim_end_matches('?'), path) {
            ("import", Some(path)) => vec![path.to_owned()],
            ("mod", Some(path)) => with_files_of(path, JUST_MODULE),
            ("mod", None) => {
                let mut files = in_folder(name, JUST_MODULE);
                files.push(format!("{name}.just"));
                files
            }
            _ => Vec::new(),
        }
    })
}

fn of_requirements(text: &str) -> impl Iterator<Item = Included> {
    let of = |base| move |path| Included { path, base };
    let lines = text.lines().filter_map(|line| {
        let line = line.split(" #").next().unwrap_or(line).trim();
        let (option, value) = line.split_once([' ', '='])?;
        Some((option, value.trim()))
    });
    lines.flat_map(move |(option, value)| match option {
        "-r" | "--requirement" | "-c" | "--constraint" => {
            vec![of(IncludeBase::OwnFolder)(value.to_owned())]
        }
        "-e" | "--editable" => {
            let folder = value.split(['[', ';']).next().unwrap_or(value).trim();
            let files = in_folder(folder, PYTHON_PROJECT).into_iter();
            files.map(of(IncludeBase::WorkingDirectory)).collect()
        }
        _ => Vec::new(),
    })
}

/// Every value counts that can name a file or a folder: `include`, `extends`, `env_file`, `build`,
/// `dockerfile`, `configs` and `secrets` have several forms.
fn of_compose(text: &str) -> impl Iterator<Item = String> {
    let values = text.lines().flat_map(|line| {
        let line = line.split(" #").next().unwrap_or(line).trim();
        let item = line.strip_prefix("- ").unwrap_or(line);
        let value = item.split_once(": ").map_or(item, |(_, value)| value);
        value.split(['[', ']', ',', '{', '}'])
    });
    values
        .map(|value| value.trim().trim_matches(['\'', '"']))
        .filter(|value| !value.is_empty() && !value.ends_with(':') && !value.contains('$'))
        .flat_map(|value| with_files_of(value, BUILD_CONTEXT))
}

/// The members of a workspace, and dependencies by path.
fn of_cargo(text: &str) -> impl Iterator<Item = String> {
    let manifest = toml::from_str::<toml::Table>(text).unwrap_or_default();
    let mut folders = Vec::new();
    let workspace = manifest.get("workspace");
    let members = workspace.and_then(|workspace| workspace.get("members")?.as_array());
    let members = members
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str);
    folders.extend(members.map(str::to_owned));
    add_paths(&toml::Value::Table(manifest), &mut folders);
    let folders = folders.into_iter();
    folders.flat_map(|folder| in_folder(&folder, CARGO_PACKAGE))
}

/// Adds the values of all keys `path`.
fn add_paths(value: &toml::Value, found: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| match value.as_str() {
            Some(path) if key == "path" => found.push(path.to_owned()),
            _ => add_paths(value, found),
        }),
        toml::Value::Array(values) => values.iter().for_each(|value| add_paths(value, found)),
        _ => {}
    }
}

fn in_folder(folder: &str, files: &[&str]) -> Vec<String> {
    let folder = folder.trim_end_matches('/');
    files
        .iter()
        .map(|file| format!("{folder}/{file}"))
        .collect()
}

/// Returns a path, which may be a file, and files of the folder that it may be.
fn with_files_of(path: &str, files: &[&str]) -> Vec<String> {
    let mut paths = in_folder(path, files);
    paths.push(path.to_owned());
    paths
}

#[cfg(test)]
mod tests {
    use super::{IncludeBase, IncludeFormat, Included, scripts};

    #[test]
    fn a_script_includes_its_pre_and_post_scripts() {
        let manifest = r#"{"scripts": {"pretest": "a", "test": "b", "posttest": "c", "x": "d"}}"#;
        assert_eq!(scripts(manifest, "test"), ["a", "b", "c"]);
        assert!(scripts("no JSON", "test").is_empty());
        let composer = r#"{"scripts": {"check": ["a", "b"]}}"#;
        assert_eq!(scripts(composer, "check"), ["a", "b"]);
    }

    fn includes(file: &str, text: &str) -> Vec<Included> {
        let format = IncludeFormat::of(file);
        format.map_or_else(Vec::new, |format| format.includes(text))
    }

    fn paths(file: &str, text: &str, base: IncludeBase) -> Vec<String> {
        let found = includes(file, text);
        assert!(found.iter().all(|one| one.base == base), "{found:?}");
        found.into_iter().map(|one| one.path).collect()
    }

    #[test]
    fn includes_are_the_literal_names_of_each_format() {
        use IncludeBase::{OwnFolder, WorkingDirectory};

        let text =
            "include a.mk b.mk # why\n-include c.mk\nx:\n\techo include d.mk\ninclude $(E)\n";
        assert_eq!(
            paths("Makefile", text, WorkingDirectory),
            ["a.mk", "b.mk", "c.mk"]
        );
        let text = "rule cc\n  command = cc\ninclude rules.ninja\nsubninja sub/build.ninja\n";
        let found = paths("build.ninja", text, WorkingDirectory);
        assert_eq!(found, ["rules.ninja", "sub/build.ninja"]);
        let text = "import 'a.just'\nimport? \"b.just\"\nmod deploy\nmod? x 'y'\n\ntest:\n  echo import 'c'\n";
        let found = paths("justfile", text, OwnFolder);
        for file in [
            "a.just",
            "b.just",
            "deploy.just",
            "deploy/mod.just",
            "y",
            "y/justfile",
        ] {
            assert!(found.contains(&file.to_owned()), "{file}: {found:?}");
        }
        assert!(!found.contains(&"c".to_owned()), "{found:?}");
        let text = "requests\n-r more.txt # all\n--constraint=c.txt\n-e ./lib[extra]\n";
        let found = includes("requirements.txt", text);
        let bases: Vec<_> = found.iter().map(|one| (&*one.path, one.base)).collect();
        assert!(bases.contains(&("more.txt", OwnFolder)), "{bases:?}");
        assert!(bases.contains(&("c.txt", OwnFolder)), "{bases:?}");
        assert!(
            bases.contains(&("./lib/setup.py", WorkingDirectory)),
            "{bases:?}"
        );
        let text = "include:\n  - other.yaml\nservices:\n  a:\n    build: ./app\n    env_file: [a.env, 'b.env']\n    image: ${IMAGE}\n";
        let found = paths("compose.yaml", text, OwnFolder);
        for file in ["other.yaml", "./app/Dockerfile", "a.env", "b.env"] {
            assert!(found.contains(&file.to_owned()), "{file}: {found:?}");
        }
        assert!(paths("values.yaml", text, OwnFolder).is_empty());
        let text = "[workspace]\nmembers = ['crates/*', \"tool\"]\n[dependencies]\na = { path = '../a' }\n[target.x.dependencies]\nb = { path = 'b' }\n";
        let found = paths("Cargo.toml", text, OwnFolder);
        for file in [
            "crates/*/Cargo.toml",
            "tool/build.rs",
            "../a/Cargo.toml",
            "b/build.rs",
        ] {
            assert!(found.contains(&file.to_owned()), "{file}: {found:?}");
        }
        assert!(paths("Cargo.toml", "no TOML", OwnFolder).is_empty());
    }
}
