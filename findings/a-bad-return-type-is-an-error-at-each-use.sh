#!/usr/bin/env bash
# Guess: a macro that writes a return type which may not exist (a projection of a trait that the type may
# lack, so that the compiler reports a missing return type) causes one error, at the signature.
# True: one error for an `async fn`, whose return type is hidden behind its future. A plain `fn` causes one
# more at each use of the function, also in code that another macro wrote.
# Version: rustc 1.95.0. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

rustc --version
check() {
    printf 'trait Output { type Type; }\n%s fn function() -> <u8 as Output>::Type { loop {} }\n' "$1" >lib.rs
    printf 'pub fn uses() { let named = function; %s }\n' "$2" >>lib.rs
    ! rustc --edition 2024 --crate-type lib lib.rs 2>errors
    errors=$(grep -c '^error\[E0277\]: the trait bound `u8: Output` is not satisfied' errors)
    printf '%s: %s errors\n' "${1:-plain} fn" "$errors"
}
check async 'drop(named()); drop(function());'
[ "$errors" -eq 1 ]
check '' 'named(); function();'
[ "$errors" -gt 2 ]
echo 'the return type of a plain function is reported at each use'
