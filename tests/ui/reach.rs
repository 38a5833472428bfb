//! Every macro finds the framework in every target that can name one of its crates, however a
//! package depends on them.
//!
//! The test generates a workspace with one package per combination of dependencies. A package uses
//! the macros in each target through each name that the target can use, and `cargo` compiles all of
//! them together.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::repository;
use crate::outside;

/// A table of dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    Normal,
    Dev,
    Build,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Normal => "dependencies",
            Self::Dev => "dev-dependencies",
            Self::Build => "build-dependencies",
        }
    }
}

/// The form of a dependency in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Renamed,
    /// Optional, and no feature turns it on.
    Off,
    /// Optional, and the default features turn it on.
    On,
    OtherTarget,
    ThisTarget,
    Inherited,
    InheritedRenamed,
    InheritedOff,
    RenamedOn,
    RenamedOtherTarget,
}

impl Form {
    /// Forms of dependencies that the code can name.
    const LINKED: [Self; 6] = [
        Self::Renamed,
        Self::On,
        Self::ThisTarget,
        Self::Inherited,
        Self::InheritedRenamed,
        Self::RenamedOn,
    ];

    const UNLINKED: [Self; 4] = [
        Self::Off,
        Self::OtherTarget,
        Self::InheritedOff,
        Self::RenamedOtherTarget,
    ];

    fn is_optional(self) -> bool {
        matches!(
            self,
            Self::Off | Self::On | Self::InheritedOff | Self::RenamedOn
        )
    }

    fn is_linked(self) -> bool {
        !Self::UNLINKED.contains(&self)
    }

    fn is_renamed(self) -> bool {
        matches!(
            self,
            Self::Renamed | Self::InheritedRenamed | Self::RenamedOn | Self::RenamedOtherTarget
        )
    }

    /// Returns the condition of its table.
    fn target(self) -> Option<&'static str> {
        match self {
            Self::OtherTarget | Self::RenamedOtherTarget => Some("cfg(not(any(unix, windows)))"),
            Self::ThisTarget => Some("cfg(any(unix, windows))"),
            _ => None,
        }
    }
}

/// A crate of the framework.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framework {
    Core,
    Runtime,
}

impl Framework {
    fn package(self) -> &'static str {
        match self {
            Self::Core => "hooks-core",
            Self::Runtime => "hooks-runtime",
        }
    }

    /// Returns its name in Cargo.toml.
    fn key(self, form: Form) -> &'static str {
        match (self, form.is_renamed()) {
            (_, false) => self.package(),
            (Self::Core, true) => "extension-points",
            (Self::Runtime, true) => "plugins",
        }
    }

    /// Returns where its package is, as values of a table.
    fn source(self) -> String {
        let path = repository().join(self.package());
        let features = match self {
            Self::Core => "",
            Self::Runtime => ", default-features = false",
        };
        format!("package = {:?}, path = {path:?}{features}", self.package())
    }
}

/// A dependency on a crate of the framework.
#[derive(Debug, Clone, Copy)]
struct Dependency {
    framework: Framework,
    table: Table,
    form: Form,
}

impl Dependency {
    fn manifest(self) -> String {
        let Self {
            framework,
            table,
            form,
        } = self;
        let mut lines = String::new();
        let key = framework.key(form);
        let table = match form.target() {
            Some(target) => format!("target.'{target}'.{}", table.name()),
            None => table.name().to_owned(),
        };
        let source = match form {
            Form::Inherited | Form::InheritedRenamed | Form::InheritedOff => {
                "workspace = true".to_owned()
            }
            _ => framework.source(),
        };
        let optional = if form.is_optional() {
            ", optional = true"
        } else {
            ""
        };
        lines += &format!("\n[{table}.{key}]\n");
        lines + &format!("{source}{optional}").replace(", ", "\n") + "\n"
    }
}

/// A target of a package, as far as it decides which dependencies its code can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Library,
    /// Unit tests, tests, examples and doc tests.
    Tests,
    BuildScript,
}

/// A package with this combination of dependencies.
#[derive(Debug)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

impl Package {
    /// Returns the names that the code of a target can use.
    fn names(&self, target: Target) -> Vec<(Framework, String)> {
        let is_reached = |dependency: &&Dependency| {
            let tables: &[Table] = match target {
                Target::Library => &[Table::Normal],
                Target::Tests => &[Table::Normal, Table::Dev],
                Target::BuildScript => &[Table::Build],
            };
            dependency.form.is_linked() && tables.contains(&dependency.table)
        };
        let reached = self.dependencies.iter().filter(is_reached);
        let mut names: Vec<(Framework, String)> = reached
            .map(|dependency| {
                let name = dependency.framework.key(dependency.form);
                (dependency.framework, name.replace('-', "_"))
            })
            .collect();
        names.dedup();
        names
    }

