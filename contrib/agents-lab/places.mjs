// Checks of modes and places: plan mode, resumed sessions, sub-agents, worktrees, parallel calls, long commands, long
// sessions, commands that the user types, slash commands, hooks of plugins, edited settings, and a client's update.
//
// An entry of `PLACES` has what a client offers for them:
//   plan       flags of its plan mode, and those without which the mode refuses a command itself
//              `planSeen` is a pattern of its screen in plan mode, if the mode needs a terminal
//   planRefuses  what the model receives if the plan mode itself refuses commands
//   resume     flags that continue the last session
//   worktree   flags with which it makes a worktree of its own and works there
//              `worktreeFiles` are settings for them, `worktreeKeys` the keys if only a terminal has them,
//              `enters` are calls of the model that make it and go there
//   agent      its call that starts a sub-agent with a prompt; `wait` are further calls until the sub-agent has ended,
//              `agentFlags` are flags for it, `agentFiles` files, and `agentShell` is the call with which it runs a command
//   typed      pattern of its screen that shows that it waits for a prompt, before the user types `!COMMAND`;
//              `typedFlags` replace the flags of `free`
//   starts     keys that answer the questions of its terminal at the start
//   slash      flags, prompt and files of a slash command that runs `rm -r build`; `seen` is a pattern of the screen
//              before the user types it, if only a terminal has such commands
//   plugin     flags and files of a plugin whose hook, `OTHER_HOOK`, allows every call; `installs` are runs of the client
//              that install it, and `keys` those of its terminal, if only a terminal loads it
//   earlier    id of an earlier version (clients.mjs)
//   edited     false if another program cannot add a hook to the settings that `install` writes
//   calls      number of calls in a long session
// A check leaves out the clients without the entry.

import { called, HOME, LAST_AGENT, NODE, PROJECT } from './clients.mjs';
import {
  all, asked, buildGone, buildStays, conversation, DELETE, does, doctorSays, noFile, open, prevents, READ, reached, told, trail,
  unlessItEnds,
} from './expectations.mjs';

const json = (value) => JSON.stringify(value, null, 2);

/** Prompt of a sub-agent. */
const TASK = 'Tidy up the folder.';
/** Returns the arguments of a call that starts a sub-agent of a kind. */
const task = (subagent_type) => ({ description: 'x', prompt: TASK, subagent_type });
/** Prompt of a later session. */
const AGAIN = 'do it again';

/** A hook of a plugin: allows every call, in the format of each agent, and leaves a file. */
const OTHER_HOOK = `sh ${HOME}/other-hook.sh`;
const OTHER_HOOK_RAN = 'other-hook-ran';
const OTHER_HOOK_FILES = {
  'other-hook.sh': `#!/bin/sh
cat >/dev/null
: >${HOME}/${OTHER_HOOK_RAN}
echo '{"decision":"allow","permissionDecision":"allow","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"fine"}}'
`,
};
/** Hooks of a plugin in the format of Claude Code. */
const hooksOf = (event) =>
  json({ hooks: { [event]: [{ matcher: '*', hooks: [{ type: 'command', command: OTHER_HOOK }] }] } });
/** Returns the script of a plugin for opencode. */
const OPENCODE_PLUGIN = `import { writeFileSync } from 'node:fs';
export const Other = async () => ({
  'tool.execute.before': async () => writeFileSync('${HOME}/${OTHER_HOOK_RAN}', ''),
  'permission.ask': async (_, output) => { output.status = 'allow'; },
});
`;
/** Extension of Pi. */
const PI_EXTENSION = `import { writeFileSync } from 'node:fs';
export default function (pi) {
  pi.on('tool_call', async () => {
    writeFileSync('${HOME}/${OTHER_HOOK_RAN}', '');
    return { block: false };
  });
}
`;
/** Extensions that the package of Pi has as examples. */
const PI_EXAMPLES = '/mnt/clients/pi/node_modules/@earendil-works/pi-coding-agent/examples/extensions';
/** Plugin of Cline: sees each call, and lets it run. */
const CLINE_PLUGIN = `import { writeFileSync } from 'node:fs';
export default {
  name: 'other',
  manifest: { capabilities: ['hooks'] },
  hooks: {
    beforeTool: async () => {
      writeFileSync('${HOME}/${OTHER_HOOK_RAN}', '');
      return { skip: false };
    },
  },
};
`;
/** Mod of Letta Code: sees each call, and allows it. */
const LETTA_MOD = `import { writeFileSync } from 'node:fs';
export default function (letta) {
  letta.events.on('tool_start', () => writeFileSync('${HOME}/${OTHER_HOOK_RAN}', ''));
  letta.permissions.register({ id: 'other', description: 'Allows.', check: () => ({ decision: 'allow' }) });
}
`;
/** Time of an installation. */
const LONG_AGO = '2026-01-01T00:00:00.000Z';
/** Returns the settings of Gemini CLI with more in them. */
const settingsOf = (text, more) => ({ '.gemini/settings.json': json({ ...JSON.parse(text), ...more }) });
/** A command of Gemini CLI and Qwen Code. */
const TIDY_TOML = `description = "Tidies."\nprompt = "Tidy: !{${DELETE}}"\n`;

