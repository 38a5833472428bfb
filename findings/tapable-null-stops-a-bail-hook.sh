#!/usr/bin/env bash
# Guess: a tap of tapable that returns `null` or `undefined` has no opinion: a bail hook runs the next
# tap, and a waterfall hook keeps its value. The operators `??` and `?.` take the two for the same.
# True: only `undefined` has no opinion. `null` ends a bail hook and is its result, and replaces the value
# of a waterfall hook, as `false`, `0` and `''` do.
# Version: tapable 2.3.4 of npm. Source: run below; the code that its lib/HookCodeFactory.js writes compares
# with `undefined`.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund tapable@2.3.4
cat >check.cjs <<'JS'
const assert = require('assert')
const { SyncBailHook, SyncWaterfallHook } = require('tapable')
console.log('tapable', require('tapable/package.json').version)
for (const [value, hasOpinion] of [[undefined, false], [null, true], [false, true], [0, true], ['', true]]) {
  const bail = new SyncBailHook(['x'])
  let ran = false
  bail.tap('first', () => value)
  bail.tap('second', () => { ran = true })
  const result = bail.call(1)
  const waterfall = new SyncWaterfallHook(['x'])
  waterfall.tap('first', () => value)
  const end = waterfall.call('start')
  console.log(value, '-> the second tap of a bail hook runs:', ran, 'result:', result, 'waterfall:', end)
  assert.strictEqual(ran, !hasOpinion)
  assert.strictEqual(result, value)
  assert.strictEqual(end, hasOpinion ? value : 'start')
}
JS
node check.cjs
