// Agents of the Agent Client Protocol behind `hooks-guard acp`.
//
// Outside of the sandbox this module exports the agents and their checks. Inside, it is the program
// of the scenario: it takes the editor's place, starts the proxy with the agent, sends a prompt, and
// prints the outcome as JSON. The editor allows everything that reaches it.
//
// An agent has the fields of a client (clients.mjs) and
//   acp      command line of the agent, after its program
//   asking   settings with which it asks its editor: mode of the session, files, rules
//   deletes  its call that deletes `build`, if it differs from `tools.shell`
//   silent   `delete` and `write`, where it acts as installed without a request that the guard denies
//   reads    false if the editor offers no `fs/read_text_file`

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { clients, HOME, node, PORT, PROJECT } from './clients.mjs';
import { serveModel } from './model.mjs';

const READ = 'git status --short';
const DELETE = 'rm -r build';
const PERMISSION = 'session/request_permission';

const client = (id) => clients.find((client) => client.id === id);
const claude = client('claude');
const codex = client('codex');
const opencode = client('opencode');

export const agents = [
  {
    ...claude,
    id: 'claude-acp',
    packages: ['@agentclientprotocol/claude-agent-acp@0.101.0'],
    program: ['node', 'node_modules/.bin/claude-agent-acp'],
    acp: [],
    asking: { mode: 'default' },
    silent: ['delete', 'write'],
  },
  {
    ...codex,
    id: 'codex-acp',
    packages: ['@agentclientprotocol/codex-acp@2.6.0'],
    program: ['node', 'node_modules/.bin/codex-acp'],
    acp: [],
    asking: { mode: 'read-only' },
    // Without this its sandbox prevents the delete, and it does not ask.
    deletes: {
      tool: 'exec_command',
      arguments: { cmd: DELETE, sandbox_permissions: 'require_escalated', justification: 'x' },
    },
    silent: ['delete', 'write'],
  },
  {
    ...client('gemini'),
    // It takes the error about a missing file for another one, and then writes no new file.
    reads: false,
    acp: ['--skip-trust', '--experimental-acp', '-m', 'gemini-2.5-flash'],
    // Its request has the command only as a title, so only a rule denies it.
    asking: { rules: '[[rule]]\neffect = "deny"\nprogram = "rm"\nreason = "not here"\n' },
    silent: ['delete'],
  },
  {
    ...opencode,
    acp: ['acp'],
    asking: {
      files: {
        '.config/opencode/opencode.json': JSON.stringify({
          ...JSON.parse(opencode.files['.config/opencode/opencode.json']),
          permission: { bash: 'ask', edit: 'ask' },
        }),
      },
    },
    silent: ['delete', 'write'],
  },
];

// Checks.

const scripts = {
  delete: (agent, asks) => [agent.tools.shell(READ), (asks && agent.deletes) || agent.tools.shell(DELETE)],
  write: (agent) => [agent.tools.shell(READ), agent.tools.write(`${PROJECT}/new.txt`, 'hello')],
};

/** Fails unless the agent received all calls of the script. */
function reached(o) {
  if (o.notes.length > 0) return o.notes.join('; ');
  const { length } = o.model.requested;
  return length === o.script.length ? '' : `the agent received ${length} of ${o.script.length} calls`;
}

const stays = {
  delete: (o) => reached(o) || (o.buildStays ? '' : '`build` is gone'),
  write: (o) => reached(o) || (o.written ? '`new.txt` is written' : ''),
};
const happens = {
  delete: (o) => reached(o) || (o.buildStays ? '`build` stays' : ''),
  write: (o) => reached(o) || (o.written ? '' : '`new.txt` is not written'),
};
const trail = (pattern) => (o) => reached(o) || (pattern.test(o.trail) ? '' : `the trail is:\n${o.trail}`);
const told = (o) =>
  reached(o) || (/a\.txt/.test(o.model.told[0] ?? '') ? '' : `the model received: ${o.model.told[0]}`);
const noRequest = (o) =>
  o.requests.every(({ method }) => method === 'fs/read_text_file') ? '' : 'the editor received the request';

