#!/usr/bin/env bash
# Guess: the name of a variant of a library's enum, such as `Setting::Option`, is seen only where code
# uses the enum: compile errors of other code stay as they are.
#
# rustc prints a type without its path only if no other public type, trait or variant of any crate in
# the build has the same name. One public variant named `Option` or `Result`, deep in a dependency that
# the failing code never mentions, makes every error in every crate above it print
# `std::option::Option<u8>`. Recorded compile errors (`trybuild`) of these crates then differ, and
# readers see longer types. A variant of another name changes nothing.
#
# Seen with rustc 1.95.0; in its sources: `trimmed_def_paths` in compiler/rustc_middle/src/ty/print.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

rustc --version

cat >main.rs <<'RUST'
use library as _;

fn main() {
    let _: Option<u8> = 1;
    let _: Result<u8, ()> = 1;
}
RUST

# errors VARIANT: the expected types that rustc prints, if a public enum of a dependency has this variant.
errors() {
    printf 'pub mod deep {\n    pub enum Setting {\n        %s,\n    }\n}\n' "$1" >library.rs
    rustc --edition 2024 --crate-type lib --crate-name library library.rs
    { rustc --edition 2024 --extern library=liblibrary.rlib main.rs 2>&1 || true; } |
        sed -n 's/.*= note: expected enum `\(.*\)`/\1/p' | paste -sd ' '
}

# check VARIANT EXPECTED
check() {
    local seen
    seen=$(errors "$1")
    printf 'a variant `%s`: %s\n' "$1" "$seen"
    if [ "$seen" != "$2" ]; then
        printf 'expected: %s\n' "$2" >&2
        exit 1
    fi
}

check Other 'Option<u8> Result<u8, ()>'
check Option 'std::option::Option<u8> Result<u8, ()>'
check Result 'Option<u8> std::result::Result<u8, ()>'
