// Runs one scenario inside the sandbox: reads ~/scenario.json, prints the outcome as JSON.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync, closeSync, copyFileSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { clients, earlierClients, HOME, PORT, PROJECT } from './clients.mjs';
import { environment, finish, GUARD, makeProject, programOf, put, putFiles, run, scenario } from './home.mjs';
import { serveModel } from './model.mjs';

const INSTALLED = join(HOME, '.cargo/bin/hooks-guard');
const SERVICE = 'http://127.0.0.1:3000/api/hooks';

const client = clients.find((client) => client.id === scenario.client);
const env = environment(client);
/** Factor of the time limits. */
const SLOW = scenario.slow ?? 1;
const outcome = { notes: [], install: '', answers: [] };

/** Puts a client on the path, under the name that users run. */
function putProgram(client) {
  put(join(HOME, 'bin', client.command), `#!/bin/sh\nexec ${programOf(client).join(' ')} "$@"\n`, 0o755);
}

/** Installs the guard as a user does, then replaces its binary by the double. */
function installGuard() {
  mkdirSync(dirname(INSTALLED), { recursive: true });
  mkdirSync(join(HOME, 'calls'));
  copyFileSync(GUARD, INSTALLED);
  chmodSync(INSTALLED, 0o755);
  const { text, status } = run(INSTALLED, ['install', client.agent, ...scenario.install], { env });
  outcome.install = text;
  if (status !== 0) outcome.notes.push(`install: status ${status}: ${text.trim()}`);
  if (scenario.guard === 'missing') return rmSync(INSTALLED);
  if (scenario.guard === 'plain') return;
  if (scenario.guard === 'empty') return put(INSTALLED, '#!/bin/sh\nexec cat >/dev/null\n', 0o755);
  put(join(HOME, 'guard-mode'), scenario.guard);
  put(join(HOME, 'late-seconds'), String(scenario.late));
  const double = `${INSTALLED}.double`;
  copyFileSync(join(import.meta.dirname, 'guard-double.sh'), double);
  chmodSync(double, 0o755);
  renameSync(double, INSTALLED);
}

/** Removes the trust that `install` gave to the hooks, or replaces it by the trust in other hooks. */
function breakTrust(how) {
  const path = join(HOME, '.codex/config.toml');
  const text = readFileSync(path, 'utf8');
  const missing = text.replace(/^\[hooks\.state[^]*?(?=^\[(?!hooks\.state)|$(?![^]))/gm, '');
  put(path, how === 'stale' ? text.replace(/sha256:\w+/g, `sha256:${'0'.repeat(64)}`) : missing);
}

/** Returns the files that `install` wrote. */
function installedFiles() {
  const settings = ['.claude/settings.json', '.codex/hooks.json', '.gemini/settings.json',
    '.copilot/hooks/hooks-guard.json', '.config/opencode/plugins/hooks-guard.js', '.qwen/settings.json',
    '.factory/hooks.json', '.grok/hooks/hooks-guard.json', '.cline/hooks/PreToolUse.sh',
    '.pi/agent/extensions/hooks-guard.ts', '.kimi-code/config.toml',
    '.config/kilo/plugins/hooks-guard.js', '.agents/plugins/hooks-guard/hooks/hooks.json',
    '.letta/settings.json', '.augment/settings.json', '.vibe/hooks.toml', '.openhands/hooks.json'];
  return settings.map((path) => join(HOME, path)).filter(existsSync);
}

/** Returns a value with the keys of all objects in the opposite order. */
function reversed(value) {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([key, inner]) => [key, reversed(inner)]));
}

/**
 * Edits the settings that `install` wrote, as another program may: other indentation, other order of keys, and a
 * further hook, which does nothing, at each event, `after` or `before` the hook of the guard.
 */
function editSettings(place) {
  const harmless = (entry) => JSON.parse(JSON.stringify(entry, (key, value) => {
    if (typeof value !== 'string' || !value.includes('hooks-guard')) return value;
    return ['command', 'bash', 'powershell'].includes(key) ? 'true' : 'another hook';
  }));
  const added = (value) => {
    if (Array.isArray(value)) {
      const own = value.find((entry) => JSON.stringify(entry).includes('hooks-guard hook'));
      if (!own) return value;
      return place === 'before' ? [harmless(own), ...value] : [...value, harmless(own)];
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, added(inner)]));
  };
  const tables = installedFiles().filter((path) => path.endsWith('.toml'));
  const paths = installedFiles().filter((path) => path.endsWith('.json'));
  if (paths.length + tables.length === 0) outcome.notes.push('no settings to edit were found');
  for (const path of tables) {
    const settings = readFileSync(path, 'utf8');
    const edited = editedTables(settings, place);
    if (!edited.includes('another hook')) outcome.notes.push(`${path} has no hook of the guard`);
    put(path, edited);
  }
  for (const path of paths) {
    const settings = JSON.parse(readFileSync(path, 'utf8'));
    const edited = added(settings);
    if (JSON.stringify(edited) === JSON.stringify(settings)) outcome.notes.push(`${path} has no hook of the guard`);
    put(path, `${JSON.stringify(reversed(edited), null, '\t')}\n\n`);
  }
}

