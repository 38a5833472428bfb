# Sourced by the findings about shells: installs the shells of Debian 12, and runs texts in them.

# Pinned packages.
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

# Unpacks the packages into the working directory, and prints their versions. Nothing is installed in
# the system, whose libraries the shells use.
install_shells() {
    local package
    for package in "${packages[@]}"; do
        curl -fsSLO "http://deb.debian.org/debian/pool/main/${package}_amd64.deb"
        dpkg-deb -x "${package##*/}_amd64.deb" unpacked
        echo "${package##*/}"
    done
}

# Prints what a shell makes of a text.
run() {
    local shell=$1 text=$2 program
    case $shell in
    busybox) program=("unpacked/bin/busybox" sh) ;;
    yash | posh) program=("unpacked/usr/bin/$shell") ;;
    *) program=("unpacked/bin/$shell") ;;
    esac
    [ -x "${program[0]}" ] || { echo "$shell is missing"; return; }
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
