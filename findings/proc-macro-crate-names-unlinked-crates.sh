#!/usr/bin/env bash
# Guess: `proc_macro_crate::crate_name` finds the crate if and only if the code around the macro can
# name it: this is what the library is for, and it has an error for a crate that is not found.
#
# It reads only Cargo.toml, and gives the same result in every target of the package. It finds an
# optional dependency whose feature is off, a dependency of another target and, in the library, a
# dependency of tests: generated code then names a crate that is not linked. It does not find a
# crate that is linked into a build script.
#
# Seen with proc-macro-crate 3.5.0; in its source: `dep_tables` reads `dependencies` and
# `dev-dependencies`, and no other key than `package` and `workspace` of a dependency.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset CARGO_TARGET_DIR RUSTFLAGS RUSTDOCFLAGS
export SEEN=$folder/seen

rustc --version
crates=(optional other-target for-tests for-build-scripts)
members=$(printf '"%s", ' probe app "${crates[@]}")
printf '[workspace]\nresolver = "3"\nmembers = [%s]\n' "$members" >Cargo.toml
for name in probe app "${crates[@]}"; do
    mkdir -p "$name/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n' "$name" >"$name/Cargo.toml"
    : >"$name/src/lib.rs"
done
printf '[lib]\nproc-macro = true\n[dependencies]\nproc-macro-crate = "=3.5.0"\n' >>probe/Cargo.toml
cat >>app/Cargo.toml <<'TOML'
[dependencies]
probe.path = "../probe"
optional = { path = "../optional", optional = true }
[target.'cfg(not(any(unix, windows)))'.dependencies]
other-target.path = "../other-target"
[dev-dependencies]
for-tests.path = "../for-tests"
[build-dependencies]
probe.path = "../probe"
for-build-scripts.path = "../for-build-scripts"
TOML

cat >probe/src/lib.rs <<'RUST'
use proc_macro::TokenStream;
use std::io::Write;

/// Appends to `$SEEN` whether the crate is found, and whether the compiler links it.
#[proc_macro]
pub fn record(input: TokenStream) -> TokenStream {
    let package = input.to_string().trim_matches('"').to_owned();
    let path = std::env::var("SEEN").unwrap();
    let mut seen = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    let is_found = proc_macro_crate::crate_name(&package).is_ok();
    let linked = format!("{}=", package.replace('-', "_"));
    let is_linked = std::env::args().any(|arg| arg.starts_with(&linked));
    writeln!(seen, "{package}: found {is_found}, linked {is_linked}").unwrap();
    TokenStream::new()
}
RUST
printf 'probe::record!("%s");\n' optional other-target for-tests >app/src/lib.rs
printf 'probe::record!("for-build-scripts");\nfn main() {}\n' >app/build.rs

cargo check --quiet -p app
cargo tree --quiet -p proc-macro-crate --depth 0
sort -u seen

grep -qx 'optional: found true, linked false' seen
grep -qx 'other-target: found true, linked false' seen
grep -qx 'for-tests: found true, linked false' seen
grep -qx 'for-build-scripts: found false, linked true' seen
echo 'proc-macro-crate finds three crates that are not linked, and misses one that is'