/** Does the same with a TOML document, in which each hook is a table of a list. */
function editedTables(text, place) {
  let number = 0;
  return text.split(/^(?=\[)/m).map((table) => {
    if (!table.includes('hooks-guard hook')) return table;
    const [header, ...lines] = table.trim().split('\n');
    const own = [header, ...lines.reverse().map((line) => `  ${line}`), ''].join('\n');
    number += 1;
    const other = own
      .replace(/^ *command = .*$/m, '  command = "true" # another hook')
      .replace(/^ *name = .*$/m, `  name = "another-${number}"`);
    return place === 'before' ? `${other}\n${own}\n` : `${own}\n${other}\n`;
  }).join('');
}

/** Shortens each timeout of the hook that `install` wrote. */
function shortenTimeouts(seconds) {
  const shorter = (text) =>
    text
      .replace(/("timeout(?:Sec)?": *|^timeout = |LIMIT = )(\d+)/gm, (whole, key, number) => {
        if (Number(number) < 60) return whole;
        return `${key}${Number(number) >= 60_000 ? seconds * 1_000 : seconds}`;
      })
      .replace(/(--timeout(?:"?,\s*"| )|\?timeout=)(\d{3,})/g, `$1${seconds}`);
  let changed = false;
  for (const path of installedFiles()) {
    const text = readFileSync(path, 'utf8');
    changed ||= shorter(text) !== text;
    put(path, shorter(text));
  }
  if (!changed) outcome.notes.push('no timeout was found in the settings');
}

/**
 * Runs the service and answers each question with `APPROVED` or `DENIED`; `nothing` leaves it pending. A question that
 * contains the text `refuses` of the scenario is denied.
 * `stopped` stops the process once it responds.
 */
async function serve(answer) {
  const token = randomBytes(32).toString('hex');
  put(join(HOME, 'token'), token, 0o600);
  const said = openSync(join(HOME, 'service.log'), 'w');
  const service = spawn(GUARD, ['serve', '--token-file', join(HOME, 'token')], { env, stdio: ['ignore', said, said] });
  const get = (path) => fetch(`${SERVICE}/${path}`).then((response) => response.json());
  let ready = false;
  for (let i = 0; i < 100 && !ready; i += 1) {
    ready = await get('pending').then(() => true, () => sleep(100));
  }
  if (!ready) outcome.notes.push(`the service does not respond: ${readFileSync(join(HOME, 'service.log'), 'utf8')}`);
  if (answer === 'stopped') {
    service.kill('SIGSTOP');
    return;
  }
  const operator = async () => {
    const { pending } = await get('pending');
    for (const { id, command } of pending) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const refused = scenario.refuses && command.includes(scenario.refuses);
      const body = JSON.stringify({ id, response: refused ? 'DENIED' : answer });
      if (answer !== 'nothing') await fetch(`${SERVICE}/permission-response`, { method: 'POST', headers, body });
      if (!outcome.answers.includes(command)) outcome.answers.push(command);
    }
  };
  setInterval(() => operator().catch((error) => outcome.notes.push(`operator: ${error}`)), 100).unref();
}

/** Returns the id of the session that the client kept last: the name of a file or a folder. */
function lastSession() {
  const folder = join(HOME, client.sessions);
  const names = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith('.json'));
  const newest = names.sort((one, other) => statSync(join(folder, one)).mtimeMs - statSync(join(folder, other)).mtimeMs);
  return newest.at(-1)?.split('/').at(-1).split('.')[0] ?? 'no-session';
}

function withSession(flag) {
  return flag === 'SESSION' ? lastSession() : flag;
}

async function runHeadless(seconds, { flags, prompt, folder = PROJECT }, version = client) {
  const said = openSync(join(HOME, 'client.log'), 'a');
  const args = version.headless(flags.map(withSession), prompt);
  const child = spawn(version.command, args, { cwd: folder, env, stdio: ['ignore', said, said] });
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1_000 * SLOW);
  outcome.status = await new Promise((resolve) => {
    child.on('error', (error) => resolve(String(error)));
    child.on('close', (status, signal) => resolve(status ?? signal));
  });
  clearTimeout(timer);
  closeSync(said);
}

/**
 * Runs the client in a terminal. `{see}` waits for a pattern, or until the model received `orTold`
 * results; `{submit}` types a prompt until the model gets it; `{type}` types without a key at its end; `{key}` presses a
 * key; `{wait}` waits some seconds.
 */
