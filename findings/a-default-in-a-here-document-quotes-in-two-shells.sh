#!/usr/bin/env bash
# Guess: single quotes in the word of `${name:-word}` are plain text in a here-document and in double quotes,
# as POSIX says of double quotes, so that a substitution between them runs.
#
# True for bash, dash, zsh, busybox sh, ksh93u+m and mksh. posh reads them as quotes in a here-document, and as
# text in double quotes. yash runs no substitution between them in either place; in the here-document it also
# removes the quotes, in double quotes it keeps them.
#
# Seen with the versions below.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text="cat <<E
\${c:-'a\$(echo b)'}
E"
printf '%s\n' "$text"
expect "$text" "'ab'" bash dash zsh busybox ksh93 mksh
expect "$text" 'a$(echo b)' posh yash

text="echo \"\${c:-'a\$(echo b)'}\""
printf '%s\n' "$text"
expect "$text" "'ab'" bash dash zsh busybox ksh93 mksh posh
expect "$text" "'a\$(echo b)'" yash
echo 'whether single quotes in a default quote in a here-document depends on the shell'
