#!/usr/bin/env bash
# Guess: when `bwrap` returns, the processes of its sandbox are gone; at the latest with `--unshare-pid`,
# since a namespace of processes ends with its first process.
# True: `bwrap` returns when its program ends, and processes that the program left in the background
# continue. With `--unshare-pid`, the first process of the namespace is bwrap itself, which waits for them.
# `--die-with-parent` beside `--unshare-pid` ends them, `--die-with-parent` alone does not; with
# `--as-pid-1`, the program is the first process, and its end is the end of all.
# Version: bubblewrap 0.8.0 of Debian 12. Source: run below; `do_init` in bubblewrap.c.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack bubblewrap=0.8.0-2+deb12u1 libcap2=1:2.66-4+deb12u3+b1 libselinux1=3.4-1+b6 libpcre2-8-0=10.42-1+deb12u2
unpacked/usr/bin/bwrap --version

# check EXPECTED OPTION…
check() {
    local seen=no
    rm -f marker
    unpacked/usr/bin/bwrap --dev-bind / / "${@:2}" sh -c "(sleep 1; echo late >$folder/marker) >/dev/null 2>&1 &"
    [ ! -e marker ] || { echo 'bwrap waited'; exit 1; }
    sleep 2
    [ ! -e marker ] || seen=yes
    echo "the process in the background continued: $seen, with: ${*:2}"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check yes
check yes --die-with-parent
check yes --unshare-pid
check yes --unshare-all
check no --unshare-pid --die-with-parent
check no --unshare-pid --as-pid-1
