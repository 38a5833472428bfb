#!/usr/bin/env bash
# Guess: `pm2 --version` prints a version, and `pm2 list` at most reads the state of a daemon that runs.
# True: every call of pm2 starts its daemon first, which continues after the call. The script ends it by
# the file with its process number, in a home of its own.
# Version: pm2 7.0.4 of npm. Source: run below; lib/binaries/CLI.js.
set -euo pipefail

folder=$(mktemp -d)
end() {
    [ ! -f "$folder/home/pm2.pid" ] || kill "$(cat "$folder/home/pm2.pid")" || true
    rm -rf "$folder"
}
trap end EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund pm2@7.0.4
mkdir home
export PM2_HOME=$folder/home
echo "pm2 $(./node_modules/.bin/pm2 --version 2>/dev/null | tail -1)"
process=$(cat home/pm2.pid)
running=$(ps -o args= -p "$process")
echo "after pm2 --version: $running"
case $running in
*"God Daemon"*) ;;
*) exit 1 ;;
esac
