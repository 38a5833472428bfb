#!/usr/bin/env bash
# Guess: `printf %d` and `[ a -eq b ]` take numbers, as POSIX says; only `$(( … ))`, `(( … ))` and
# `[[ … -eq … ]]` compute, and read a name as a variable.
#
# True for bash, dash, yash and busybox. `printf %d` computes in zsh and ksh93, and `[ … -eq … ]` computes
# in ksh93, mksh and posh, but not in zsh: the two sets share one shell. A value that passes `[ "$n" -eq 7 ]`
# need not be a number there.
#
# Seen with the versions below; in the manual of zsh under `printf`, in those of ksh93 and mksh under `test`.
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

echo "printf '%d\n' '3+4'"
expect "printf '%d\n' '3+4'" 7 zsh ksh93
expect "printf '%d\n' '3+4'" 3 bash yash dash
echo 'x=7; [ x -eq 3+4 ] && echo equal'
expect 'x=7; [ x -eq 3+4 ] && echo equal' equal ksh93 mksh posh
expect 'x=7; [ x -eq 3+4 ] && echo equal' '' bash zsh yash dash busybox
echo 'printf computes in zsh and ksh93; test computes in ksh93, mksh and posh'
