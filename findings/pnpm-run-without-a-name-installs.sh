#!/usr/bin/env bash
# Guess: `pnpm run` without a name lists the scripts of `package.json`, and runs none.
# True: pnpm compares `node_modules` with `package.json` first. If they differ, it installs: it runs the
# scripts `preinstall` and `prepare`, and writes `pnpm-lock.yaml` and `node_modules`. `pnpm --version` does
# not. `verifyDepsBeforeRun: false` in `pnpm-workspace.yaml` switches it off.
# Version: pnpm 12.21.0 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund pnpm@12.21.0
mkdir project
cd project
cat >package.json <<'JSON'
{ "name": "kitchen", "version": "1.0.0", "scripts": {
  "preinstall": "echo preinstall >>log",
  "prepare": "echo prepare >>log",
  "build": "echo build >>log"
} }
JSON
export HOME=$folder CI=true
echo "pnpm $(../node_modules/.bin/pnpm --version)"
test "$(echo *)" = package.json

echo 'verifyDepsBeforeRun: false' >pnpm-workspace.yaml
../node_modules/.bin/pnpm run >/dev/null 2>&1
echo "files after pnpm run with verifyDepsBeforeRun: false: $(echo *)"
test "$(echo *)" = 'package.json pnpm-workspace.yaml'
rm pnpm-workspace.yaml

../node_modules/.bin/pnpm run 2>/dev/null
echo "files after pnpm run: $(echo *); scripts: $(paste -sd ' ' log)"
test "$(echo *)" = 'log node_modules package.json pnpm-lock.yaml'
test "$(paste -sd ' ' log)" = 'preinstall prepare'
