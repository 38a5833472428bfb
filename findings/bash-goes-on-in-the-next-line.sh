#!/usr/bin/env bash
# Guess: after an assignment to a read-only variable, or a division by zero, a shell that reads a script
# exits (POSIX), or ignores the error as that of any command.
#
# bash does neither: it drops the rest of the line, with everything behind `;` and `&&`, and goes on in the
# next line. So one line break decides whether a command runs. All other shells end the script.
#
# Seen with the versions below. bash behaves as the others after `set -o posix`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The shells of Debian 12, unpacked and not installed. Their libraries are those of the system.
packages=(
    b/bash/bash_5.2.15-2+b13
    z/zsh/zsh_5.9-4+b15
    k/ksh93u+m/ksh93u+m_1.0.4-3
    m/mksh/mksh_59c-28+deb12u1
    y/yash/yash_2.52-2
    d/dash/dash_0.5.12-2
    p/posh/posh_0.14.1
    b/busybox/busybox_1.35.0-4+deb12u1+b1
)
for package in "${packages[@]}"; do
    file=${package##*/}_amd64.deb
    curl -fsSLO "http://deb.debian.org/debian/pool/main/${package}_amd64.deb"
    dpkg-deb -x "$file" "$folder/root"
    echo "${package##*/}"
done

# Prints what a shell makes of a text.
run() {
    local shell=$1 text=$2 program
    case $shell in
    busybox) program=("$folder/root/bin/busybox" sh) ;;
    yash | posh) program=("$folder/root/usr/bin/$shell") ;;
    *) program=("$folder/root/bin/$shell") ;;
    esac
    [ -x "${program[0]}" ]
    "${program[@]}" -c "$text" 2>errors || true
}

# Fails unless each of these shells prints these lines.
expect() {
    local text=$1 lines=$2 seen shell
    for shell in "${@:3}"; do
        seen=$(run "$shell" "$text")
        printf '%-8s %s\n' "$shell" "$(printf '%s' "$seen" | tr '\n' ' ')"
        [ "$seen" = "$lines" ] || { echo "expected: $lines"; cat errors; exit 1; }
    done
}

readonly=$'readonly a=1; a=2; echo same line\necho next line'
zero=$'echo $((1 / 0)); echo same line\necho next line'
for text in "$readonly" "$zero"; do
    printf '%s\n' "$text"
    expect "$text" 'next line' bash
    expect "$text" '' zsh ksh93 mksh yash dash posh busybox
done
expect "set -o posix; $zero" '' bash
echo 'an error ends the line in bash, and the script elsewhere'