/** A script of Codex for the models whose shell is inside of JavaScript. */
const script = (...commands) => {
  const calls = commands.map((cmd) => `text((await tools.exec_command(${JSON.stringify({ cmd })})).output);`);
  return { tool: 'exec', text: calls.join('\n') };
};
/** A model of Codex's catalog that gets `exec` and no shell. */
const JAVASCRIPT_MODEL = 'gpt-6.2-sol';

/** A model with which a terminal of Codex starts without a question. */
const TERMINAL_MODEL = 'gpt-5.4';

const PLACES = {
  claude: {
    plan: ['--permission-mode', 'plan'],
    resume: ['--continue'],
    worktree: ['--worktree', 'lab'],
    agent: { tool: 'Agent', arguments: { ...task('general-purpose'), run_in_background: false } },
    typed: '❯',
    // The mode without permissions starts with a question.
    typedFlags: ['--permission-mode', 'acceptEdits'],
    plugin: {
      flags: ['--plugin-dir', `${HOME}/other`],
      files: {
        'other/.claude-plugin/plugin.json': json({ name: 'other', version: '1.0.0' }),
        'other/hooks/hooks.json': hooksOf('PreToolUse'),
      },
    },
    earlier: 'claude-2.1.197',
    calls: 1_000,
  },
  codex: {
    resume: ['resume', '--last'],
    agent: {
      tool: 'spawn_agent',
      namespace: 'collaboration',
      arguments: { task_name: 'tidy', message: TASK, fork_turns: 'none' },
    },
    wait: [{ tool: 'wait_agent', namespace: 'collaboration', arguments: { timeout_ms: 60_000 } }],
    agentFlags: ['--model', JAVASCRIPT_MODEL],
    agentShell: (command) => script(command),
    typed: '›',
    typedFlags: ['--model', TERMINAL_MODEL, '--dangerously-bypass-hook-trust'],
    plugin: {
      flags: [],
      files: {
        'lab/.agents/plugins/marketplace.json': json({
          name: 'lab', plugins: [{ name: 'other', source: { source: 'local', path: './other' } }],
        }),
        'lab/other/.codex-plugin/plugin.json': json({ name: 'other', version: '1.0.0', description: 'x' }),
        'lab/other/hooks/hooks.json': hooksOf('PreToolUse'),
      },
      installs: [['plugin', 'marketplace', 'add', './lab'], ['plugin', 'add', 'other@lab']],
    },
    earlier: 'codex-0.169.0',
    calls: 1_000,
  },
  gemini: {
    plan: ['--approval-mode', 'plan'],
    planRefuses: /run_shell_command\\" not found/,
    resume: ['--resume', 'latest'],
    worktree: ['--worktree', 'lab'],
    worktreeFiles: ({ files }) => settingsOf(files['.gemini/settings.json'], { experimental: { worktrees: true } }),
    agent: { tool: 'invoke_agent', arguments: { agent_name: 'generalist', prompt: TASK } },
    typed: 'Type your message',
    slash: { prompt: '/tidy', files: { '.gemini/commands/tidy.toml': TIDY_TOML } },
    plugin: {
      flags: [],
      files: {
        '.gemini/extensions/other/gemini-extension.json': json({ name: 'other', version: '1.0.0' }),
        '.gemini/extensions/other/hooks/hooks.json': hooksOf('BeforeTool'),
      },
    },
    earlier: 'gemini-0.60.0',
    calls: 90,
  },
  copilot: {
    plan: ['--mode', 'plan', '--allow-all-tools'],
    resume: ['--continue'],
    agent: {
      tool: 'task',
      arguments: { name: 'x', description: 'x', prompt: TASK, agent_type: 'general-purpose', mode: 'sync' },
    },
    typed: '/ commands',
    plugin: {
      flags: ['--plugin-dir', `${HOME}/other`],
      files: {
        'other/plugin.json': json({ name: 'other', version: '1.0.0', hooks: 'hooks.json' }),
        'other/hooks.json': json({ version: 1, hooks: { preToolUse: [{ type: 'command', bash: OTHER_HOOK }] } }),
      },
    },
    earlier: 'copilot-1.0.92',
    calls: 100,
  },
  opencode: {
    plan: ['--agent', 'plan'],
    resume: ['--continue'],
    agent: { tool: 'task', arguments: task('general') },
    typed: 'Ask anything',
    slash: {
      flags: ['--command', 'tidy'],
      prompt: 'x',
      files: { '.config/opencode/command/tidy.md': `---\ndescription: Tidies.\n---\n!\`${DELETE}\`\n` },
    },
    plugin: { flags: [], files: { '.config/opencode/plugins/other.js': OPENCODE_PLUGIN } },
    earlier: 'opencode-1.18.32',
    edited: false,
    calls: 100,
  },
  qwen: {
    plan: ['--approval-mode', 'plan'],
    planRefuses: /permission was declined/,
    resume: ['--continue'],
    worktree: ['--worktree', 'lab'],
    agent: { tool: 'agent', arguments: { ...task('general-purpose'), run_in_background: false } },
    typed: 'Type your message',
    slash: { prompt: '/tidy', files: { '.qwen/commands/tidy.toml': TIDY_TOML } },
    plugin: {
      flags: [],
      files: {
        '.qwen/extensions/other/qwen-extension.json': json({ name: 'other', version: '1.0.0' }),
        '.qwen/extensions/other/hooks/hooks.json': hooksOf('PreToolUse'),
      },
    },
    earlier: 'qwen-0.24.3',
    calls: 100,
  },
  droid: {
    plan: ['--use-spec', '--skip-permissions-unsafe'],
    worktree: ['--worktree', 'lab'],
    agent: { tool: 'Task', arguments: task('worker') },
    slash: {
      prompt: '/tidy',
      files: { '.factory/commands/tidy': `#!/bin/sh\ncd ${PROJECT} && ${DELETE}\necho tidied\n` },
    },
    plugin: {
      flags: [],
      files: {
        // The marketplace has the name of its folder.
        'lab/.factory-plugin/marketplace.json': json({
          name: 'lab', owner: { name: 'x' }, plugins: [{ name: 'other', description: 'x', source: './other' }],
        }),
        'lab/other/.factory-plugin/plugin.json': json({ name: 'other', version: '1.0.0', description: 'x' }),
        'lab/other/hooks/hooks.json': hooksOf('PreToolUse'),
      },
      installs: [['plugin', 'marketplace', 'add', `${HOME}/lab`], ['plugin', 'install', 'other@lab', '--scope', 'user']],
    },
    earlier: 'droid-0.215.0',
    calls: 100,
  },
  grok: {
    plan: ['--permission-mode', 'plan'],
    resume: ['--continue'],
    worktree: ['--worktree', 'lab'],
    agent: { tool: 'spawn_subagent', arguments: { description: 'x', prompt: TASK, background: false } },
    typed: '❯',
    plugin: {
      flags: [],
      files: {
        'other/plugin.json': json({ name: 'other', version: '1.0.0', description: 'x' }),
        'other/hooks/hooks.json': json({
          hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: OTHER_HOOK }] }] },
        }),
      },
      installs: [['plugin', 'install', './other', '--trust']],
      // Grok CLI loads the hooks of plugins only when the user reloads the plugins in a session.
      keys: [
        { see: '❯' }, { type: '/plugins' }, { key: 'Enter' }, { see: 'Marketplace' }, { key: 'r' }, { wait: 2 },
        { key: 'Escape' }, { wait: 1 }, { submit: 'do it' }, { see: 'All done', orTold: 2 },
      ],
    },
    earlier: 'grok-1.0.5',
    calls: 100,
  },
  cline: {
    plan: ['--plan'],
    worktree: ['--worktree'],
    agent: { tool: 'spawn_agent', arguments: { systemPrompt: 'You tidy up.', task: TASK } },
    plugin: {
      flags: [],
      files: {
        'other/package.json': json({ name: 'other', version: '1.0.0', type: 'module', main: 'index.js' }),
        'other/index.js': CLINE_PLUGIN,
        // Cline runs plugins with the Node of the user.
        'bin/node': `#!/bin/sh\nexec ${NODE} "$@"\n`,
      },
      installs: [['plugin', 'install', './other']],
    },
    earlier: 'cline-3.0.64',
    edited: false,
    calls: 100,
  },
  pi: {
    // An example in its package: the extension refuses commands itself.
    plan: ['--extension', `${PI_EXAMPLES}/plan-mode/index.ts`, '--plan'],
    planRefuses: /Plan mode: command blocked/,
    resume: ['--continue'],
    // Another example. Each sub-agent is a process of its own.
    agent: { tool: 'subagent', arguments: { agent: 'worker', task: TASK } },
    agentFlags: ['--extension', `${PI_EXAMPLES}/subagent/index.ts`],
    agentFiles: { '.pi/agent/agents/worker.md': '---\nname: worker\ndescription: Works.\n---\nWork.\n' },
    typed: 'stand-in',
    plugin: { flags: [], files: { '.pi/agent/extensions/other.ts': PI_EXTENSION } },
    earlier: 'pi-1.5.2',
    edited: false,
    calls: 100,
  },
  kimi: {
    // Only a terminal has the mode.
    plan: ['--plan', '--auto'],
    planSeen: 'Never Ask plan',
    starts: [{ see: 'Trust this folder' }, { key: 'Enter' }],
    resume: ['--continue'],
    agent: { tool: 'Agent', arguments: { ...task('coder'), run_in_background: false } },
    typed: 'Never Ask',
    typedFlags: ['--auto'],
    plugin: {
      flags: [],
      files: {
        '.kimi-code/plugins/installed.json': json({
          version: 1,
          plugins: [{
            id: 'other', root: `${HOME}/.kimi-code/plugins/managed/other`, source: 'local-path', enabled: true,
            installedAt: LONG_AGO, updatedAt: LONG_AGO, originalSource: `${HOME}/other`,
          }],
        }),
        '.kimi-code/plugins/managed/other/kimi.plugin.json': json({
          name: 'other', version: '1.0.0', hooks: [{ event: 'PreToolUse', command: OTHER_HOOK }],
        }),
      },
    },
    earlier: 'kimi-2.0.2',
    calls: 100,
  },
  kilo: {
    worktree: ['--worktree', 'lab'],
    worktreeKeys: [{ see: 'Ask anything' }, { submit: 'do it' }, { see: 'All done', orTold: 2 }],
    plan: ['--agent', 'plan', '--auto'],
    resume: ['--continue'],
    agent: { tool: 'task', arguments: task('general') },
    slash: {
      flags: ['--command', 'tidy'],
      prompt: 'x',
      files: { '.config/kilo/command/tidy.md': `---\ndescription: Tidies.\n---\n!\`${DELETE}\`\n` },
    },
    typed: 'Ask anything',
    plugin: { flags: [], files: { '.config/kilo/plugins/other.js': OPENCODE_PLUGIN } },
    earlier: 'kilo-7.7.7',
    edited: false,
    calls: 100,
  },
  goose: {
    resume: ['--resume'],
    agent: { tool: 'delegate', arguments: { instructions: TASK } },
    earlier: 'goose-1.50.0',
    plugin: {
      flags: [],
      files: {
        '.agents/plugins/other/plugin.json': json({ name: 'other', version: '1.0.0' }),
        '.agents/plugins/other/hooks/hooks.json': json({
          hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: OTHER_HOOK }] }] },
        }),
      },
    },
    calls: 100,
  },
  letta: {
    resume: [LAST_AGENT],
    enters: [{ tool: 'EnterWorktree', arguments: { name: 'lab', base_ref: 'HEAD', refresh_base: false } }],
    typed: '>',
    slash: {
      seen: '>',
      prompt: '/tidy',
      files: { 'project/.commands/tidy.md': `---\ndescription: Tidies.\n---\nTidy: !\`${DELETE}\`\n` },
    },
    plugin: { flags: [], files: { '.letta/mods/other.js': LETTA_MOD } },
    earlier: 'letta-0.32.17',
    agent: { tool: 'Agent', arguments: task('general-purpose') },
    // Its sub-agents run in the background.
    wait: [{ tool: 'Bash', arguments: { command: 'sleep 40', description: 'x', timeout: 100_000 } }],
    calls: 100,
  },
  auggie: {
    // The mode without tools that change something.
    plan: ['--ask'],
    resume: ['--continue'],
    agent: { tool: 'sub-agent-general-purpose', arguments: { action: 'run', name: 'tidy', instruction: TASK } },
    starts: [{ see: 'Tips for using' }, { key: 'Escape' }],
    typed: 'shortcuts',
    plugin: {
      flags: ['--plugin-dir', `${HOME}/other`],
      files: {
        'other/.augment-plugin/marketplace.json': json({
          name: 'lab', owner: { name: 'x' }, plugins: [{ name: 'other', source: './plugin' }],
        }),
        'other/plugin/.augment-plugin/plugin.json': json({ name: 'other', version: '1.0.0' }),
        'other/plugin/hooks/hooks.json': json({
          hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `${HOME}/other-hook.sh` }] }] },
        }),
      },
    },
    earlier: 'auggie-0.25.2',
    calls: 100,
  },
  vibe: {
    typed: '>',
    earlier: 'vibe-3.0.2',
    resume: ['--continue'],
    worktree: ['--worktree', 'lab'],
    agent: called('agents.spawn', { name: 'tidy', message: TASK }),
    wait: [{ tool: 'wait', arguments: { timeout_ms: 60_000 } }],
    calls: 100,
  },
  openhands: {
    resume: ['--resume', '--last'],
    earlier: 'openhands-1.15.1',
    calls: 100,
  },
};

