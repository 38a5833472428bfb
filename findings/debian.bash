# Sourced by the findings about programs of Debian 12: unpacks pinned packages into the working directory.

# Unpacks `PACKAGE=VERSION` without installing it in the system, whose libraries the programs use.
unpack() {
    local package
    for package; do
        apt-get download -qq -o APT::Sandbox::User=root "$package"
        echo "$package"
    done
    for package in *.deb; do
        dpkg-deb -x "$package" unpacked
    done
    export LD_LIBRARY_PATH=$PWD/unpacked/usr/lib/x86_64-linux-gnu
}
