#!/usr/bin/env bash
# Guess: `cargo --version` in a repository prints the version of an installed toolchain; at most,
# `rust-toolchain.toml` chooses which, and downloads it.
# True: with `path`, `rust-toolchain.toml` names a folder, and rustup starts `bin/cargo` and `bin/rustc` of
# this folder for every call, also for `--version`. The path has to be absolute. The file counts for all
# folders below it.
# Version: rustup 1.29.0. Source: run below; the book of rustup, "The toolchain file".
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

rustup --version 2>/dev/null
mkdir -p tool/bin tool/lib project/deep
printf '#!/bin/sh\necho "a program of the project"\n' >tool/bin/cargo
cp tool/bin/cargo tool/bin/rustc
chmod +x tool/bin/*
printf '[toolchain]\npath = "%s/tool"\n' "$folder" >project/rust-toolchain.toml
cd project/deep
for program in cargo rustc; do
    seen=$("$program" --version 2>/dev/null)
    echo "$program --version: $seen"
    test "$seen" = 'a program of the project'
done
printf '[toolchain]\npath = "../tool"\n' >../rust-toolchain.toml
if cargo --version >/dev/null 2>&1; then
    echo 'a relative path is accepted'
    exit 1
fi
echo 'a relative path is an error'
