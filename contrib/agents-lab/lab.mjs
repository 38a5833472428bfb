#!/usr/bin/env node
// Runs the published clients of coding agents against a `hooks-guard` binary; README.md describes it.

import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  accessSync, chmodSync, chownSync, constants, cpSync, existsSync, mkdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { homedir, platform } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { acpChecks, acpScenario } from './acp.mjs';
import { scenario, selected } from './checks.mjs';
import { clients, earlierClients, node } from './clients.mjs';
import { reached } from './expectations.mjs';
import { findPython, install } from './install.mjs';
import { record, writeTable } from './results.mjs';
import { compareTimes } from './time.mjs';
import { copyTranscripts, sessions } from './transcripts.mjs';

const LAB = fileURLToPath(new URL('.', import.meta.url));
const USAGE = `Usage: lab.mjs [OPTION…] [CLIENT…]

Runs the clients (default: all) against a hooks-guard binary.

  --guard FILE   binary under test (default: target/debug/hooks-guard)
  --only NAME,…  only the checks of these names
  --quick        only the checks that continuous integration runs
  --unguarded    without the guard: a check that the guard makes pass has to fail
  --jobs NUMBER  scenarios at once (default: 2)
  --slow NUMBER  multiplies the time limits of the clients, for a loaded machine (default: 1)
  --again        run a check a second time if it failed, but nothing ran that the guard prevents
  --keep         keep the homes of the scenarios
  --list         print the checks
  --record       keep the results in results.json
  --transcripts FOLDER  copy there what each client writes in sessions without the guard, and run nothing else
  --offered      print the names of the tools that each client offers to its model, without the guard
  --time         only compare the times of calls with and without the hook (default clients: claude, codex)
  --limit NUMBER with --time: a greater ratio to an empty hook fails
  --table        write the results to docs/agents.md, and run nothing
`;

const { values: options, positionals: ids } = parseArgs({
  allowPositionals: true,
  options: {
    guard: { type: 'string', default: join(LAB, '../../target/debug/hooks-guard') },
    only: { type: 'string' },
    quick: { type: 'boolean' },
    unguarded: { type: 'boolean' },
    jobs: { type: 'string', default: '2' },
    slow: { type: 'string', default: '1' },
    again: { type: 'boolean' },
    keep: { type: 'boolean' },
    list: { type: 'boolean' },
    record: { type: 'boolean' },
    offered: { type: 'boolean' },
    transcripts: { type: 'string' },
    time: { type: 'boolean' },
    limit: { type: 'string' },
    table: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});

const CANNOT_RUN = 3;
const strict = process.env.HOOKS_REQUIRE_ALL === '1';
const cache = resolve(
  process.env.HOOKS_AGENTS_LAB ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hooks-agents-lab'),
);
// Several labs can run at once.
const homes = join(cache, 'homes', String(process.pid));
const isRoot = process.getuid?.() === 0;
const namespaces = [
  ...(isRoot ? [] : ['--user', '--map-root-user']),
  ...['--net', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '--mount-proc'],
];
const counts = { ok: 0, BAD: 0, open: 0, SKIP: 0, AGAIN: 0 };

const recorded = [];

function report(word, client, says, why = '', check = '') {
  counts[word] += 1;
  if (!['SKIP', 'AGAIN'].includes(word)) recorded.push({ client, check, says, result: word });
  console.log(`${word.padEnd(5)} ${client.padEnd(14)} ${says}`);
  if (why) console.log(why.trim().replace(/^/gm, '       '));
}

/** Ends the program because the lab cannot run at all. */
function cannotRun(why, isTheMachine) {
  console.log(`SKIP all            ${why}`);
  process.exit(strict && !isTheMachine ? 1 : CANNOT_RUN);
}

function checkMachine() {
  if (platform() !== 'linux') cannotRun('the lab needs Linux: it runs clients in separate namespaces', true);
  const needed = { npm: 'npm', unshare: 'util-linux', setpriv: 'util-linux', ip: 'iproute2', git: 'git', tmux: 'tmux' };
  for (const [program, debian] of Object.entries(needed)) {
    const found = process.env.PATH.split(':').some((folder) => existsSync(join(folder, program)));
    if (!found) cannotRun(`\`${program}\` is missing; install ${debian}`, false);
  }
  const tried = spawnSync('unshare', [...namespaces, 'true'], { encoding: 'utf8' });
  if (tried.status !== 0) cannotRun(`namespaces are not permitted: ${tried.stderr.trim()}`, true);
  if (options.offered || options.transcripts) return;
  try {
    accessSync(options.guard, constants.X_OK);
  } catch {
    cannotRun(`${options.guard} is missing; build it with \`cargo build -p hooks-guard\``, false);
  }
}

/** Installs the clients; returns those that are there. */
function installClients(wanted) {
  const folder = join(cache, 'clients');
  mkdirSync(folder, { recursive: true });
  const there = [];
  for (const client of [node, ...new Set(wanted)]) {
    const { why, refused } = install(client, folder);
    if (!why) there.push(client);
    else if (client === node) cannotRun(`${client.packages[0]} cannot be installed: ${why}`, refused);
    else if (refused) report('SKIP', client.id, `the registry refuses ${client.packages[0]}: ${why}`);
    else report(strict ? 'BAD' : 'SKIP', client.id, `${client.packages[0]} cannot be installed: ${why}`);
  }
  return there;
}

/** Prints each client of which the registry has a newer version than the pinned one. */
async function reportNewer(wanted) {
  const newest = (name) =>
    new Promise((resolve) => {
      execFile('npm', ['view', name, 'version'], { encoding: 'utf8', timeout: 30_000 }, (error, text) =>
        resolve(error ? undefined : text.trim()));
    });
  const newestPython = ({ python }, name) =>
    new Promise((resolve) => {
      const args = ['-m', 'pip', 'index', 'versions', name];
      execFile(findPython(python)?.program ?? 'false', args, { encoding: 'utf8', timeout: 30_000 }, (error, text) =>
        resolve(error ? undefined : /\(([^)]+)\)/.exec(text)?.[1]));
    });
  const checked = [...new Set(wanted)].filter((client) => !client.isOld);
  const lines = await Promise.all(
    checked.map(async (client) => {
      const [, name, pinned] = client.packages[0].match(/^(.+)@(.+)$/);
      const found = await (client.python ? newestPython(client, name) : newest(name));
      return found && found !== pinned ? `newer: ${client.id} ${found}; the lab has ${pinned}` : undefined;
    }),
  );
  for (const line of lines.filter(Boolean)) console.log(line);
}

