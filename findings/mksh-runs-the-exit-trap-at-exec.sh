#!/usr/bin/env bash
# Guess: `exec program` replaces the shell, and its trap for EXIT never runs.
#
# mksh runs the trap first. All others follow the guess.
#
# Seen with the versions below.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text='trap "echo trap" EXIT; exec true'
printf '%s\n' "$text"
expect "$text" trap mksh
expect "$text" '' bash zsh ksh93 yash dash posh busybox
echo 'mksh runs the trap for EXIT before it replaces itself'
