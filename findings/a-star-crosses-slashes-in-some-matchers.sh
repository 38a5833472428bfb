#!/usr/bin/env bash
# Guess: `*` in a pattern of paths matches within one folder, and `**` crosses folders.
# True: in half of the matchers, `a/*.rs` matches `a/b/c.rs`: paths given to git, `find -path`, `case` of
# the shell, `tar --exclude`, `zip -i` and `fnmatch` of Python. In `.gitignore`, for `rsync --exclude`, in
# minimatch and pathspec, it does not. So git itself has both meanings.
# Version: git, findutils, tar, rsync and zip below; minimatch 10.1.1 of npm, pathspec 1.1.1 of PyPI.
# Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund minimatch@10.1.1
python3 -m venv venv
venv/bin/pip install --quiet pathspec==1.1.1
for program in 'git --version' 'find --version' 'tar --version' 'rsync --version' 'zip -v'; do
    $program 2>/dev/null | awk '/[0-9]\.[0-9]/ && !seen++'
done
mkdir -p work/a/b
touch work/a/b/c.rs
cd work
git init --quiet .
git add a
echo 'a/*.rs' >.gitignore

# check EXPECTED NAME PROGRAM…: whether the program finds `a/b/c.rs` by `a/*.rs`.
check() {
    local seen=no
    if "${@:3}" >../output 2>&1; then seen=yes; fi
    printf '%-18s %s\n' "$2" "$seen"
    [ "$seen" = "$1" ] || { cat ../output; exit 1; }
}

shell() { case a/b/c.rs in a/*.rs) ;; *) return 1 ;; esac; }
find_path() { find . -path './a/*.rs' | grep -q .; }
tar_exclude() { ! tar c --exclude='a/*.rs' a | tar t | grep -q rs; }
zip_include() { zip -q -r ../one.zip a -i 'a/*.rs'; }
rsync_exclude() { ! rsync -rn --out-format=%n --exclude='/a/*.rs' ./ ../none/ | grep -q 'c.rs'; }
python_fnmatch() { python3 -c 'import fnmatch, sys; sys.exit(not fnmatch.fnmatchcase("a/b/c.rs", "a/*.rs"))'; }
python_pathspec() {
    ../venv/bin/python -c 'import pathspec, sys
sys.exit(not pathspec.GitIgnoreSpec.from_lines(["a/*.rs"]).match_file("a/b/c.rs"))'
}
node_minimatch() { node -e 'process.exit(require("minimatch").minimatch("a/b/c.rs", "a/*.rs") ? 0 : 1)'; }

check yes 'git ls-files' git ls-files --error-unmatch 'a/*.rs'
check yes 'find -path' find_path
check yes 'case' shell
check yes 'tar --exclude' tar_exclude
check yes 'zip -i' zip_include
check yes 'fnmatch' python_fnmatch
check no '.gitignore' git check-ignore --no-index a/b/c.rs
check no 'rsync --exclude' rsync_exclude
check no 'minimatch' node_minimatch
check no 'pathspec' python_pathspec
