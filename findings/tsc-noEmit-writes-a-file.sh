#!/usr/bin/env bash
# Guess: `tsc --noEmit` writes no file.
# True: with `incremental` or `composite` in `tsconfig.json`, it writes `tsconfig.tsbuildinfo` next to it,
# without a cache folder. `--incremental false` overrides `incremental`.
# Version: TypeScript 5.9.3 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund typescript@5.9.3
mkdir project
cd project
echo 'export const a = 1' >a.ts
../node_modules/.bin/tsc --version

# check OPTIONS EXPECTED WORD…
check() {
    echo "{ \"compilerOptions\": { $1 }, \"files\": [\"a.ts\"] }" >tsconfig.json
    ../node_modules/.bin/tsc "${@:3}"
    local seen
    seen=$(echo *)
    echo "{ $1 }, tsc ${*:3}: $seen"
    [ "$seen" = "$2" ] || { echo "expected: $2"; exit 1; }
    rm -f tsconfig.tsbuildinfo
}

check '' 'a.ts tsconfig.json' --noEmit
check '"incremental": true' 'a.ts tsconfig.json tsconfig.tsbuildinfo' --noEmit
check '"composite": true' 'a.ts tsconfig.json tsconfig.tsbuildinfo' --noEmit
check '"incremental": true' 'a.ts tsconfig.json' --noEmit --incremental false
