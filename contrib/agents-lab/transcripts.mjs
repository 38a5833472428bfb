// Sessions whose transcripts are test data of `hooks-guard replay`: `lab.mjs --transcripts FOLDER` runs them without the
// guard and copies what each client wrote.

import { DELETE, READ } from './expectations.mjs';
import { HOME, PROJECT } from './clients.mjs';
import { placeChecks } from './places.mjs';

/** A command with a token that is none, for the mask. */
const SECRET = 'git ls-remote https://dev:ghp_0123456789abcdefghijABCDEFGHIJ012345@127.0.0.1:9/a.git';

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

const asked = ({ starts, asks, flags, shell }) => ({
  name: 'asked',
  flags,
  script: (tools) => [tools.shell(READ), ...['touch approved.txt', DELETE].map(shell ?? tools.shell)],
  keys: [
    { see: starts }, { submit: 'do it' }, { see: asks }, { wait: 1 }, { key: 'Enter' }, { wait: 2 }, { see: asks }, { wait: 1 },
    { key: 'Escape' }, { wait: 3 },
  ],
});

/** Returns the sessions of a client, as checks. */
export function sessions(client) {
  const subAgent = placeChecks.find(({ name, clients }) => name === 'sub-agent' && clients.includes(client.id));
  return [session(client), headless, ASKING[client.id] && asked(ASKING[client.id]), subAgent].filter(Boolean);
}

/** Prefix of the home in paths of a transcript. */
export const RECORDED_HOME = HOME;