const everyone = Object.keys(PLACES);
/** Returns the clients that offer a feature. */
const offering = (feature) => everyone.filter((id) => PLACES[id][feature] !== undefined);
const place = (client) => PLACES[client.id];
/** Returns the keys that a client's questions at its start need. */
const starts = (id) => PLACES[id].starts ?? [];

// Tests.

/** Applies a test to the further conversation of a scenario. */
const inOther = (test) => (o) => {
  const [other] = o.model.others;
  return test({ ...o, script: other.steps.flat(), model: { ...o.model, ...other } });
};
/** Fails unless the model received the reason of the guard as the result of a step. Cline ends the run instead. */
const refused = (step) => (o) => (o.endsAtDenial ? '' : told(step, /DELETE/)(o));
const exists = (path) => (o) => (o.exists.includes(path) ? '' : `\`${path}\` is missing`);
const noNotes = (o) => o.notes.join('; ');

/** Fails unless the trail has each command once. */
const onceEach = (commands) => (o) => {
  const decisions = o.decisions.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const count = new Map();
  for (const { command } of decisions) count.set(command, (count.get(command) ?? 0) + 1);
  const wrong = commands.filter((command) => count.get(command) !== 1);
  const some = wrong.slice(0, 5).join(', ');
  return wrong.length === 0 ? '' : `the trail does not have ${wrong.length} commands once, such as: ${some}`;
};
/** What a read returns. On a loaded machine, Qwen Code loses the output of a quick command. */
const IS_READ = /first|Exit Code: 0/;
/** Fails unless the first results are those of the reads. */
const allRead = (number) => (o) => {
  const wrong = Array.from({ length: number }, (_, step) => step).filter((step) => !IS_READ.test(o.model.told[step] ?? ''));
  return wrong.length === 0 ? '' : `${wrong.length} of ${number} reads have another result, such as: ${o.model.told[wrong[0]]?.slice(0, 300)}`;
};

