#!/usr/bin/env bash
# Guess: a library that implements its trait `Full<T>` for everything that is `Simple<T>` takes nothing from
# its users: for a type of their own that is not `Simple`, they implement `Full` as before.
# True: not for every `T`. `impl<T> Full<T> for Own` conflicts with the bridge, because a crate downstream
# may implement `Simple<Theirs> for Own`: the orphan rule allows it, as `Theirs` is a parameter of the trait.
# `impl<T> Full<Option<T>> for Own` compiles: `Option<Theirs>` is no type of theirs.
# Version: rustc 1.95.0. Source: run below; E0119, and the orphan rule of the reference.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

rustc --version
cat >library.rs <<'RUST'
pub trait Simple<T> { fn run(&self, value: &T); }
pub trait Full<T> { fn start(&self, value: &T); }
impl<T, C: Simple<T>> Full<T> for C { fn start(&self, value: &T) { self.run(value) } }
RUST
rustc --edition 2024 --crate-type rlib --crate-name library library.rs

# compiles IMPL: whether a crate with this impl for its own type compiles.
compiles() {
    printf 'pub struct Own;\n%s\n' "$1" >user.rs
    rustc --edition 2024 --crate-type lib --extern library=liblibrary.rlib user.rs 2>errors
}
! compiles 'impl<T> library::Full<T> for Own { fn start(&self, _: &T) {} }'
grep '^error.E0119.: conflicting implementations of trait' errors
grep 'downstream crates may implement trait' errors
compiles 'impl<T> library::Full<Option<T>> for Own { fn start(&self, _: &Option<T>) {} }'
compiles 'impl library::Full<u8> for Own { fn start(&self, _: &u8) {} }'
echo 'the bridge takes the impl for every T away'
