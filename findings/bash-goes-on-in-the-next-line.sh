#!/usr/bin/env bash
# Guess: after an assignment to a read-only variable, or a division by zero, a shell that reads a script
# exits (POSIX), or ignores the error as that of any command.
#
# bash does neither: it drops the rest of the line, with everything behind `;` and `&&`, and goes on in the
# next line. So one line break decides whether a command runs. All other shells end the script.
#
# Seen with the versions below. bash behaves as the others after `set -o posix`.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

readonly=$'readonly a=1; a=2; echo same line\necho next line'
zero=$'echo $((1 / 0)); echo same line\necho next line'
for text in "$readonly" "$zero"; do
    printf '%s\n' "$text"
    expect "$text" 'next line' bash
    expect "$text" '' zsh ksh93 mksh yash dash posh busybox
done
expect "set -o posix; $zero" '' bash
echo 'an error ends the line in bash, and the script elsewhere'