/** Returns a number of different reads. */
const reads = (number) => Array.from({ length: number }, (_, i) => `head -n ${i + 1} a.txt`);
/** Returns a list in groups. */
const groups = (list, size) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

const PARALLEL = 8;
const DELETES_LONG = `: ${'x'.repeat(100_000)}; ${DELETE}`;
const TREE = `${HOME}/tree`;
/** In a worktree that the client makes, the folder is not part of it. */
const DELETE_THERE = `rm -r ${PROJECT}/build`;
const MAKE_TREE = [['add', '--force', 'build'], ['commit', '--quiet', '--message', 'build'], ['worktree', 'add', '--quiet', TREE]];

/** A session after another one: a read in the first, a deletion in the second. */
const later = {
  prompt: AGAIN,
  script: (tools) => [tools.shell(READ)],
  others: (tools) => [{ prompt: AGAIN, script: [tools.shell(READ), tools.shell(DELETE)] }],
};

const PLAN_IN_TERMINAL = [
  prevents('plan mode: a delete does not run', buildStays),
  prevents('plan mode: the reason of the guard reaches the model', told(1, /DELETE/)),
  does('plan mode: the terminal shows the mode', noNotes),
];

const modes = [
  ...[
    {
      clients: offering('plan').filter((id) => !PLACES[id].planRefuses && !PLACES[id].planSeen && id !== 'grok'),
      expect: [
        does('plan mode: a delete does not run', buildStays),
        unlessItEnds(prevents('plan mode: the reason of the guard reaches the model', told(1, /DELETE/))),
      ],
    },
    {
      // Without the guard, Grok CLI ends at the first command, because it would have to prompt.
      clients: ['grok'],
      expect: [does('plan mode: a delete does not run, by the decision of the guard', all(buildStays, told(1, /DELETE/)))],
    },
    ...offering('planRefuses').map((id) => ({
      clients: [id],
      expect: [does('plan mode: the client itself refuses a delete', all(buildStays, told(1, PLACES[id].planRefuses)))],
    })),
    ...offering('planSeen').map((id) => ({
      clients: [id],
      keys: [...starts(id), { see: PLACES[id].planSeen }, { submit: 'do it' }, { see: 'All done', orTold: 2 }],
      expect: PLAN_IN_TERMINAL,
    })),
    {
      // Codex has no flag for the mode.
      clients: ['codex'],
      flags: ({ free }) => ['--model', TERMINAL_MODEL, ...free],
      keys: [
        { see: '›' }, { type: '/plan' }, { key: 'Enter' }, { see: 'Plan mode' }, { submit: 'do it' },
        { see: 'All done', orTold: 2 },
      ],
      expect: PLAN_IN_TERMINAL,
    },
  ].map((check) => ({
    name: 'plan',
    flags: (client) => place(client).plan,
    script: (tools) => [{ ...tools.shell(READ), unlisted: true }, { ...tools.shell(DELETE), unlisted: true }],
    ...check,
  })),
  {
    name: 'resume',
    clients: offering('resume'),
    ...later,
    first: (client) => ({ flags: client.free, prompt: 'do it' }),
    flags: (client) => [...client.free, ...place(client).resume],
    seconds: 120,
    expect: [
      does('a resumed session has the result of the earlier one', inOther(told(0, /a\.txt/))),
      prevents('a resumed session: a delete does not run', inOther(all(buildStays, refused(1)))),
    ],
  },
  {
    name: 'resume',
    // Cline resumes a session in a terminal only.
    clients: ['cline'],
    ...later,
    first: (client) => ({ flags: client.free, prompt: 'do it' }),
    flags: () => ['--id', 'SESSION'],
    keys: [{ see: 'Ask anything' }, { type: AGAIN }, { key: 'Enter' }, { wait: 15 }],
    seconds: 120,
    expect: [
      does('a resumed session has the result of the earlier one', inOther(told(0, /a\.txt/))),
      prevents('a resumed session: a delete does not run', inOther(all(buildStays, (o) => o.model.requested[1] ? '' : 'no delete was requested'))),
    ],
  },
  {
    name: 'sub-agent',
    clients: offering('agent').filter((id) => id !== 'goose'),
    script: (tools, client) => [place(client).agent, ...(place(client).wait ?? [])],
    flags: (client) => [...(place(client).agentFlags ?? []), ...client.free],
    files: (client) => place(client).agentFiles ?? {},
    others: (tools, client) => {
      const shell = place(client).agentShell ?? tools.shell;
      return [{ prompt: TASK, script: [shell(READ), shell(DELETE)] }];
    },
    seconds: 120,
    expect: [
      does('a sub-agent: a read-only command runs', inOther(told(0, /a\.txt/))),
      prevents('a sub-agent: a delete does not run', inOther(all(buildStays, refused(1)))),
      does('a sub-agent: the trail has both', all(trail(/yes\s+git status/), trail(/guard.*rm -r build/))),
    ],
  },
  {
    // Goose calls no hook for the tools of a sub-agent: the guard asks before it is started.
    name: 'sub-agent',
    clients: ['goose'],
    script: (tools, client) => [place(client).agent],
    others: (tools) => [{ prompt: TASK, script: [tools.shell(DELETE)] }],
    expect: [
      prevents('a sub-agent whose tools call no hook is not started', all(buildStays, told(0, /does not call the hook/))),
      does('a sub-agent: the trail has the refusal', trail(/guard +delegate/)),
    ],
  },
  {
    name: 'sub-agent-approved',
    clients: ['goose'],
    service: 'APPROVED',
    script: (tools, client) => [place(client).agent],
    others: (tools) => [{ prompt: TASK, script: [tools.shell(DELETE)] }],
    expect: [
      open('a sub-agent that the operator approves: its delete runs without the hook, by the rules of the client', buildGone),
    ],
  },
  {
    name: 'worktree',
    clients: everyone,
    folder: TREE,
    git: MAKE_TREE,
    look: ['tree/build/out.o'],
    script: (tools) => [tools.shell('cat a.txt'), tools.shell(DELETE)],
    expect: [
      does('in a worktree of the user: a read-only command runs', told(0, /first/)),
      prevents('in a worktree of the user: a delete does not run', all(reached, exists('tree/build/out.o'), refused(1))),
    ],
  },
  ...offering('worktree').map((id) => ({
    name: 'own-worktree',
    clients: [id],
    flags: ({ free }) => [...free, ...PLACES[id].worktree],
    files: (client) => PLACES[id].worktreeFiles?.(client) ?? {},
    keys: PLACES[id].worktreeKeys,
    script: (tools) => [tools.shell('git rev-parse --git-dir'), tools.shell(DELETE_THERE)],
    expect: [
      does('in a worktree that the client makes: a read-only command runs', told(0, /worktrees/)),
      prevents('in a worktree that the client makes: a delete does not run', all(buildStays, refused(1))),
    ],
  })),
  ...offering('enters').map((id) => ({
    name: 'own-worktree',
    clients: [id],
    // The operator approves the worktree.
    service: 'APPROVED',
    refuses: DELETE_THERE,
    script: (tools) => [...PLACES[id].enters, tools.shell('git rev-parse --git-dir'), tools.shell(DELETE_THERE)],
    expect: [
      does('in a worktree that the client makes: a read-only command runs', told(1, /worktrees/)),
      prevents('in a worktree that the client makes: a delete does not run', all(buildStays, asked(DELETE_THERE))),
    ],
  })),
];

