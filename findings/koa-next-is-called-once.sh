#!/usr/bin/env bash
# Guess: the middleware of koa may call `next` again, for a retry, as that of LangChain and layers of
# tower may.
# True: koa-compose rejects the second call of `next` in one middleware.
# Version: koa-compose 4.2.0 of npm. Source: run below; its index.js.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund koa-compose@4.2.0
cat >check.cjs <<'JS'
const assert = require('assert')
const compose = require('koa-compose')
console.log('koa-compose', require('koa-compose/package.json').version)
let runs = 0
const twice = async (context, next) => { await next(); await next() }
compose([twice, async () => { runs += 1 }])({}).then(
  () => assert.fail('the second call was accepted'),
  (error) => {
    console.log(`inner ran ${runs} time; the second call: ${error.message}`)
    assert.strictEqual(error.message, 'next() called multiple times')
    assert.strictEqual(runs, 1)
  }
).catch((error) => { console.error(error); process.exit(1) })
JS
node check.cjs