/** Returns the checks of the agents: with the settings that make them ask, and as they are installed. */
export function acpChecks({ only, ids }) {
  const wanted = agents.filter(({ id }) => ids.length === 0 || ids.includes(id));
  return wanted.flatMap((client) => {
    const asking = {
      name: 'acp',
      expect: [
        { says: 'a read-only command runs through the proxy', test: told },
        { says: 'the request for a delete is denied', test: stays.delete, prevents: true },
        { says: 'the editor does not receive the request for a delete', test: noRequest },
        { says: 'the trail has the delete', test: trail(/guard.*rm -r build|rule.*rm -r build/) },
      ],
    };
    const files = {
      name: 'acp-file',
      expect: [
        { says: 'the request for a new file is denied', test: stays.write, prevents: true },
        { says: 'the editor does not receive the request for a file', test: noRequest },
        { says: 'the trail has the file', test: trail(/guard.*new\.txt/) },
      ],
    };
    const installed = client.silent.map((what) => ({
      name: `acp-installed-${what}`,
      expect: [{ says: `as installed, a ${what} happens without a denial of the guard`, test: happens[what], open: true }],
    }));
    const checks = [asking, files, ...installed].filter(({ name }) => !only || name.startsWith(only));
    return checks.map((check) => ({ check, client }));
  });
}

/** Returns the scenario of a check. */
export function acpScenario(check, agent, guard) {
  const what = /file|write/.test(check.name) ? 'write' : 'delete';
  const asks = !check.name.startsWith('acp-installed');
  const asking = asks ? agent.asking : {};
  return { program: 'acp.mjs', client: agent.id, guard: guard ?? 'fine', script: scripts[what](agent, asks), asking, seconds: 150 };
}

// The editor, inside the sandbox.

const GUARD = join(HOME, 'guard/hooks-guard');