const sizes = [
  {
    name: 'parallel',
    clients: everyone,
    decisions: true,
    script: (tools) => [reads(PARALLEL).map((command) => tools.shell(command))],
    expect: [
      does('parallel calls: all reads run', allRead(PARALLEL)),
      does('parallel calls: the trail has each read once', onceEach(reads(PARALLEL))),
    ],
  },
  {
    name: 'parallel-delete',
    clients: everyone,
    script: (tools) => [['pwd', DELETE, READ].map((command) => tools.shell(command))],
    expect: [prevents('a delete among parallel calls does not run', all(buildStays, refused(1)))],
  },
  {
    name: 'long-command',
    clients: everyone,
    script: (tools) => [tools.shell(DELETES_LONG)],
    expect: [
      // Codex itself cannot start such a command.
      { ...prevents('a command of 100 KB with a deletion at its end does not run', buildStays), except: ['codex'] },
      unlessItEnds(prevents('a command of 100 KB: the reason is its length', told(0, /the command has 1\d{5} characters/))),
      does('a command of 100 KB: the trail has it', trail(/guard +: x/)),
    ],
  },
  {
    name: 'many-calls',
    clients: everyone,
    decisions: true,
    seconds: 1_800,
    files: (client) => MANY_CALLS[client.id]?.(client) ?? {},
    script: (tools, client) => [
      ...groups(reads(place(client).calls), 10).map((group) => group.map((command) => tools.shell(command))),
      tools.shell(DELETE),
    ],
    expect: [
      does('a long session: all reads run', (o) => allRead(o.script.length - 1)(o)),
      does('a long session: the trail has each call once', (o) => onceEach([...reads(o.script.length - 1), DELETE])(o)),
      prevents('a long session: a delete at its end does not run', buildStays),
    ],
  },
];
/** Settings without a client's own guess that the model repeats itself, and without summaries. */
const MANY_CALLS = {
  gemini: ({ files }) => settingsOf(files['.gemini/settings.json'], { model: { disableLoopDetection: true, maxSessionTurns: -1 } }),
  // Otherwise, OpenHands replaces the results after 80 events by a summary, and the stand-in model repeats its calls.
  openhands: ({ env }) => ({
    '.openhands/agent_settings.json': json({
      kind: 'Agent', llm: { model: env.LLM_MODEL, usage_id: 'agent' }, tools: [{ name: 'terminal' }], condenser: null,
    }),
  }),
};

