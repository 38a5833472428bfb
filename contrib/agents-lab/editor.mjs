// Runs one scenario of an agent of the Agent Client Protocol inside the sandbox: reads ~/scenario.json,
// takes the editor's place, starts the proxy with the agent, sends a prompt, and prints the outcome as
// JSON. The editor allows everything that reaches it.

import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { agents } from './acp.mjs';
import { HOME, PORT, PROJECT } from './clients.mjs';
import { environment, finish, GUARD, makeProject, programOf, put, putFiles, run, scenario } from './home.mjs';
import { serveModel } from './model.mjs';

const PERMISSION = 'session/request_permission';

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

const agent = agents.find(({ id }) => id === scenario.client);
const env = environment(agent);
const outcome = { notes: [], calls: [], answers: [], install: '' };
makeProject(env);
const { files = {}, mode, rules } = scenario.asking;
putFiles({ ...agent.files, ...files });
if (rules) put(join(HOME, '.config/hooks-guard/rules.toml'), rules);
if (scenario.hook && scenario.guard !== 'none') {
  const installed = join(HOME, '.cargo/bin/hooks-guard');
  mkdirSync(dirname(installed), { recursive: true });
  copyFileSync(GUARD, installed);
  chmodSync(installed, 0o755);
  outcome.install = run(installed, ['install', agent.agent], { env }).text;
}
outcome.model = await serveModel(PORT, scenario.script);
const direct = [...programOf(agent), ...agent.acp];
const guarded = [GUARD, 'acp', '--ask', scenario.ask, '--agent', agent.agent, '--', ...direct];
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
outcome.requests = editor.requests;
outcome.updates = [...new Set(editor.updates)];
outcome.said = editor.said;
outcome.trail = scenario.guard === 'none' ? '' : run(GUARD, ['audit', 'list'], { env }).text;
finish(outcome);