/** Runs a scenario in the sandbox; returns its outcome, or what the sandbox printed. `keep` gets the home at the end. */
async function runScenario(name, scene, keep = () => {}) {
  const home = join(homes, name);
  mkdirSync(join(home, 'guard'), { recursive: true });
  if (scene.guard !== 'none') cpSync(options.guard, join(home, 'guard/hooks-guard'));
  writeFileSync(join(home, 'scenario.json'), JSON.stringify(scene));
  if (isRoot) for (const path of [home, join(home, 'guard')]) chownSync(path, 1000, 1000);
  for (const path of [join(home, 'guard'), join(home, 'scenario.json')]) chmodSync(path, 0o755);

  const inside = ['sh', join(LAB, 'sandbox.sh'), home, join(cache, 'clients'), LAB];
  const program = [join('/mnt/clients', node.id, node.program[0]), `/mnt/lab/${scene.program ?? 'inside.mjs'}`];
  const child = spawn('unshare', [...namespaces, ...inside, ...program], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (data) => (printed += data));
  child.stderr.setEncoding('utf8').on('data', (data) => (said += data));
  const timer = setTimeout(() => child.kill('SIGKILL'), (scene.seconds * (scene.first ? 2 : 1) + 90) * 1_000 * (scene.slow ?? 1));
  await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  // The home belongs to the client: nothing in it is read.
  const outcome = printed === '' ? undefined : JSON.parse(printed);
  keep(home);
  if (!options.keep) rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  return { outcome, said };
}

/** Returns notes, calls of the hook and the end of the client's output, to explain a failure. */
function details(outcome) {
  const calls = outcome.calls.map(({ output, error, status }) => `hook: status ${status} ${output}${error}`.trim());
  const last = outcome.said.trim().split('\n').slice(-4);
  return [...outcome.notes, ...calls, ...last, outcome.screen ?? ''].join('\n').slice(0, 3_000);
}

async function runCheck({ check, client }) {
  const guard = options.unguarded ? 'none' : undefined;
  const scene = client.acp ? acpScenario(check, client, guard) : scenario(check, client, guard);
  scene.slow = Number(options.slow);
  const own = check.expect.filter(({ except }) => !except?.includes(client.id));
  const expected = options.unguarded ? own.filter((expectation) => expectation.prevents) : own;
  const attempt = async () => {
    const { outcome, said } = await runScenario(`${client.id}-${check.name}`, scene);
    const o = outcome && { ...outcome, agent: client.agent, script: scene.script.flat(), endsAtDenial: client.endsAtDenial };
    const why = (expectation) => (o ? expectation.test(o) : `the sandbox ended without an outcome: ${said}`);
    return { o, results: expected.map((expectation) => ({ ...expectation, why: why(expectation) })) };
  };
  let { o, results } = await attempt();
  // What the guard prevents is prevented at every attempt; the rest can fail because a client is slow.
  const failed = results.filter(({ open, why }) => !open && why);
  if (options.again && !options.unguarded && failed.length > 0 && !failed.some(({ prevents }) => prevents)) {
    for (const { says, why } of failed) report('AGAIN', client.id, says, why);
    ({ o, results } = await attempt());
  }
  for (const { says, why, open } of results) {
    if (!o) {
      report('BAD', client.id, says, why, check.name);
      continue;
    }
    if (options.unguarded) {
      const idle = reached(o);
      if (idle) report('BAD', client.id, says, `inconclusive without the guard: ${idle}`);
      else if (!why) report('BAD', client.id, says, 'passes without the guard');
      else report('ok', client.id, `${says}: fails without the guard (${why})`);
    } else if (open) {
      report(why ? 'ok' : 'open', client.id, says, why && `better than its rules: ${why}`, check.name);
    } else {
      report(why ? 'BAD' : 'ok', client.id, says, why && `${why}\n${details(o)}`, check.name);
    }
  }
}