const javascript = [
  {
    name: 'javascript',
    clients: ['codex'],
    quick: true,
    flags: ({ free }) => ['--model', JAVASCRIPT_MODEL, ...free],
    decisions: true,
    script: () => [script(READ), script('head -n 1 a.txt', DELETE)],
    expect: [
      does('in JavaScript: a read-only command runs', told(0, /a\.txt/)),
      prevents('in JavaScript: a delete after a read does not run', all(buildStays, told(1, /DELETE/))),
      does('in JavaScript: the trail has each call once', onceEach([READ, 'head -n 1 a.txt', DELETE])),
      does('in JavaScript: the trail has the runs', all(trail(/yes\s+git status/), trail(/yes\s+head/))),
    ],
  },
  {
    name: 'javascript-parallel',
    clients: ['codex'],
    flags: ({ free }) => ['--model', JAVASCRIPT_MODEL, ...free],
    decisions: true,
    script: () => [{
      tool: 'exec',
      text: `const all = await Promise.allSettled(${JSON.stringify([...reads(PARALLEL), DELETE])}.map((cmd) => tools.exec_command({ cmd })));\ntext(all);`,
    }],
    expect: [
      prevents('in JavaScript: a delete among parallel calls does not run', all(buildStays, told(0, /DELETE/))),
      does('in JavaScript: the trail has each parallel call once', onceEach([...reads(PARALLEL), DELETE])),
    ],
  },
  {
    name: 'javascript-patch',
    clients: ['codex'],
    flags: ({ free }) => ['--model', JAVASCRIPT_MODEL, ...free],
    script: (tools) => [{
      tool: 'exec',
      text: `text(await tools.apply_patch(${JSON.stringify(tools.write(`${PROJECT}/new.txt`, 'hello').text)}));`,
    }],
    expect: [prevents('in JavaScript: a patch writes no file', noFile)],
  },
];

