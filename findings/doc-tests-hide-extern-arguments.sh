#!/usr/bin/env bash
# Guess: a procedural macro that reads the arguments of its process sees one `--extern` for each crate
# that the code can name, in every target of a package: rustc and rustdoc run macros in their process.
#
# True for libraries, tests and examples. The compiler of a doc test gets no `--extern`: rustdoc writes
# the crates into a temporary file and passes `@FILE`. The expanded arguments, and the option's form
# (`--extern=NAME=FILE` instead of two words), are known only to the compiler's own parser.
#
# Seen with rustc, rustdoc and cargo 1.95.0; in their sources: `generate_args_file` in
# src/librustdoc/doctest.rs, and `arg_expand_all` in compiler/rustc_driver_impl/src/args.rs.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset CARGO_TARGET_DIR RUSTFLAGS RUSTDOCFLAGS
export SEEN=$folder/seen

rustc --version
cargo --version
mkdir -p probe/src dependency/src app/src app/tests
printf '[workspace]\nresolver = "3"\nmembers = ["probe", "dependency", "app"]\n' >Cargo.toml
package() { printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n' "$1" >"$1/Cargo.toml"; }
package probe
printf '[lib]\nproc-macro = true\n' >>probe/Cargo.toml
package dependency
: >dependency/src/lib.rs
package app
printf '[dependencies]\nprobe.path = "../probe"\nrenamed = { path = "../dependency", package = "dependency" }\n' >>app/Cargo.toml

cat >probe/src/lib.rs <<'RUST'
use proc_macro::TokenStream;
use std::io::Write;

/// Appends the arguments of this process, and of the file that they name, to `$SEEN`.
#[proc_macro]
pub fn record(target: TokenStream) -> TokenStream {
    let args: Vec<String> = std::env::args().collect();
    let path = std::env::var("SEEN").unwrap();
    let mut seen = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    let externs = args.iter().filter(|arg| arg.starts_with("--extern")).count();
    writeln!(seen, "{target}: {externs} --extern").unwrap();
    for file in args.iter().filter_map(|arg| arg.strip_prefix('@')) {
        let text = std::fs::read_to_string(file).unwrap();
        let externs = text.lines().filter(|line| line.starts_with("--extern=")).count();
        writeln!(seen, "{target}: {externs} --extern in a file").unwrap();
    }
    TokenStream::new()
}
RUST
printf '//! ```compile_fail\n//! probe::record!(doctest);\n//! let number: u8 = "";\n//! ```\nprobe::record!(library);\n' >app/src/lib.rs
printf 'probe::record!(test);\n' >app/tests/test.rs

# `compile_fail` keeps the doc test out of the program that rustdoc merges others into.
cargo check --quiet --offline -p app --lib
cargo check --quiet --offline -p app --test test
cargo test --quiet --offline -p app --doc >output 2>&1 || { cat output; exit 1; }
sort -u seen

grep -qx 'library: 2 --extern' seen
grep -qx 'test: 3 --extern' seen
grep -qx 'doctest: 0 --extern' seen
grep -qx 'doctest: 3 --extern in a file' seen
echo 'a macro in a doc test sees no --extern among its arguments; its crates are in a file'
