#!/usr/bin/env bash
# Guess: `ssh -G HOST` prints the settings for a host, and runs nothing.
# True: the settings depend on `Match exec PROGRAM`, so `ssh -G` runs the program, through a shell.
# `ssh -V` reads no settings.
# Version: OpenSSH 9.2p1 of Debian 12. Source: run below; ssh_config(5), "Match".
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack openssh-client=1:9.2p1-2+deb12u10
printf 'Match exec "echo ran for %%h >>%s/marker"\n    User matched\n' "$folder" >config
unpacked/usr/bin/ssh -V -F config 2>&1
test ! -e marker
unpacked/usr/bin/ssh -G -F config host.invalid | grep '^user '
echo "marker: $(cat marker)"
test "$(cat marker)" = 'ran for host.invalid'