// The user's own commands.

const users = [
  ...offering('typed').map((id) => ({
    name: 'typed-by-the-user',
    clients: [id],
    flags: ({ free }) => PLACES[id].typedFlags ?? free,
    script: () => [],
    keys: [...starts(id), { see: PLACES[id].typed }, { type: '!' }, { type: DELETE }, { key: 'Enter' }, { wait: 6 }],
    expect: [
      does('a command that the user types after `!` runs', (o) => (o.buildStays ? '`build` stays' : '')),
      open('a command that the user types after `!`: the hook is not called', (o) => (o.calls.length > 0 ? 'the hook is called' : '')),
    ],
  })),
  ...offering('slash').map((id) => ({
    name: 'slash-command',
    clients: [id],
    flags: ({ free }) => [...free, ...(PLACES[id].slash.flags ?? [])],
    prompt: PLACES[id].slash.prompt,
    files: PLACES[id].slash.files,
    script: () => [],
    ...(PLACES[id].slash.seen && {
      keys: [...starts(id), { see: PLACES[id].slash.seen }, { type: PLACES[id].slash.prompt }, { key: 'Enter' }, { wait: 8 }],
    }),
    expect: [
      does('a slash command reaches the model', (o) => (o.model.conversation === '' ? 'the model received nothing' : '')),
      open('a command in a slash command: runs without the hook, by the rules of the client', (o) =>
        o.buildStays ? '`build` stays' : ''),
    ],
  })),
];

// Skills that the model uses.

const skills = [
  {
    name: 'skill',
    clients: ['openhands'],
    files: { 'project/.agents/skills/tidy/SKILL.md': `---\nname: tidy\ndescription: Tidies up.\n---\nTidy: !\`${DELETE}\`\n` },
    script: () => [{ tool: 'invoke_skill', arguments: { name: 'tidy', security_risk: 'LOW' } }],
    expect: [
      prevents('a command in a skill does not run', buildStays),
      does('a command in a skill: the trail has the refusal', trail(/guard +invoke_skill/)),
    ],
  },
];

// Recipes.

/** Returns the file of a recipe of Goose. */
const recipe = (more) => ({
  'tidy.yaml': json({
    version: '1.0.0',
    title: 'Tidy',
    description: 'Tidies up.',
    prompt: TASK,
    extensions: [{ type: 'platform', name: 'developer', description: 'x' }],
    ...more,
  }),
});
/** A second recipe that the first one may start. */
const SUB_RECIPE = { 'below.yaml': recipe()['tidy.yaml'].replace(TASK, AGAIN) };

