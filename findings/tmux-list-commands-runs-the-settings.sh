#!/usr/bin/env bash
# Guess: `tmux list-commands` prints the list of commands that tmux was built with.
# True: tmux starts a server for this command, and the server runs `~/.tmux.conf`, with the programs of
# `run-shell` in it. `list-keys` does the same. `list-sessions` starts no server and fails without one.
# Version: tmux 3.3a of Debian 12. Source: run below; `CMD_STARTSERVER` in cmd-list-keys.c.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack tmux=3.3a-3 libevent-core-2.1-7=2.1.12-stable-8+deb12u1 libutempter0=1.2.1-3
export HOME=$folder
unpacked/usr/bin/tmux -V
echo 'run-shell "echo ran >>~/marker"' >.tmux.conf

# check COMMAND EXPECTED
check() {
    rm -f marker
    unpacked/usr/bin/tmux -S "$folder/socket" "$1" >output 2>&1 || true
    sleep 1
    local seen=no
    [ ! -e marker ] || seen=yes
    echo "tmux $1 runs the settings: $seen ($(head -1 output))"
    [ "$seen" = "$2" ] || { echo "expected: $2"; exit 1; }
}

check list-commands yes
check list-keys yes
check list-sessions no
