//! Finds the crates that the call site can probably name, in Cargo.toml.
//!
//! Cargo.toml alone does not tell which features and which target are built. Of several
//! dependencies, the one with the fewest conditions is therefore chosen.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, TableLike};

use crate::names::crate_of;

/// Cargo.toml of the user's package, and of its workspace.
#[derive(Debug)]
pub(super) struct Manifest {
    package: DocumentMut,
    workspace: Option<DocumentMut>,
}

/// Conditions under which the code can name a dependency; the least is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    None,
    /// Tests and examples, and the editor's view of a package that is being edited.
    Tests,
    /// A feature or a target.
    Build,
}

impl Manifest {
    /// Reads Cargo.toml in this folder, and in the folder of its workspace. Returns `None` if there
    /// is none.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let package = document(folder)?;
        let given = package
            .get("package")
            .and_then(|package| package.get("workspace"));
        let workspace = match given.and_then(|root| root.as_str()) {
            Some(root) => document(&folder.join(root)),
            None => folder
                .ancestors()
                .filter_map(document)
                .find(|manifest| manifest.contains_key("workspace")),
        };
        Some(Self { package, workspace })
    }

    /// Returns the name, in the code, of the package with the fewest conditions; of equal packages,
    /// the first. A build script can name only `build-dependencies`.
    pub(super) fn name_of(&self, packages: &[&str], is_build_script: bool) -> Option<String> {
        let mut found: Option<(Condition, String)> = None;
        for package in packages {
            for (condition, name) in self.names(package, is_build_script) {
                if found.as_ref().is_none_or(|(least, _)| condition < *least) {
                    found = Some((condition, name));
                }
            }
        }
        found.map(|(_, name)| name)
    }

    fn names(&self, package: &str, is_build_script: bool) -> Vec<(Condition, String)> {
        let mut names = Vec::new();
        if !is_build_script && self.own_name() == Some(package) {
            names.push((Condition::None, crate_of(package)));
        }
        let manifest = self.package.as_table();
        let targets = manifest.get("target").and_then(|all| all.as_table_like());
        let targets = targets.into_iter().flat_map(TableLike::iter);
        let targets = targets.filter_map(|(_, target)| target.as_table_like());
        let manifest: &dyn TableLike = manifest;
        let places = [(manifest, false)].into_iter();
        for (place, has_target) in places.chain(targets.map(|target| (target, true))) {
            for (table, is_for_tests) in tables(is_build_script) {
                let table = place.get(table).and_then(|table| table.as_table_like());
                for (name, dependency) in table.into_iter().flat_map(TableLike::iter) {
                    let dependency = dependency.as_table_like();
                    if self.package_of(name, dependency) != package {
                        continue;
                    }
                    let is_optional = dependency.is_some_and(|it| is_true(it, "optional"));
                    let condition = if has_target || is_optional {
                        Condition::Build
                    } else if *is_for_tests {
                        Condition::Tests
                    } else {
                        Condition::None
                    };
                    names.push((condition, crate_of(name)));
                }
            }
        }
        names
    }

    fn own_name(&self) -> Option<&str> {
        self.package.get("package")?.get("name")?.as_str()
    }

    /// Returns the package behind the name of a dependency.
    fn package_of<'a>(&'a self, name: &'a str, dependency: Option<&'a dyn TableLike>) -> &'a str {
        let inherited = || {
            let workspace = self.workspace.as_ref()?.get("workspace")?;
            workspace.get("dependencies")?.get(name)?.as_table_like()
        };
        let dependency = match dependency {
            Some(dependency) if is_true(dependency, "workspace") => inherited(),
            dependency => dependency,
        };
        let package = dependency.and_then(|dependency| dependency.get("package")?.as_str());
        package.unwrap_or(name)
    }
}

/// The tables with what the code can name, and whether only tests and examples can name it.
fn tables(is_build_script: bool) -> &'static [(&'static str, bool)] {
    match is_build_script {
        true => &[("build-dependencies", false)],
        false => &[("dependencies", false), ("dev-dependencies", true)],
    }
}

fn is_true(table: &dyn TableLike, key: &str) -> bool {
    table.get(key).and_then(|value| value.as_bool()) == Some(true)
}