    fn manifest(&self) -> String {
        let mut manifest = format!(
            "# {:?}\n[package]\nname = {:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lints.rust]\ndead_code = \"allow\"\n",
            self.dependencies, self.name
        );
        let is_on =
            |dependency: &&Dependency| matches!(dependency.form, Form::On | Form::RenamedOn);
        let on = self.dependencies.iter().filter(is_on);
        let on: Vec<String> = on
            .map(|dependency| format!("dep:{}", dependency.framework.key(dependency.form)))
            .collect();
        manifest += &format!("\n[features]\ndefault = {on:?}\n");
        for dependency in &self.dependencies {
            manifest += &dependency.manifest();
        }
        manifest
    }

    fn write(&self, workspace: &Path) {
        let folder = workspace.join(&self.name);
        write(&folder.join("Cargo.toml"), &self.manifest());
        let tests = self.names(Target::Tests);
        let uses = uses(&tests);
        let doc_test: String = uses.lines().map(|line| format!("//! {line}\n")).collect();
        let doc_test = format!("//! ```no_run\n{doc_test}//! ```\n");
        let own = self.names(Target::Library);
        let library = if own.is_empty() {
            format!("#[cfg(test)]\nmod unit_tests {{\n{uses}}}\n")
        } else {
            self::uses(&own)
        };
        let library = doc_test + &library;
        write(&folder.join("src/lib.rs"), &library);
        write(&folder.join("tests/used.rs"), &uses);
        let with_main = |uses: String| uses + "fn main() {}\n";
        write(&folder.join("examples/used.rs"), &with_main(uses));
        let build_script = self.names(Target::BuildScript);
        if !build_script.is_empty() {
            let uses = self::uses(&build_script);
            write(&folder.join("build.rs"), &with_main(uses));
        }
    }
}

/// Returns code that uses each macro through the last of these names, which is `hooks-runtime` if
/// the code can name it. The name does not affect the expansion.
fn uses(names: &[(Framework, String)]) -> String {
    let Some((framework, name)) = names.last() else {
        return String::new();
    };
    let tool_set = match framework {
        Framework::Core => String::new(),
        Framework::Runtime => format!("use ::{name}::toolset::ToolSet;\n{TOOL_SET}"),
    };
    format!("use ::{name}::{{hooks, impl_hook, impl_hooks}};\n{HOOKS}{tool_set}")
}

const HOOKS: &str = r#"
#[hooks]
pub trait AppHooks {
    #[hook(always)]
    async fn allows(prompt: &str) -> bool { !prompt.is_empty() }
}
pub struct Policy;
#[impl_hooks(AppHooksSet)]
impl AppHooks for Policy {
    async fn allows(&self, prompt: &str, last: Option<bool>) -> bool { last == Some(prompt.is_empty()) }
}
#[impl_hook(Allows)]
async fn no_keys(prompt: &str, last: Option<bool>) -> bool { last != Some(prompt.contains("sk-")) }
pub fn set() -> AppHooksSet<'static> { AppHooksSet::new().with_hooks(Policy).with_allows(NoKeys) }
"#;

const TOOL_SET: &str = r#"
#[derive(ToolSet)]
pub enum Tools {
    /// Repeats a text.
    #[tool(output = String)]
    Echo(String),
}
pub fn tools() -> ToolsHooksSet<'static> { ToolsHooksSet::new() }
"#;

/// Returns every combination of the tables that affects a target, then every form.
fn combinations() -> Vec<Package> {
    use Framework::{Core, Runtime};
    use Table::{Build, Dev, Normal};
    let dependency = |framework, table, form| Dependency {
        framework,
        table,
        form,
    };
    let mut combinations = Vec::new();
    // The build script of a package has other crates than its other targets.
    for chosen in 0..1 << 4 {
        let of_build_script = (chosen % 4) ^ (chosen / 4);
        let tables = [
            (Core, Normal, chosen & 1),
            (Core, Dev, chosen & 2),
            (Core, Build, of_build_script & 1),
            (Runtime, Normal, chosen & 4),
            (Runtime, Dev, chosen & 8),
            (Runtime, Build, of_build_script & 2),
        ];
        let tables = tables.into_iter().filter(|(_, _, chosen)| *chosen != 0);
        let plain = |(framework, table, _)| dependency(framework, table, Form::Plain);
        combinations.push(tables.map(plain).collect());
    }
    for (one, other) in [(Core, Runtime), (Runtime, Core)] {
        for (linked, unlinked) in Form::LINKED
            .into_iter()
            .zip(Form::UNLINKED.into_iter().cycle())
        {
            combinations.push(vec![
                dependency(one, Normal, linked),
                dependency(other, Normal, unlinked),
            ]);
        }
        for form in [
            Form::Renamed,
            Form::OtherTarget,
            Form::InheritedRenamed,
            Form::RenamedOtherTarget,
        ] {
            combinations.push(vec![
                dependency(one, Normal, Form::Plain),
                dependency(other, Dev, form),
            ]);
        }
    }
    let numbered = combinations.into_iter().enumerate();
    numbered
        .map(|(number, dependencies)| Package {
            name: format!("combination-{number}"),
            dependencies,
        })
        .collect()
}

/// Writes a file if its text differs, so that `cargo` compiles only packages that changed.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).expect("the folder is created");
    fs::write(path, text).expect("the file is written");
}