if (options.help) {
  console.log(USAGE);
  process.exit();
}
if (options.table) {
  writeTable();
  process.exit();
}
if (options.record && options.unguarded) {
  console.error('`--record` keeps results with the guard; run it without `--unguarded`');
  process.exit(2);
}
if (options.offered) {
  checkMachine();
  const names = new Set();
  for (const client of installClients(clients.filter(({ id }) => ids.includes(id)))) {
    if (client === node) continue;
    const check = { name: 'offered', script: (tools) => [tools.shell('git status --short')] };
    const scene = { ...scenario(check, client, 'none'), slow: Number(options.slow) };
    const { outcome, said } = await runScenario(`${client.id}-offered`, scene);
    for (const name of outcome?.model.offered ?? []) names.add(name);
    if (names.size === 0) console.error(`${client.id} offers no tool: ${said}`);
  }
  rmSync(homes, { recursive: true, force: true });
  console.log(JSON.stringify([...names].sort()));
  process.exit(names.size === 0 ? 1 : 0);
}
if (options.transcripts) {
  checkMachine();
  for (const client of installClients(clients.filter(({ id, isOld }) => (ids.length === 0 ? !isOld : ids.includes(id))))) {
    if (client === node) continue;
    for (const check of sessions(client).filter(({ name }) => !options.only || options.only.split(',').includes(name))) {
      const scene = { ...scenario(check, client, 'none'), slow: Number(options.slow) };
      const keep = (home) => {
        const folder = join(options.transcripts, client.id, check.name);
        rmSync(folder, { recursive: true, force: true });
        copyTranscripts(client, home, folder, join(cache, 'clients', node.id, node.program[0]));
      };
      const { said, outcome } = await runScenario(`${client.id}-${check.name}`, scene, keep);
      console.log(`${client.id.padEnd(14)} ${check.name}: ${outcome?.model.told.length ?? said} results`);
    }
  }
  if (!options.keep) rmSync(homes, { recursive: true, force: true });
  process.exit();
}
if (options.time) {
  checkMachine();
  const wanted = clients.filter(({ id }) => (ids.length === 0 ? ['claude', 'codex'] : ids).includes(id));
  // One after another: sessions at once would slow each other down.
  for (const client of installClients(wanted).filter(({ id }) => id !== node.id)) {
    const run = async (name, scene) => (await runScenario(name, { ...scene, slow: Number(options.slow) })).outcome;
    const { why, beside, text } = await compareTimes(client, run);
    if (why) report('BAD', client.id, 'the times with and without the hook', why);
    else report(beside > Number(options.limit ?? Infinity) ? 'BAD' : 'ok', client.id, text);
  }
  if (!options.keep) rmSync(homes, { recursive: true, force: true });
  process.exit(counts.BAD > 0 ? 1 : 0);
}
let todo = selected({ only: options.only, quick: options.quick, ids });
if (options.quick) todo = todo.filter(({ client }) => !client.isHeavy);
if (!options.quick) todo.push(...acpChecks({ only: options.only, ids }));
if (options.unguarded) todo = todo.filter(({ check }) => check.expect.some((expectation) => expectation.prevents));
if (options.list) {
  for (const { check, client } of todo) {
    for (const { says } of check.expect) console.log(`${client.id.padEnd(14)} ${check.name.padEnd(26)} ${says}`);
  }
  process.exit();
}
if (todo.length === 0) {
  console.error('no check selected; run `--list`');
  process.exit(2);
}
checkMachine();
await reportNewer(todo.map(({ client }) => client));
/** Returns the clients of a check: its own, and the one of an earlier run. */
function clientsOf({ check, client }) {
  const id = check.first?.(client).client;
  const first = [...clients, ...earlierClients].find((one) => one.id === id);
  return first ? [client, first] : [client];
}

const there = installClients(todo.flatMap(clientsOf));
const queue = todo.filter((one) => clientsOf(one).every((client) => there.includes(client)));
async function work() {
  for (let next = queue.shift(); next; next = queue.shift()) {
    await runCheck(next);
    // A lab that is stopped keeps what it has.
    if (options.record) record(recorded);
  }
}
await Promise.all(Array.from({ length: Number(options.jobs) }, work));
if (options.keep) console.log(`the homes are in ${homes}`);
else rmSync(homes, { recursive: true, force: true });
const also = counts.open ? `; ${counts.open} open by the rules of the client` : '';
const repeated = counts.AGAIN ? `; ${counts.AGAIN} failed once and ran again` : '';
console.log(`${counts.ok} passed, ${counts.BAD} failed, ${counts.SKIP} skipped${also}${repeated}`);
process.exit(counts.BAD > 0 ? 1 : 0);
