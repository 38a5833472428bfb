// Agents of the Agent Client Protocol behind `hooks-guard acp`, and their checks. editor.mjs runs a
// scenario.
//
// An agent has the fields of a client (clients.mjs) and
//   acp      command line of the agent, after its program
//   asking   settings with which it asks its editor: mode of the session, files, rules
//   deletes  its call that deletes `build`, if it differs from `tools.shell`
//   silent   `delete` and `write`, where it acts as installed without a request that the guard denies
//   reads    false if the editor offers no `fs/read_text_file`
//   usesEditor  true if the editor runs its commands and writes its files: the guard decides about the terminal and the
//            file, too
//   goesOn   true if a denial does not end its turn

import { clients, PROJECT } from './clients.mjs';
import { all, DELETE, does, open, prevents, READ, told, trail } from './expectations.mjs';

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
    goesOn: true,
  },
  {
    ...codex,
    id: 'codex-acp',
    packages: ['@agentclientprotocol/codex-acp@2.6.0'],
    program: ['node', 'node_modules/.bin/codex-acp'],
    acp: [],
    asking: { mode: 'read-only' },
    // Without `require_escalated`, Codex's sandbox prevents the delete, and Codex does not ask.
    deletes: {
      tool: 'exec_command',
      arguments: { cmd: DELETE, sandbox_permissions: 'require_escalated', justification: 'x' },
    },
    silent: ['delete', 'write'],
  },
  {
    ...client('gemini'),
    // Gemini CLI takes the error about a missing file for another error, and then writes no new file.
    reads: false,
    acp: ['--skip-trust', '--experimental-acp', '-m', 'gemini-2.5-flash'],
    // Gemini CLI's request has the command only as a title, so only a rule denies it.
    asking: { rules: '[[rule]]\neffect = "deny"\nprogram = "rm"\nreason = "not here"\n' },
    silent: ['delete'],
    goesOn: true,
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
  { ...client('qwen'), acp: ['--acp'], asking: { mode: 'default' }, silent: ['write'] },
  { ...client('copilot'), acp: ['--acp'], asking: {}, silent: [] },
  { ...client('kimi'), acp: ['acp'], asking: {}, silent: [], usesEditor: true, goesOn: true },
  { ...client('goose'), acp: ['acp'], asking: { mode: 'approve' }, silent: [], usesEditor: true, goesOn: true },
];

// Checks.

const scripts = {
  delete: (agent, asks) => [agent.tools.shell(READ), (asks && agent.deletes) || agent.tools.shell(DELETE)],
  after: (agent, asks) => [...scripts.delete(agent, asks), agent.tools.shell(READ)],
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
const noRequest = (o) =>
  o.requests.every(({ method }) => method === 'fs/read_text_file') ? '' : 'the editor received the request';
/** Fails if the editor received the request to write a file. */
const noWrite = (o) => (o.requests.some(({ method }) => method === 'fs/write_text_file') ? 'the editor received it' : '');
/** Fails if the editor received more requests for terminals. */
const noTerminalFor = (number) => (o) =>
  o.requests.filter(({ method }) => method === 'terminal/create').length > number ? 'the editor received it' : '';

/** Returns the checks of the agents: with the settings that make them ask, and as they are installed. */
export function acpChecks({ only, ids }) {
  const wanted = agents.filter(({ id }) => ids.length === 0 || ids.includes(id));
  return wanted.flatMap((client) => {
    const asking = {
      name: 'acp',
      expect: [
        does('a read-only command runs through the proxy', all(reached, told(0, /a\.txt/))),
        prevents('the request for a delete is denied', stays.delete),
        client.usesEditor
          ? does('the editor does not receive the request to run a delete', noTerminalFor(1))
          : does('the editor does not receive the request for a delete', noRequest),
        does('the trail has the delete', all(reached, trail(/guard.*rm -r build|rule.*rm -r build/))),
      ],
    };
    const files = {
      name: 'acp-file',
      expect: [
        prevents('the request for a new file is denied', stays.write),
        client.usesEditor
          ? does('the editor does not receive the request to write a file', noWrite)
          : does('the editor does not receive the request for a file', noRequest),
        does('the trail has the file', all(reached, trail(/guard.*new\.txt/))),
      ],
    };
    const run = {
      name: 'acp-run',
      ask: 'editor',
      expect: [
        does('the editor allows a new file: it is written', happens.write),
        does('the trail has the answer of the editor and the run', all(reached, trail(/editor\s+yes\s+.*new\.txt/))),
      ],
    };
    const hook = {
      name: 'acp-hook',
      hook: true,
      expect: [
        prevents('with the hook installed, too, a delete is denied', stays.delete),
        does('the hook finds no user at the keyboard', told(1, /no user is at the keyboard/)),
        does('the agent sends no request for a delete', noRequest),
      ],
    };
    const goesOn = (o) => (o.model.requested.length === 3 ? '' : 'the turn ended');
    const ends = (o) => (o.model.requested.length === 2 ? '' : 'the turn did not end');
    const after = {
      name: 'acp-after',
      expect: client.goesOn
        ? [does('after a denial, the agent continues', all(goesOn, told(2, /a\.txt/)))]
        : [open('a denial ends the turn', ends)],
    };
    if (client.id === 'claude-acp') after.expect.push(does('the model reads the reason', told(1, /no operator|approv/i)));
    const installed = client.silent.map((what) => ({
      name: `acp-installed-${what}`,
      expect: [open(`as installed, a ${what} happens without a denial of the guard`, happens[what])],
    }));
    const hooks = client.id === 'claude-acp' ? [hook] : [];
    const denied = {
      name: 'acp-installed-denied',
      expect: [
        does('as installed, a read-only command runs through the proxy', all(reached, told(0, /a\.txt/))),
        prevents('as installed, a delete is denied', stays.delete),
        does('the editor does not receive the request to run a delete', noTerminalFor(1)),
      ],
    };
    const more = client.usesEditor && client.asking.mode ? [denied] : [];
    const checks = [asking, after, files, run, ...hooks, ...installed, ...more];
    return checks.filter(({ name }) => !only || only.split(',').some((wanted) => name.startsWith(wanted))).map((check) => ({ check, client }));
  });
}

/** Returns the scenario of a check. */
export function acpScenario(check, agent, guard) {
  const what = /file|run|write/.test(check.name) ? 'write' : /after/.test(check.name) ? 'after' : 'delete';
  const asks = !check.name.startsWith('acp-installed');
  const asking = asks ? agent.asking : {};
  return {
    program: 'editor.mjs',
    client: agent.id,
    guard: guard ?? 'fine',
    ask: check.ask ?? 'operator',
    hook: check.hook,
    script: scripts[what](agent, asks),
    asking,
    seconds: 150,
  };
}
