// Sessions whose transcripts are test data of `hooks-guard replay`: `lab.mjs --transcripts FOLDER` runs them without the
// guard and copies what each client wrote.

import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { dirname, join, relative } from 'node:path';

import { PROJECT } from './clients.mjs';
import { DELETE, READ } from './expectations.mjs';
import { placeChecks } from './places.mjs';

/** A command with a token that is none, for the mask. */
const SECRET = 'git ls-remote https://dev:ghp_0123456789abcdefghijABCDEFGHIJ012345@127.0.0.1:9/a.git';

/** Returns settings of opencode, or of a client that descends from it, with which it asks about commands. */
const askingOpenCode = (path) => ({ files }) => ({
  [path]: JSON.stringify({ ...JSON.parse(files[path]), permission: { bash: 'ask' } }),
});

/** Screens of a client that asks its user in a terminal: `starts` waits for a prompt of the user, `asks` for a question. */
const ASKING = {
  'claude-2.1.197': { starts: '❯', asks: 'Do you want to', flags: ['--permission-mode', 'default'] },
  claude: { starts: '❯', asks: 'Do you want to', flags: ['--permission-mode', 'default'] },
  codex: {
    starts: '›',
    asks: 'Would you like',
    flags: ['--model', 'gpt-5.4', '--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
    // Without it, Codex's sandbox prevents the command, and Codex does not ask.
    shell: (cmd) => ({ tool: 'exec_command', arguments: { cmd, sandbox_permissions: 'require_escalated', justification: 'x' } }),
  },
  gemini: { starts: 'Type your message', asks: 'Allow', flags: [] },
  copilot: { starts: '/ commands', asks: 'Do you want', flags: [] },
  qwen: { starts: 'Type your message', asks: 'Allow|apply this', flags: [] },
  opencode: {
    starts: 'Ask anything',
    asks: 'Permission required',
    flags: [],
    files: askingOpenCode('.config/opencode/opencode.json'),
  },
  kilo: {
    starts: 'Ask anything',
    asks: 'Permission required',
    flags: [],
    files: askingOpenCode('.config/kilo/kilo.json'),
    // It asks for a comment.
    last: [{ key: 'Enter' }, { wait: 2 }],
  },
  kimi: { starts: 'Trust this folder', asks: 'Run this command', flags: [], first: [{ key: 'Enter' }, { wait: 3 }] },
  goose: { starts: '>', asks: 'do you allow', flags: [], env: { GOOSE_MODE: 'approve' } },
  vibe: { starts: 'Mistral Vibe v', asks: 'Yes|Allow', flags: ['--trust'] },
};

const session = (client) => ({
  name: 'session',
  files: client.notes?.(client),
  script: (tools) => [
    tools.shell(READ),
    tools.write(`${PROJECT}/new.txt`, 'hello'),
    tools.read(`${PROJECT}/a.txt`),
    tools.shell('ls missing'),
    tools.shell(SECRET),
    ...(tools.note ? [tools.note('x')] : []),
    tools.shell(DELETE),
  ],
});

const headless = {
  name: 'refused',
  // Without the flags under which the client refuses nothing.
  flags: [],
  script: (tools) => [tools.shell(READ), tools.shell(DELETE)],
};

const asked = ({ starts, asks, flags, shell, files, env, first = [], last = [] }) => ({
  name: 'asked',
  flags,
  files,
  env,
  script: (tools) => [tools.shell(READ), ...['touch approved.txt', DELETE].map(shell ?? tools.shell)],
  keys: [
    { see: starts }, ...first, { submit: 'do it' },
    { see: asks }, { wait: 1 }, { key: 'Enter' }, { wait: 2 },
    { see: asks }, { wait: 1 }, { key: 'Escape' }, { wait: 3 },
    ...last,
  ],
});

/** A session that the client continues in another file, where it keeps the calls of the first one. */
const forked = {
  name: 'forked',
  flags: ['--continue', '--fork-session', '--dangerously-skip-permissions'],
  prompt: 'do it again',
  first: ({ free }) => ({ flags: free, prompt: 'do it' }),
  script: (tools) => [tools.shell(READ)],
  others: (tools) => [{ prompt: 'do it again', script: [tools.shell(READ), tools.shell('git log --oneline')] }],
};

/** Returns the sessions of a client, as checks. */
export function sessions(client) {
  const names = ['sub-agent', 'javascript-patch'];
  const places = placeChecks.filter(({ name, clients }) => names.includes(name) && clients.includes(client.id));
  const others = [ASKING[client.id] && asked(ASKING[client.id]), client.id === 'claude' && forked];
  return [session(client), headless, ...places, ...others.filter(Boolean)];
}

/** Folders of the home in which each client keeps its transcripts; `sql` are tables of a database with their columns. */
const PLACES = {
  claude: ['.claude/projects'],
  'claude-2.1.197': ['.claude/projects'],
  codex: ['.codex/sessions'],
  gemini: ['.gemini/tmp'],
  copilot: ['.copilot/session-state'],
  opencode: ['.local/share/opencode/opencode.db'],
  qwen: ['.qwen/projects'],
  droid: ['.factory/sessions'],
  grok: ['.grok/sessions'],
  cline: ['.cline/data/sessions'],
  pi: ['.pi/agent/sessions'],
  kimi: ['.kimi-code/sessions'],
  kilo: ['.local/share/kilo/kilo.db'],
  goose: ['.local/share/goose/sessions/sessions.db'],
  letta: ['.letta/lc-local-backend/conversations'],
  auggie: ['.augment/sessions'],
  vibe: ['.vibe/logs/session/unified'],
  openhands: ['.openhands/conversations'],
};

/** Files with no calls, or with the same calls once more. */
const UNUSED = new RegExp(
  '(journal|generations)/|(system-prompt|tool_definitions|chat_history|rewind|prompt_|manifest|usage|signals|settings|index|' +
    'tracking|scheduled|resources|announcement|extract|logs|output)[^/]*$',
);
/** Names of the files that are kept. */
const KEPT = /(\.jsonl|\.json|\.project_root)$/;
/** Kinds of entries that are left out: prompts, usage and other states. */
const DROPPED = new RegExp(
  '^(attachment|prompt|api-request|atis|token_|session[.]usage|assistant[.]turn|system[.]message|llm[.]|usage[.]|agent[.]message|' +
    'mcp[.]|world_state|ui_telemetry|file_history|attribution|SystemPrompt)',
);
/** Maximum length of a text, and of a line, in characters: prompts and descriptions of tools are left out. */
const MAX_TEXT = 300;
const MAX_LINE = 4_000;
/** Columns of the databases that hold calls. */
const TABLES = {
  session: ['id', 'directory', 'version'],
  part: ['id', 'session_id', 'time_created', 'data'],
  sessions: ['id', 'working_dir', 'session_type', 'goose_mode'],
  messages: ['id', 'session_id', 'role', 'content_json', 'created_timestamp'],
};

/** Returns a text with another home, as in the other recordings of the guard, and without names of this machine. */
const moved = (text) =>
  text
    .replaceAll(release(), '0.0.0')
    .replace(/("hostname": ?)"[^"]*"/g, '$1"host"')
    .replaceAll('/home/dev', '/srv/dev')
    .replaceAll('-home-dev-', '-srv-dev-')
    .replaceAll('%2Fhome%2Fdev', '%2Fsrv%2Fdev');

/** Returns a value whose long texts are cut. */
function shortened(value) {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, 40)}…` : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}

/** Returns the lines of a file, without those that are long although their texts are cut. */
function reducedLines(text) {
  const entries = text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const kept = entries.filter(({ type, subtype, payload }) => ![type, subtype, payload?.type].some((kind) => DROPPED.test(kind)));
  const lines = kept.map((entry) => JSON.stringify(shortened(entry)));
  return lines.filter((line) => line.length <= MAX_LINE).map((line) => `${line}\n`).join('');
}

/** Prints the tables of a database as SQL; runs in the Node of the lab, which has a module for it. */
const DUMP = `
const { DatabaseSync } = require('node:sqlite');
const [file, tables] = process.argv.slice(1);
const database = new DatabaseSync(file);
const quoted = (value) => (typeof value === 'string' ? "'" + value.replaceAll("'", "''") + "'" : String(value));
for (const [table, columns] of Object.entries(JSON.parse(tables))) {
  const found = database.prepare('SELECT name FROM pragma_table_info(?)').all(table).map(({ name }) => name);
  const kept = columns.filter((name) => found.includes(name));
  if (kept.length === 0) continue;
  console.log('CREATE TABLE ' + table + ' (' + kept.join(', ') + ');');
  for (const row of database.prepare('SELECT ' + kept.join(', ') + ' FROM ' + table).all()) {
    console.log('INSERT INTO ' + table + ' VALUES (' + kept.map((name) => quoted(row[name])).join(', ') + ');');
  }
}`;

/** Returns the regular files below a path. */
function filesBelow(path) {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return [path];
  return found?.isDirectory() ? readdirSync(path).flatMap((name) => filesBelow(join(path, name))) : [];
}

/** Copies what a client wrote in its home to a folder, reduced. `nodeProgram` is the Node of the lab. */
export function copyTranscripts(client, home, folder, nodeProgram) {
  for (const file of PLACES[client.id].flatMap((place) => filesBelow(join(home, place)))) {
    const name = relative(home, file);
    const put = (path, text) => {
      const to = join(folder, moved(path));
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, moved(text));
    };
    if (name.endsWith('.db')) {
      const dumped = spawnSync(nodeProgram, ['-e', DUMP, file, JSON.stringify(TABLES)], { encoding: 'utf8', maxBuffer: 1e9 });
      put(`${name}.sql`, dumped.stdout);
    } else if (KEPT.test(name) && !UNUSED.test(name)) {
      const text = readFileSync(file, 'utf8');
      if (name.endsWith('.jsonl')) put(name, reducedLines(text));
      else if (name.endsWith('.json')) put(name, `${JSON.stringify(shortened(JSON.parse(text)))}\n`);
      else put(name, text);
    }
  }
}