function put(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

function makeProject(env) {
  put(join(PROJECT, 'a.txt'), 'first\n');
  put(join(PROJECT, 'build/out.o'), 'built\n');
  put(join(HOME, '.gitconfig'), '[user]\nname = dev\nemail = dev@example.org\n');
  for (const args of [['init', '-q'], ['add', 'a.txt'], ['commit', '-qm', 'first']]) {
    spawnSync('git', args, { cwd: PROJECT, env });
  }
  put(join(PROJECT, 'a.txt'), 'first\nchanged\n');
}

/** An editor that allows everything, and records what reaches it. */
class Editor {
  constructor(program, args, env) {
    this.requests = [];
    this.updates = [];
    this.waiting = new Map();
    this.terminals = new Map();
    this.said = '';
    this.child = spawn(program, args, { cwd: PROJECT, env, stdio: 'pipe' });
    this.child.stderr.setEncoding('utf8').on('data', (data) => (this.said = (this.said + data).slice(-4_000)));
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
    createInterface({ input: this.child.stdout }).on('line', (line) => this.receive(line));
  }

  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  request(method, params) {
    const id = this.waiting.size;
    this.send({ id, method, params });
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  receive(line) {
    const message = JSON.parse(line);
    if (message.method === undefined) this.waiting.get(message.id)?.(message);
    else if (message.id === undefined) this.updates.push(message.params?.update?.sessionUpdate);
    else this.answer(message);
  }

  async answer({ id, method, params }) {
    this.requests.push({ method, params });
    try {
      this.send({ id, result: await this.run(method, params) });
    } catch (error) {
      // The code by which agents recognise a file that does not exist.
      const code = error.code === 'ENOENT' ? -32002 : -32603;
      this.send({ id, error: { code, message: error.message } });
    }
  }

  async run(method, params) {
    const terminal = this.terminals.get(params?.terminalId);
    switch (method) {
      case PERMISSION: {
        const option = params.options.find(({ kind }) => kind === 'allow_once') ?? params.options[0];
        return { outcome: { outcome: 'selected', optionId: option.optionId } };
      }
      case 'fs/read_text_file':
        return { content: readFileSync(params.path, 'utf8') };
      case 'fs/write_text_file':
        put(params.path, params.content);
        return null;
      case 'terminal/create':
        return { terminalId: this.createTerminal(params) };
      case 'terminal/output':
        return { output: terminal.output, truncated: false, exitStatus: terminal.status ?? null };
      case 'terminal/wait_for_exit':
        return terminal.exit;
      case 'terminal/kill':
      case 'terminal/release':
        return null;
      default:
        throw new Error(`unknown method ${method}`);
    }
  }

  createTerminal({ command, args = [], cwd = PROJECT }) {
    const terminal = { output: '' };
    const child = spawn(command, args, { cwd, shell: args.length === 0 });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (terminal.output += data));
    terminal.exit = new Promise((resolve) =>
      child.on('close', (exitCode, signal) => resolve((terminal.status = { exitCode, signal }))),
    );
    const id = `terminal-${this.terminals.size}`;
    this.terminals.set(id, terminal);
    return id;
  }
}

async function inside() {
  const scenario = JSON.parse(readFileSync(join(HOME, 'scenario.json'), 'utf8'));
  const agent = agents.find(({ id }) => id === scenario.client);
  const env = { ...process.env, TMPDIR: join(HOME, 'tmp'), ...agent.env };
  const outcome = { notes: [], calls: [], answers: [], install: '' };
  mkdirSync(env.TMPDIR, { recursive: true });
  makeProject(env);
  const { files = {}, mode, rules } = scenario.asking;
  for (const [path, text] of Object.entries({ ...agent.files, ...files })) put(join(HOME, path), text);
  if (rules) put(join(HOME, '.config/hooks-guard/rules.toml'), rules);
  outcome.model = await serveModel(PORT, scenario.script);
  const program = (owner) => join('/mnt/clients', owner.id, owner.program.at(-1));
  const words = agent.program.length > 1 ? [program(node), program(agent)] : [program(agent)];
  const direct = [...words, ...agent.acp];
  const guarded = [GUARD, 'acp', '--ask', 'operator', '--agent', agent.agent, '--', ...direct];
  const [first, ...rest] = scenario.guard === 'none' ? direct : guarded;
  const started = Date.now();
  const editor = new Editor(first, rest, env);
  const within = (promise, what) =>
    Promise.race([promise, editor.ended, sleep(scenario.seconds * 1_000)]).then((reply) => {
      if (!reply?.result) outcome.notes.push(`${what}: ${JSON.stringify(reply?.error ?? reply ?? 'no reply')}`);
      return reply?.result;
    });
  const capabilities = { fs: { readTextFile: agent.reads !== false, writeTextFile: true }, terminal: true };
  outcome.initialized = await within(
    editor.request('initialize', { protocolVersion: 1, clientCapabilities: capabilities, clientInfo: { name: 'lab', version: '1' } }),
    'initialize',
  );
  const session = await within(editor.request('session/new', { cwd: PROJECT, mcpServers: [] }), 'session/new');
  outcome.modes = session?.modes;
  if (session && mode) {
    await within(editor.request('session/set_mode', { sessionId: session.sessionId, modeId: mode }), 'session/set_mode');
  }
  if (session) {
    const prompt = [{ type: 'text', text: 'Do it.' }];
    outcome.stopped = await within(editor.request('session/prompt', { sessionId: session.sessionId, prompt }), 'session/prompt');
  }
  editor.child.stdin.end();
  await Promise.race([editor.ended, sleep(15_000)]);
  editor.child.kill('SIGKILL');
  outcome.elapsed = Date.now() - started;
  outcome.requests = editor.requests.map(({ method, params }) => ({ method, params }));
  outcome.updates = [...new Set(editor.updates)];
  outcome.buildStays = existsSync(join(PROJECT, 'build/out.o'));
  outcome.written = existsSync(join(PROJECT, 'new.txt'));
  outcome.said = editor.said;
  outcome.trail = '';
  if (scenario.guard !== 'none') {
    const { stdout, stderr } = spawnSync(GUARD, ['audit', 'list'], { env, encoding: 'utf8' });
    outcome.trail = `${stdout}${stderr}`;
  }
  const text = JSON.stringify(outcome, null, 1);
  writeFileSync(join(HOME, 'outcome.json'), text);
  process.stdout.write(text, () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await inside();
