//! The repository, and the pages of the guide.

use std::path::Path;

/// Returns the root of the repository.
pub fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file());
    root.expect("the repository is around this package")
}

/// The pages that build a program, each program's in reading order. Their test executes them as a
/// reader does, instead of compiling each block separately.
pub const GUIDES: [&[&str]; 2] = [
    &[include_str!("../../docs/quick-start.md")],
    &[
        include_str!("../../docs/agent.md"),
        include_str!("../../docs/agent-gates.md"),
    ],
];