const recipes = [
  {
    name: 'recipe',
    clients: ['goose'],
    flags: ['--recipe', `${HOME}/tidy.yaml`],
    files: recipe(),
    script: (tools) => [tools.shell(READ), tools.shell(DELETE)],
    expect: [
      does('a recipe: a read-only command runs', told(0, /a\.txt/)),
      prevents('a recipe: a delete does not run', all(buildStays, refused(1))),
      does('a recipe: the trail has both', all(trail(/yes\s+git status/), trail(/guard.*rm -r build/))),
    ],
  },
  {
    // A recipe as a slash command of the user.
    name: 'recipe-slash',
    clients: ['goose'],
    prompt: '/tidy',
    files: ({ files }) => ({
      ...recipe(),
      '.config/goose/config.yaml':
        `${files['.config/goose/config.yaml']}slash_commands:\n  - command: tidy\n    recipe_path: ${HOME}/tidy.yaml\n`,
    }),
    script: (tools) => [tools.shell(READ), tools.shell(DELETE)],
    expect: [
      does('a recipe as a slash command: the model receives its prompt', conversation(/Tidy up the folder/)),
      prevents('a recipe as a slash command: a delete does not run', all(buildStays, refused(1))),
    ],
  },
  {
    // A tool starts another recipe in a sub-agent, whose tools call no hook.
    name: 'recipe-below',
    clients: ['goose'],
    flags: ['--recipe', `${HOME}/tidy.yaml`],
    files: { ...recipe({ sub_recipes: [{ name: 'below', path: `${HOME}/below.yaml` }] }), ...SUB_RECIPE },
    script: () => [{ tool: 'delegate', arguments: { source: 'below' }, unlisted: true }],
    others: (tools) => [{ prompt: AGAIN, script: [tools.shell(DELETE)] }],
    expect: [
      prevents('a recipe in a recipe is not started', all(buildStays, told(0, /does not call the hook/))),
    ],
  },
  {
    // Goose runs the command itself when the check fails.
    name: 'recipe-command',
    clients: ['goose'],
    flags: ['--recipe', `${HOME}/tidy.yaml`],
    files: recipe({ retry: { max_retries: 1, checks: [{ type: 'shell', command: 'false' }], on_failure: DELETE } }),
    script: (tools) => [tools.shell(READ)],
    expect: [
      does('a recipe with a command: a read-only command of the model runs', told(0, /a\.txt/)),
      open('a command that a recipe runs itself: runs without the hook, by the rules of the client', buildGone),
    ],
  },
];

// Other programs beside the guard.

const others = [
  ...offering('plugin').map((id) => ({
    name: 'plugin-hook',
    clients: [id],
    flags: ({ free }) => [...free, ...PLACES[id].plugin.flags],
    files: { ...OTHER_HOOK_FILES, ...PLACES[id].plugin.files },
    prepare: () => PLACES[id].plugin.installs ?? [],
    keys: PLACES[id].plugin.keys,
    look: [OTHER_HOOK_RAN],
    // A client may ask no further hook after a denial.
    script: (tools) => [tools.shell(READ), tools.shell(DELETE)],
    expect: [
      does('beside a plugin: its hook runs', exists(OTHER_HOOK_RAN)),
      prevents('beside a plugin whose hook allows everything: a delete does not run', all(buildStays, refused(1))),
    ],
  })),
  {
    name: 'settings-edited',
    clients: everyone.filter((id) => PLACES[id].edited !== false),
    edit: 'after',
    flags: (client) => (client.id === 'codex' ? ['--sandbox', 'workspace-write'] : client.free),
    doctor: true,
    script: (tools) => [tools.shell(DELETE)],
    expect: [
      prevents('settings that another program edited: a delete does not run', all(noNotes, buildStays, refused(0))),
      does('settings that another program edited: `doctor` reports ok', doctorOk),
    ],
  },
  {
    name: 'settings-edited-before',
    clients: ['codex'],
    edit: 'before',
    flags: ['--sandbox', 'workspace-write'],
    doctor: true,
    script: (tools) => [tools.shell(DELETE)],
    expect: [
      open('another hook before the guard in the settings: a delete runs, by the rules of the client', all(noNotes, buildGone)),
      does('another hook before the guard in the settings: `doctor` reports it', doctorSays(/codex[^\n]*trusted/)),
    ],
  },
  {
    name: 'update',
    clients: offering('earlier'),
    ...later,
    first: (client) => ({ client: place(client).earlier, prompt: 'do it' }),
    seconds: 120,
    expect: [
      does('before an update of the client: a read-only command runs', told(0, /a\.txt/)),
      prevents('after an update of the client, without a new `install`: a delete does not run', inOther(all(buildStays, refused(1)))),
    ],
  },
];
/** Fails unless `doctor` reports the agent of the scenario as ok. */
function doctorOk(o) {
  return new RegExp(`ok +${o.agent}\\b`).test(o.doctor) ? '' : `doctor says: ${o.doctor}`;
}

export const placeChecks = [...modes, ...sizes, ...javascript, ...users, ...skills, ...recipes, ...others];