fn document(folder: &Path) -> Option<DocumentMut> {
    fs::read_to_string(folder.join("Cargo.toml"))
        .ok()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::Manifest;

    fn manifest(package: &str) -> Manifest {
        let workspace = r#"
            [workspace.dependencies]
            hooks-core = "0.1"
            plugins = { package = "hooks-runtime", version = "0.1" }
        "#;
        Manifest {
            package: package.parse().expect("a valid manifest"),
            workspace: Some(workspace.parse().expect("a valid manifest")),
        }
    }

    fn name(package: &str, is_build_script: bool) -> Option<String> {
        manifest(package).name_of(&["hooks-core", "hooks-runtime"], is_build_script)
    }

    #[test]
    fn the_dependency_with_the_fewest_conditions_is_named() {
        let runtime = "[dependencies]\nhooks-runtime = '0.1'\n";
        for (tables, expected) in [
            ("[dev-dependencies]\nhooks-core = '0.1'", "hooks_runtime"),
            (
                "[dependencies.hooks-core]\noptional = true",
                "hooks_runtime",
            ),
            (
                "[target.'cfg(windows)'.dependencies]\nhooks-core = '0.1'",
                "hooks_runtime",
            ),
            ("[build-dependencies]\nhooks-core = '0.1'", "hooks_runtime"),
            ("[dependencies.points]\npackage = 'hooks-core'", "points"),
            (
                "[dev-dependencies]\nhooks-core = '0.1'\n[dependencies.points]\npackage = 'hooks-core'",
                "points",
            ),
        ] {
            // Tables of the same name cannot be written twice.
            let runtime = match tables.contains("[dependencies.") {
                true => "[dependencies.hooks-runtime]\nversion = '0.1'\n",
                false => runtime,
            };
            let package = format!("{runtime}{tables}");
            assert_eq!(
                name(&package, false).as_deref(),
                Some(expected),
                "{package}"
            );
        }
    }

    #[test]
    fn in_every_combination_of_tables_a_crate_of_the_nearest_table_is_named() {
        const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
        for chosen in 0..1 << 6 {
            let is_in = |package: usize, table: usize| chosen & (1 << (3 * package + table)) != 0;
            let tables = TABLES.iter().enumerate().map(|(table, name)| {
                let core = is_in(0, table).then_some("hooks-core = '0.1'\n");
                let runtime = is_in(1, table).then_some("plugins.package = 'hooks-runtime'\n");
                let (core, runtime) = (core.unwrap_or_default(), runtime.unwrap_or_default());
                format!("[{name}]\n{core}{runtime}")
            });
            let package: String = tables.collect();
            let named = |table| match (is_in(0, table), is_in(1, table)) {
                (true, _) => Some("hooks_core"),
                (false, true) => Some("plugins"),
                (false, false) => None,
            };
            let code = named(0).or(named(1));
            assert_eq!(name(&package, false).as_deref(), code, "{package}");
            assert_eq!(name(&package, true).as_deref(), named(2), "{package}");
        }
    }

    #[test]
    fn a_dependency_with_conditions_is_named_if_there_is_no_other() {
        for (package, expected) in [
            ("[dev-dependencies]\nhooks-core = '0.1'", "hooks_core"),
            (
                "[target.'cfg(unix)'.dev-dependencies]\nhooks-runtime = '0.1'",
                "hooks_runtime",
            ),
            (
                "[dependencies]\npoints = { package = 'hooks-core', optional = true }",
                "points",
            ),
            (
                "[dev-dependencies]\nhooks-runtime = '0.1'\n[target.'cfg(windows)'.dependencies]\nhooks-core = '0.1'",
                "hooks_runtime",
            ),
        ] {
            assert_eq!(name(package, false).as_deref(), Some(expected), "{package}");
        }
    }

    #[test]
    fn names_and_packages_are_inherited_from_the_workspace() {
        for (package, expected) in [
            ("[dependencies]\nplugins.workspace = true", Some("plugins")),
            (
                "[dependencies]\nhooks-core.workspace = true\nplugins.workspace = true",
                Some("hooks_core"),
            ),
            (
                "[dependencies]\nplugins.workspace = true\nhooks-core = { workspace = true, optional = true }",
                Some("plugins"),
            ),
            // Without inheritance, it is another package.
            ("[dependencies]\nplugins = '0.1'", None),
            ("[dependencies]\nhooks-core = { package = 'facade' }", None),
        ] {
            assert_eq!(name(package, false).as_deref(), expected, "{package}");
        }
    }

    #[test]
    fn a_build_script_names_build_dependencies_alone() {
        let package = "[dependencies]\nhooks-core = '0.1'\n[build-dependencies.plugins]\npackage = 'hooks-runtime'";
        assert_eq!(name(package, true).as_deref(), Some("plugins"));
        assert_eq!(name(package, false).as_deref(), Some("hooks_core"));
        assert_eq!(name("[dependencies]\nhooks-core = '0.1'", true), None);
    }

    #[test]
    fn a_package_of_the_framework_names_itself() {
        let package = "[package]\nname = 'hooks-core'\n[dev-dependencies]\nhooks-runtime = '0.1'";
        assert_eq!(name(package, false).as_deref(), Some("hooks_core"));
    }
}