async function runInTerminal(keys) {
  const tmux = (...args) => run('tmux', ['-f', '/dev/null', ...args], { cwd: PROJECT, env }).text;
  const words = [client.command, ...client.terminal(scenario.flags.map(withSession))].map((word) => `'${word}'`);
  tmux('new-session', '-d', '-s', 'lab', '-x', '120', '-y', '45', `${words.join(' ')}; echo ENDED; sleep 1000`);
  const screen = () => tmux('capture-pane', '-p', '-t', 'lab').replace(/(\s*\n)+/g, '\n');
  const waitFor = async (seconds, done) => {
    for (const end = Date.now() + seconds * 1_000; !done(); await sleep(200)) if (Date.now() > end) return false;
    return true;
  };
  for (const { see, orTold = Infinity, submit, type, key, wait } of keys) {
    if (wait) await sleep(wait * 1_000 * SLOW);
    if (type) {
      tmux('send-keys', '-t', 'lab', '-l', type);
      await sleep(1_500);
    }
    if (key) {
      tmux('send-keys', '-t', 'lab', key);
      await sleep(400);
    }
    if (submit) {
      tmux('send-keys', '-t', 'lab', '-l', submit);
      await waitFor(10, () => screen().includes(submit));
      // A busy client ignores the key. Pressed after the request, it could answer a prompt.
      const requested = () => outcome.model.conversation !== '';
      for (let tries = 0; tries < 8 && !requested(); tries += 1) {
        tmux('send-keys', '-t', 'lab', 'Enter');
        await waitFor(4, requested);
      }
    }
    const seen = () => new RegExp(see).test(screen()) || outcome.model.told.length >= orTold;
    if (see && !(await waitFor(40 * SLOW, seen))) outcome.notes.push(`the terminal did not show ${see}`);
  }
  outcome.screen = screen();
  tmux('kill-server');
}

/** Returns the names of the calls of the hook, without an extension; each ends with the number of its process. */
function namesOfCalls() {
  const folder = join(HOME, 'calls');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.arguments')).sort() : [];
  return names.map((name) => name.replace(/\.arguments$/, ''));
}

/** Waits until no call of the hook runs; one that starts now begins within the first wait. */
async function waitForHooks() {
  await sleep(300);
  const running = () => namesOfCalls().some((name) => existsSync(`/proc/${name.split('-')[1]}`));
  for (const end = Date.now() + 10_000 * SLOW; running() && Date.now() < end; await sleep(20));
}

function readCalls() {
  const folder = join(HOME, 'calls');
  return namesOfCalls().map((name) => {
    const kept = (extension) => {
      const path = join(folder, `${name}.${extension}`);
      return existsSync(path) ? readFileSync(path, 'utf8') : '';
    };
    return { input: kept('input'), output: kept('output'), error: kept('error'), status: kept('status').trim() };
  });
}

makeProject(env);
put(join(HOME, '.bashrc'), '# untouched\n');
putProgram(client);
putFiles({ ...client.files, ...scenario.files });
if (scenario.guard !== 'none') installGuard();
if (scenario.trust) breakTrust(scenario.trust);
if (scenario.timeouts) shortenTimeouts(scenario.timeouts);
if (scenario.token) env.HOOKS_GUARD_AGENT_TOKEN = run(GUARD, ['token', client.agent], { env }).text.trim();
if (scenario.service) await serve(scenario.service);
if (scenario.edit && scenario.guard !== 'none') editSettings(scenario.edit);
for (const args of scenario.prepare) {
  const { text, status } = run(client.command, args, { cwd: HOME, env, timeout: 60_000 * SLOW });
  if (status !== 0) outcome.notes.push(`${client.command} ${args.join(' ')}: status ${status}: ${text.trim()}`);
}
for (const args of scenario.git) run('git', args, { cwd: PROJECT, env });
outcome.model = await serveModel(PORT, scenario.script, scenario.others, client.killsHooks ? waitForHooks : undefined);
const started = Date.now();
if (scenario.first) {
  const earlier = [...clients, ...earlierClients].find(({ id }) => id === (scenario.first.client ?? client.id));
  putProgram(earlier);
  await runHeadless(scenario.seconds, { ...scenario, ...scenario.first }, earlier);
  putProgram(client);
}
if (scenario.keys) await runInTerminal(scenario.keys);
if (!scenario.keys || scenario.thenHeadless) await runHeadless(scenario.seconds, scenario);
outcome.elapsed = Date.now() - started;
outcome.calls = readCalls();
outcome.bashrc = readFileSync(join(HOME, '.bashrc'), 'utf8');
if (scenario.guard !== 'none') {
  outcome.trail = run(GUARD, ['audit', 'list'], { env }).text;
  if (scenario.decisions) outcome.decisions = run(GUARD, ['audit', 'list', '--json', '--limit', '100000'], { env }).text;
  if (scenario.doctor) {
    copyFileSync(GUARD, INSTALLED);
    outcome.doctor = run(INSTALLED, ['doctor'], { cwd: PROJECT, env }).text;
  }
}
outcome.said = existsSync(join(HOME, 'client.log')) ? readFileSync(join(HOME, 'client.log'), 'utf8').slice(-4_000) : '';
finish(outcome);