/// Writes the manifest of the workspace with these packages, and returns its folder.
fn workspace<'p>(packages: impl Iterator<Item = &'p str>) -> PathBuf {
    let folder = outside::target().join("reach");
    let members: Vec<&str> = packages.collect();
    let mut manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[workspace.dependencies]\n"
    );
    for framework in [Framework::Core, Framework::Runtime] {
        for form in [Form::Plain, Form::Renamed] {
            let (key, source) = (framework.key(form), framework.source());
            manifest += &format!("{key} = {{ {source} }}\n");
        }
    }
    manifest += &format!("\n{}", outside::profiles());
    write(&folder.join("Cargo.toml"), &manifest);
    let lock = fs::read(repository().join("Cargo.lock")).expect("the lock file");
    fs::write(folder.join("Cargo.lock"), lock).expect("the lock file is written");
    folder
}

/// Runs `cargo`, and returns whether it succeeded and its messages.
fn cargo(folder: &Path, args: &[&str]) -> (bool, String) {
    let output = outside::command("cargo", folder).args(args).output();
    let output = output.expect("`cargo` starts");
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    let printed = String::from_utf8_lossy(&output.stdout);
    (output.status.success(), messages + &printed)
}

/// A framework whose users depend on none of the two crates.
const FACADE: [(&str, &str); 2] = [
    (
        "Cargo.toml",
        r#"
[package]
name = "facade"
version = "0.0.0"
edition = "2024"

[dependencies.hooks-runtime]
workspace = true
"#,
    ),
    (
        "src/lib.rs",
        r#"
pub use hooks_runtime as points;

#[macro_export]
macro_rules! declare {
    ($name:ident) => {
        #[$crate::points::hooks(crate = $crate::points)]
        pub trait $name {
            #[hook(singleton)]
            async fn choose(prompt: &str) -> usize { prompt.len() }
        }
    };
}
"#,
    ),
];

/// A user of the facade. Its tests can name `hooks-core`, its library cannot.
const FACADE_USER: &str = r#"
[package]
name = "NAME"
version = "0.0.0"
edition = "2024"

[dependencies]
facade.path = "../facade"

[dependencies.hooks-runtime]
workspace = true
optional = true

[dev-dependencies.hooks-core]
workspace = true

[features]
runtime = ["dep:hooks-runtime"]
"#;

const USES_OF_THE_FACADE: &str = r#"
use facade::points::toolset::ToolSet;
use facade::points::{hooks, impl_hook};

#[hooksPATH]
pub trait AppHooks {
    #[hook(singleton)]
    async fn choose(prompt: &str) -> usize { prompt.len() }
}

pub mod declared {
    facade::declare!(OtherHooks);
}

#[impl_hook(declared::ChooseAND_PATH)]
pub async fn two(_prompt: &str) -> usize { 2 }

#[derive(ToolSet)]
TOOL_PATH
pub enum Tools {
    /// Repeats a text.
    #[tool(output = String)]
    Echo(String),
}
"#;

fn write_facade(folder: &Path) {
    for (path, text) in FACADE {
        write(&folder.join("facade").join(path), text);
    }
    for (name, replaced) in [
        ("without-path", ["", "", ""]),
        (
            "with-path",
            [
                "(crate = facade::points)",
                ", crate = facade::points",
                "#[tool(crate = facade::points)]",
            ],
        ),
    ] {
        let [path, and_path, tool_path] = replaced;
        let folder = folder.join(name);
        write(
            &folder.join("Cargo.toml"),
            &FACADE_USER.replace("NAME", name),
        );
        let uses = USES_OF_THE_FACADE
            .replace("TOOL_PATH", tool_path)
            .replace("AND_PATH", and_path)
            .replace("PATH", path);
        write(&folder.join("src/lib.rs"), &uses);
    }
}

#[test]
fn every_macro_finds_a_crate_that_the_target_can_name_or_reports_one_error() {
    let combinations = combinations();
    let names = combinations.iter().map(|package| &*package.name);
    let folder = workspace(names.chain(["facade", "with-path", "without-path"]));
    for package in &combinations {
        package.write(&folder);
    }
    write_facade(&folder);
    let most = ["--quiet", "--workspace", "--exclude", "without-path"];
    for command in [
        &["check", "--all-targets", "--keep-going"],
        &["test", "--doc", "--no-fail-fast"],
    ] {
        let (is_success, messages) = cargo(&folder, &[&command[..], &most].concat());
        assert!(is_success, "{messages}");
    }

    let (is_success, messages) = cargo(&folder, &["check", "--quiet", "--package", "without-path"]);
    assert!(!is_success, "{messages}");
    for (package, errors) in [("hooks-core", 2), ("hooks-runtime", 1)] {
        let error = format!("error: the expansion needs `{package}`, which is not a dependency");
        assert_eq!(messages.matches(&error).count(), errors, "{messages}");
    }
    assert_eq!(
        messages
            .matches("name a re-export with `crate = path`")
            .count(),
        3,
        "{messages}"
    );
    assert!(messages.contains("due to 3 previous errors"), "{messages}");
}
