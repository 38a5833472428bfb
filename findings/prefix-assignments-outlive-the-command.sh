#!/usr/bin/env bash
# Guess: `a=2 command` sets `a` for the command only.
#
# True for programs. POSIX lets the assignment stay after a special builtin (`:`, `eval`, `export`, `set`),
# and most shells do that; bash and zsh do not. In ksh93 it also stays after a function of the script. The
# words of `a=2 export b=$a` are expanded before the assignment, but after it in zsh and ksh93.
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

text='a=1; a=2 :; echo $a'
printf '%s\n' "$text"
expect "$text" 1 bash zsh
expect "$text" 2 ksh93 mksh yash dash posh busybox
expect "set -o posix; $text" 2 bash
text='a=1; a=2 export b=$a; echo $b'
printf '%s\n' "$text"
expect "$text" 1 bash mksh yash dash posh busybox
expect "$text" 2 zsh ksh93
text='f() { true; }; a=1; a=2 f; echo $a'
printf '%s\n' "$text"
expect "$text" 2 ksh93
expect "$text" 1 bash zsh mksh yash dash posh busybox
echo 'an assignment before a builtin or a function may stay'
