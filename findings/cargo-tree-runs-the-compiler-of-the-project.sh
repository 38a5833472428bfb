#!/usr/bin/env bash
# Guess: `cargo tree` and `cargo metadata` read manifests and the lock file; a compiler has no part in it.
# True: they ask the compiler for its version and target. `build.rustc` in `.cargo/config.toml` names the
# compiler, so both commands run a program of the project. `cargo metadata --no-deps` does not.
# Version: cargo 1.95.0. Source: run below; the book of cargo, "build.rustc".
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cargo --version
mkdir src .cargo tools
printf '[package]\nname = "kitchen"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
touch src/lib.rs
printf '[build]\nrustc = "tools/compiler"\n' >.cargo/config.toml
printf '#!/bin/sh\necho ran >>%s/marker\nexec rustc "$@"\n' "$folder" >tools/compiler
chmod +x tools/compiler

# check EXPECTED WORD…
check() {
    rm -f marker
    cargo "${@:2}" --offline >/dev/null 2>&1
    local seen=no
    [ ! -e marker ] || seen=yes
    echo "cargo ${*:2} runs the compiler: $seen"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check yes tree
check yes metadata --format-version 1
check no metadata --format-version 1 --no-deps
