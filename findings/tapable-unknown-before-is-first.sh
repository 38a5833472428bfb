#!/usr/bin/env bash
# Guess: a tap whose `before` names a tap that does not exist is put where it would be without it,
# at the end, or is an error.
# True: tapable puts it first, also before taps of a lower `stage`. In a list of names, one unknown
# name has the same effect.
# Version: tapable 2.3.4 of npm. Source: run below; `_insert` of its lib/Hook.js.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund tapable@2.3.4
cat >check.cjs <<'JS'
const assert = require('assert')
const { SyncHook } = require('tapable')
console.log('tapable', require('tapable/package.json').version)
const order = (options) => {
  const hook = new SyncHook([])
  const ran = []
  hook.tap({ name: 'early', stage: -10 }, () => ran.push('early'))
  for (const name of ['a', 'b']) hook.tap(name, () => ran.push(name))
  hook.tap({ name: 'x', ...options }, () => ran.push('x'))
  hook.call()
  return ran.join(' ')
}
for (const [options, expected] of [
  [{}, 'early a b x'],
  [{ before: 'b' }, 'early a x b'],
  [{ before: 'missing' }, 'x early a b'],
  [{ before: ['b', 'missing'] }, 'x early a b']
]) {
  const seen = order(options)
  console.log(JSON.stringify(options), '->', seen)
  assert.strictEqual(seen, expected)
}
JS
node check.cjs
