//! Every macro finds the framework in every target that can name one of its crates, however a
//! package depends on them.
//!
//! The test generates a workspace with one package per combination of dependencies. A package uses
//! the macros in each target through each name that the target can use, and `cargo` compiles all of
//! them together.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
    const ALL: [Self; 3] = [Self::Normal, Self::Dev, Self::Build];

    fn name(self) -> &'static str {
        match self {
            Self::Normal => "dependencies",
            Self::Dev => "dev-dependencies",
            Self::Build => "build-dependencies",
        }
    }
}

/// How a table has a dependency.
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
    const ALL: [Self; 11] = [
        Self::Plain,
        Self::Renamed,
        Self::Off,
        Self::On,
        Self::OtherTarget,
        Self::ThisTarget,
        Self::Inherited,
        Self::InheritedRenamed,
        Self::InheritedOff,
        Self::RenamedOn,
        Self::RenamedOtherTarget,
    ];

    fn is_optional(self) -> bool {
        matches!(
            self,
            Self::Off | Self::On | Self::InheritedOff | Self::RenamedOn
        )
    }

    fn is_linked(self) -> bool {
        !matches!(
            self,
            Self::Off | Self::OtherTarget | Self::InheritedOff | Self::RenamedOtherTarget
        )
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
        lines += &format!("{source}{optional}").replace(", ", "\n");
        lines + "\n"
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
            "# {:?}\n[package]\nname = {:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n",
            self.dependencies, self.name
        );
        let is_on =
            |dependency: &&Dependency| matches!(dependency.form, Form::On | Form::RenamedOn);
        let on = self.dependencies.iter().filter(is_on);
        let on: Vec<String> = on
            .map(|dependency| format!("dep:{}", dependency.framework.key(dependency.form)))
            .collect();
        // A feature keeps the dependency from being one by its own name.
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
        let unit_tests = format!("#[cfg(test)]\nmod unit_tests {{\n{uses}}}\n");
        let doc_test: String = uses.lines().map(|line| format!("//! {line}\n")).collect();
        let doc_test = format!("//! ```no_run\n{doc_test}//! ```\n");
        let library = doc_test + &self::uses(&self.names(Target::Library)) + &unit_tests;
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

/// Returns code that uses each macro through each of these names.
fn uses(names: &[(Framework, String)]) -> String {
    names.iter().map(|(framework, name)| {
        let tool_set = match framework {
            Framework::Core => String::new(),
            Framework::Runtime => format!("use ::{name}::toolset::ToolSet;\n{TOOL_SET}"),
        };
        format!("pub mod through_{name} {{\nuse ::{name}::{{hooks, impl_hook, impl_hooks}};\n{HOOKS}{tool_set}}}\n")
    }).collect()
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

/// Returns all subsets of the tables.
fn tables() -> impl Iterator<Item = Vec<Table>> {
    (0..1 << Table::ALL.len()).map(|set: usize| {
        let all = Table::ALL.into_iter().enumerate();
        let chosen = all.filter(|(bit, _)| set & (1 << bit) != 0);
        chosen.map(|(_, table)| table).collect()
    })
}

fn dependencies(framework: Framework, tables: &[Table], form: Form) -> Vec<Dependency> {
    let dependency = |&table: &Table| Dependency {
        framework,
        table,
        form,
    };
    tables.iter().map(dependency).collect()
}

/// Returns every combination of tables, then every combination of forms.
fn combinations() -> Vec<Package> {
    use Framework::{Core, Runtime};
    let mut combinations = Vec::new();
    for core in tables() {
        for runtime in tables() {
            let mut all = dependencies(Core, &core, Form::Plain);
            all.extend(dependencies(Runtime, &runtime, Form::Plain));
            combinations.push(all);
        }
    }
    for form in Form::ALL {
        for (varied, plain) in [(Core, Runtime), (Runtime, Core)] {
            let mut all = dependencies(plain, &[Table::Normal], Form::Plain);
            all.extend(dependencies(varied, &[Table::Normal], form));
            combinations.push(all);
            if !form.is_optional() {
                let mut all = dependencies(plain, &[Table::Normal], Form::Plain);
                all.extend(dependencies(varied, &[Table::Dev], form));
                combinations.push(all);
            }
        }
        let mut all = dependencies(Core, &[Table::Normal], form);
        all.extend(dependencies(Runtime, &[Table::Normal], form));
        combinations.push(all);
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

/// Returns the folder of a workspace with this name, and writes its manifest.
fn workspace(name: &str) -> PathBuf {
    let folder = outside::target().join("reach").join(name);
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n\n[workspace.dependencies]\n"
            .to_owned();
    for framework in [Framework::Core, Framework::Runtime] {
        for form in [Form::Plain, Form::Renamed] {
            let (key, source) = (framework.key(form), framework.source());
            manifest += &format!("{key} = {{ {source} }}\n");
        }
    }
    write(
        &folder.join("Cargo.toml"),
        &(manifest + "\n" + &outside::profiles()),
    );
    folder
}

fn cargo(folder: &Path, args: &[&str]) -> Output {
    fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the lock file is copied");
    outside::command("cargo", folder)
        .args(args)
        .output()
        .expect("`cargo` starts")
}

fn succeed(output: &Output) {
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
}

#[test]
fn every_macro_finds_the_crate_that_a_target_can_name() {
    let folder = workspace("combinations");
    let combinations = combinations();
    for package in &combinations {
        package.write(&folder);
    }
    succeed(&cargo(
        &folder,
        &[
            "check",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--keep-going",
        ],
    ));
    succeed(&cargo(
        &folder,
        &["test", "--quiet", "--workspace", "--doc", "--no-fail-fast"],
    ));
}
