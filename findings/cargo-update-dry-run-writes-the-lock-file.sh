#!/usr/bin/env bash
# Guess: `cargo update --dry-run` leaves `Cargo.lock` as it is, and writes none.
# True: it leaves a `Cargo.lock` as it is. Without one, it makes the lock file first, and writes it.
# Version: cargo 1.95.0. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cargo --version
mkdir src
printf '[package]\nname = "kitchen"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
touch src/lib.rs
cargo update --dry-run --offline 2>&1
test -f Cargo.lock
echo 'without Cargo.lock: written'
sed -i 's/0\.1\.0/0.2.0/' Cargo.toml
cp Cargo.lock before
cargo update --dry-run --offline 2>&1
cmp Cargo.lock before
echo 'with a Cargo.lock of an older version of the package: unchanged'
