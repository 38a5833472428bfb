#!/usr/bin/env bash
# Guess: `ctest -N` lists the tests, runs none and so writes nothing.
# True: it writes `Testing/Temporary/LastTest.log` in the folder, as a run does, and replaces the log of the
# last run. `--print-labels` does the same.
# Version: CTest 4.1.2 of PyPI (cmake). Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet cmake==4.1.2
mkdir project
cd project
echo 'add_test(one true)' >CTestTestfile.cmake
../venv/bin/ctest --version | head -1
../venv/bin/ctest >/dev/null
grep -c 'Test Passed' Testing/Temporary/LastTest.log
for option in -N --print-labels; do
    echo 'log of the last run' >Testing/Temporary/LastTest.log
    ../venv/bin/ctest "$option" >/dev/null 2>&1
    echo "ctest $option leaves in LastTest.log: $(head -1 Testing/Temporary/LastTest.log)"
    [ "$(grep -c 'log of the last run' Testing/Temporary/LastTest.log)" = 0 ]
done
