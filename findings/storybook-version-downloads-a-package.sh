#!/usr/bin/env bash
# Guess: `storybook --version` prints the version of the installed package, like most command lines of npm.
# True: the installed program is a dispatcher. For everything but `dev`, `build` and `index`, also for
# `--version`, it starts the package manager of the project to download and run another package.
# Version: storybook 10.6.7. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir project managers
npm install --silent --no-audit --no-fund --prefix tool storybook@10.6.7 >/dev/null

cd project
echo '{ "name": "project", "version": "1.0.0" }' >package.json
for manager in npm npx yarn pnpm; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/started"\necho 10.0.0\n' "$manager" "$folder" >"../managers/$manager"
    chmod +x "../managers/$manager"
done
PATH="$folder/managers:$PATH" timeout 120 ../tool/node_modules/.bin/storybook --version >../output 2>&1 || true
cat ../started
grep -q '@storybook/cli@10.6.7 --version' ../started
echo 'storybook 10.6.7: --version is handed to a package that is downloaded'
