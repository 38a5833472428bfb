// Clients: their source, setup, command lines and tool calls.
//
// A client has
//   agent      name of the agent for `hooks-guard`
//   title      name in the book
//   packages   npm packages with exact versions; the first one is the client
//   python     if the packages are of PyPI: the oldest and the newest version of Python that can run them, and
//              requirements of the first package that are replaced because the registry no longer has them, or
//              the `list` of all packages with exact versions, beside this file, of which `packages` replace some;
//              `builds` are packages without a wheel, whose setup runs
//   overrides  packages that it depends on, but that its program does not load: they are not installed
//   unpacks    compressed program (brotli) that the package's own script would unpack, relative to
//              the folder of the packages
//   command    name under which users and `hooks-guard` find it
//   program    command line of the program, relative to the folder of the packages
//   env        environment that points it at the stand-in model
//   files      settings in its home, by path
//   headless   arguments that run one prompt without a terminal; `free` holds the flags under which
//              the client itself refuses nothing, so that only the guard is left
//   unattended environment of a headless run that tells the guard that there is no user
//   terminal   arguments that start it in a terminal
//   tools      its own calls for `shell`, `write` and `read`, for `edit` in some checks, and for `note`, a tool of the MCP server
//              `notes` (notes.mjs)
//   sessions   folder of its sessions, for flags with `SESSION`, the id of the last one
//   isHeavy    true if it starts so slowly, or is so large, that `--quick` leaves it out
//   endsAtDenial  true if the client ends the run when a hook denies a call; the model gets no result then
//   killsHooks true if the client does not wait for the hooks after a tool and kills those that run at its end: the
//              model answers after they have ended, as a real one does
//   isSlow     true if its start or its installation takes long: `quick: true` of a check leaves it out, a list of clients does not
//   isOld      true if it is pinned to an old version on purpose
//   notes      its settings with this server, by path; files of `files` without it are kept

export const PORT = 18080;
export const HOME = '/home/dev';
export const PROJECT = `${HOME}/project`;
const arch = process.arch;
const root = `http://127.0.0.1:${PORT}`;
const json = (value) => JSON.stringify(value, null, 2);
/** Returns a file of settings with more in it. */
const merged = (text, more) => json({ ...JSON.parse(text), ...more });

/** Runs inside.mjs, and Gemini CLI, which needs a newer Node than some systems have. */
export const node = {
  id: 'node',
  packages: [`node-linux-${arch}@22.23.3`],
  program: [`node_modules/node-linux-${arch}/bin/node`],
};

/** Node in the sandbox. */
export const NODE = `/mnt/clients/${node.id}/${node.program[0]}`;
/** Command line of the MCP server `notes`. */
const SERVER = [NODE, '/mnt/lab/notes.mjs'];
const [command, ...args] = SERVER;
const servers = (more) => ({ mcpServers: { notes: { command, args, ...more } } });

const claude = {
  id: 'claude',
  title: 'Claude Code',
  command: 'claude',
  agent: 'claude-code',
  packages: [`@anthropic-ai/claude-code-linux-${arch}@2.1.332`],
  program: [`node_modules/@anthropic-ai/claude-code-linux-${arch}/claude`],
  env: {
    ANTHROPIC_BASE_URL: root,
    ANTHROPIC_API_KEY: 'test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  },
  files: {
    // Otherwise a terminal starts with a tour and with questions.
    '.claude.json': json({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['test'], rejected: [] },
      projects: { [PROJECT]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  },
  headless: (flags, prompt) => [...flags, '-p', prompt],
  terminal: (flags) => flags,
  free: ['--dangerously-skip-permissions'],
  tools: {
    shell: (command) => ({ tool: 'Bash', arguments: { command, description: 'x' } }),
    write: (path, content) => ({ tool: 'Write', arguments: { file_path: path, content } }),
    read: (path) => ({ tool: 'Read', arguments: { file_path: path } }),
    edit: (path, from, to) => ({ tool: 'Edit', arguments: { file_path: path, old_string: from, new_string: to } }),
    note: (text) => ({ tool: 'mcp__notes__create_note', unlisted: true, arguments: { text } }),
  },
  notes: ({ files }) => ({ '.claude.json': merged(files['.claude.json'], servers({ type: 'stdio' })) }),
};

/** The newest version for Node 20; it does not support `onFailure`. */
const olderClaude = {
  ...claude,
  id: 'claude-2.1.197',
  isOld: true,
  title: 'Claude Code before 2.1.295',
  packages: [`@anthropic-ai/claude-code-linux-${arch}@2.1.197`],
};

const codexTarget = { x64: 'x86_64-unknown-linux-musl', arm64: 'aarch64-unknown-linux-musl' }[arch];
const patch = (path, text) => `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch`;
const codex = {
  id: 'codex',
  title: 'Codex',
  command: 'codex',
  agent: 'codex',
  packages: ['@openai/codex@0.171.0'],
  program: [`node_modules/@openai/codex-linux-${arch}/vendor/${codexTarget}/bin/codex`],
  env: { OPENAI_API_KEY: 'test' },
  files: {
    '.codex/config.toml': [
      // A name for which Codex offers its patch tool.
      'model = "gpt-5.5"',
      'model_provider = "stand-in"',
      'check_for_update_on_startup = false',
      '[model_providers.stand-in]',
      'name = "stand-in"',
      `base_url = "${root}/v1"`,
      'wire_api = "responses"',
      'env_key = "OPENAI_API_KEY"',
      '[analytics]',
      'enabled = false',
      `[projects."${PROJECT}"]`,
      'trust_level = "trusted"',
      '',
    ].join('\n'),
  },
  headless: (flags, prompt) => ['exec', ...flags, prompt],
  free: ['--sandbox', 'workspace-write', '--dangerously-bypass-hook-trust'],
  terminal: (flags) => flags,
  tools: {
    shell: (cmd) => ({ tool: 'exec_command', arguments: { cmd } }),
    write: (path, text) => ({ tool: 'apply_patch', text: patch(path, text) }),
    read: (path) => ({ tool: 'exec_command', arguments: { cmd: `cat ${path}` } }),
    note: (text) => ({ tool: 'create_note', unlisted: true, namespace: 'mcp__notes', arguments: { text } }),
  },
  notes: ({ files }) => ({
    '.codex/config.toml': `${files['.codex/config.toml']}[mcp_servers.notes]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n[mcp_servers.notes.tools.create_note]\napproval_mode = "approve"\n`,
  }),
};

const gemini = {
  id: 'gemini',
  title: 'Gemini CLI',
  command: 'gemini',
  agent: 'gemini',
  packages: ['@google/gemini-cli@0.61.0'],
  program: ['node', 'node_modules/.bin/gemini'],
  env: {
    GEMINI_API_KEY: 'test',
    GOOGLE_GEMINI_BASE_URL: root,
    GEMINI_CLI_NO_RELAUNCH: 'true',
  },
  files: {
    '.gemini/settings.json': json({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    }),
  },
  terminal: (flags) => ['--skip-trust', ...flags, '-m', 'gemini-2.5-flash'],
  headless: (flags, prompt) => ['--skip-trust', ...flags, '-m', 'gemini-2.5-flash', '-p', prompt],
  free: ['--approval-mode', 'yolo'],
  unattended: { HOOKS_GUARD_UNATTENDED: '1' },
  tools: {
    shell: (command) => ({ tool: 'run_shell_command', arguments: { command } }),
    write: (path, content) => ({ tool: 'write_file', arguments: { file_path: path, content } }),
    read: (path) => ({ tool: 'read_file', arguments: { file_path: path } }),
    note: (text) => ({ tool: 'mcp_notes_create_note', arguments: { text } }),
  },
  notes: ({ files }) => ({ '.gemini/settings.json': merged(files['.gemini/settings.json'], servers()) }),
};

const copilot = {
  id: 'copilot',
  title: 'Copilot CLI',
  command: 'copilot',
  agent: 'copilot',
  packages: ['@github/copilot@1.0.102'],
  program: [`node_modules/@github/copilot-linux-${arch}/copilot`],
  env: {
    COPILOT_PROVIDER_BASE_URL: `${root}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'test',
    COPILOT_MODEL: 'stand-in',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  },
  files: { '.copilot/config.json': json({ trusted_folders: [PROJECT] }) },
  terminal: (flags) => ['--disable-client-telemetry', ...flags],
  headless: (flags, prompt) => ['--disable-client-telemetry', ...flags, '-p', prompt],
  free: ['--allow-all-tools'],
  unattended: { HOOKS_GUARD_UNATTENDED: '1' },
  tools: {
    shell: (command) => ({ tool: 'bash', arguments: { command, description: 'x' } }),
    write: (path, text) => ({ tool: 'create', arguments: { path, file_text: text } }),
    read: (path) => ({ tool: 'view', arguments: { path } }),
    note: (text) => ({ tool: 'notes-create_note', arguments: { text } }),
  },
  notes: () => ({ '.copilot/mcp-config.json': json(servers({ type: 'local', tools: ['*'] })) }),
};

const opencode = {
  id: 'opencode',
  title: 'opencode 1',
  command: 'opencode',
  agent: 'opencode',
  packages: ['opencode-ai@1.18.33'],
  program: [`node_modules/opencode-linux-${arch}/bin/opencode`],
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  },
  files: {
    '.config/opencode/opencode.json': json({
      autoupdate: false,
      share: 'disabled',
      model: 'stand-in/stand-in',
      small_model: 'stand-in/stand-in',
      provider: {
        'stand-in': {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${root}/v1`, apiKey: 'test' },
          models: { 'stand-in': { tool_call: true, limit: { context: 100_000, output: 4_000 } } },
        },
      },
    }),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => ['run', ...flags, prompt],
  free: [],
  tools: {
    shell: (command) => ({ tool: 'bash', arguments: { command, description: 'x' } }),
    write: (path, content) => ({ tool: 'write', arguments: { filePath: path, content } }),
    read: (path) => ({ tool: 'read', arguments: { filePath: path } }),
    note: (text) => ({ tool: 'notes_create_note', arguments: { text } }),
  },
  notes: ({ files }) => {
    const path = '.config/opencode/opencode.json';
    return { [path]: merged(files[path], { mcp: { notes: { type: 'local', command: SERVER } } }) };
  },
};

const qwen = {
  id: 'qwen',
  title: 'Qwen Code',
  command: 'qwen',
  agent: 'qwen-code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  program: ['node', 'node_modules/@qwen-code/qwen-code/cli-entry.js'],
  env: {
    OPENAI_API_KEY: 'test',
    OPENAI_BASE_URL: `${root}/v1`,
    OPENAI_MODEL: 'stand-in',
    QWEN_CODE_NO_RELAUNCH: 'true',
  },
  files: {
    '.qwen/settings.json': json({
      security: { auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => [...flags, '-p', prompt],
  free: ['--approval-mode', 'yolo'],
  unattended: { HOOKS_GUARD_UNATTENDED: '1' },
  tools: {
    shell: (command) => ({ tool: 'run_shell_command', arguments: { command, is_background: false } }),
    write: (path, content) => ({ tool: 'write_file', arguments: { file_path: path, content } }),
    read: (path) => ({ tool: 'read_file', arguments: { file_path: path } }),
    note: (text) => ({ tool: 'mcp__notes__create_note', unlisted: true, arguments: { text } }),
  },
  notes: ({ files }) => ({ '.qwen/settings.json': merged(files['.qwen/settings.json'], servers()) }),
};

const droid = {
  id: 'droid',
  title: 'Factory Droid',
  command: 'droid',
  agent: 'droid',
  packages: [`@factory/cli-linux-${arch}@0.225.2`],
  program: [`node_modules/@factory/cli-linux-${arch}/bin/droid`],
  env: {
    // Without an account: only the user's own models are available.
    FACTORY_AIRGAP_ENABLED: 'true',
    FACTORY_DISABLE_KEYRING: 'true',
    FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false',
  },
  files: {
    '.factory/settings.json': json({
      customModels: [
        {
          model: 'stand-in',
          displayName: 'stand-in',
          baseUrl: `${root}/v1`,
          apiKey: 'test',
          provider: 'generic-chat-completion-api',
          maxOutputTokens: 4_000,
        },
      ],
    }),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => ['exec', '-m', 'custom:stand-in-0', ...flags, prompt],
  free: ['--skip-permissions-unsafe'],
  sessions: '.factory/sessions',
  tools: {
    shell: (command) => ({
      tool: 'Execute',
      arguments: { command, summary: 'x', riskLevelReason: 'x', riskLevel: 'low' },
    }),
    write: (path, content) => ({ tool: 'Create', arguments: { file_path: path, content } }),
    read: (path) => ({ tool: 'Read', arguments: { file_path: path } }),
    note: (text) => ({ tool: 'notes___create_note', unlisted: true, arguments: { text } }),
  },
  notes: () => ({ '.factory/mcp.json': json(servers({ type: 'stdio', disabled: false })) }),
};

const grokFolder = `node_modules/@xai-official/grok-linux-${arch}/bin`;
const grok = {
  id: 'grok',
  title: 'Grok CLI',
  command: 'grok',
  agent: 'grok',
  packages: [`@xai-official/grok-linux-${arch}@1.0.41`],
  unpacks: `${grokFolder}/grok.br`,
  program: [`${grokFolder}/grok`],
  env: {
    XAI_API_KEY: 'test',
    GROK_DISABLE_AUTOUPDATER: '1',
    GROK_TELEMETRY_ENABLED: '0',
  },
  files: {
    '.grok/config.toml': [
      '[models]',
      'default = "stand-in"',
      '[model.stand-in]',
      'model = "stand-in"',
      `base_url = "${root}/v1"`,
      'api_key = "test"',
      '',
    ].join('\n'),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => [...flags, '-p', prompt],
  free: ['--always-approve'],
  unattended: { HOOKS_GUARD_UNATTENDED: '1' },
  tools: {
    shell: (command) => ({ tool: 'run_terminal_command', arguments: { command, description: 'x' } }),
    write: (path, content) => ({ tool: 'write', arguments: { file_path: path, content } }),
    read: (path) => ({ tool: 'read_file', arguments: { target_file: path } }),
    note: (text) => ({ tool: 'use_tool', arguments: { tool_name: 'notes__create_note', tool_input: { text } } }),
  },
  notes: ({ files }) => ({
    '.grok/config.toml': `${files['.grok/config.toml']}[mcp_servers.notes]\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`,
  }),
};

const cline = {
  id: 'cline',
  title: 'Cline',
  command: 'cline',
  agent: 'cline',
  // The process of its plugins loads the others, which its package `cline` requires.
  packages: [`@cline/cli-linux-${arch}@3.0.65`, '@cline/shared@0.0.86', 'jiti@2.7.0'],
  program: [`node_modules/@cline/cli-linux-${arch}/bin/cline`],
  env: { CLINE_NO_AUTO_UPDATE: '1' },
  files: {
    '.cline/data/settings/providers.json': json({
      version: 1,
      lastUsedProvider: 'openai-compatible',
      modes: {},
      providers: {
        'openai-compatible': {
          settings: { provider: 'openai-compatible', apiKey: 'test', model: 'stand-in', baseUrl: `${root}/v1` },
          updatedAt: '2026-01-01T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    }),
  },
  terminal: (flags) => ['--tui', ...flags],
  headless: (flags, prompt) => [...flags, prompt],
  sessions: '.cline/data/sessions',
  // A denial ends the run: the model gets no result.
  endsAtDenial: true,
  free: [],
  tools: {
    shell: (command) => ({ tool: 'run_commands', arguments: { commands: [command] } }),
    write: (path, text) => ({ tool: 'editor', arguments: { path, new_text: text } }),
    read: (path) => ({ tool: 'read_files', arguments: { files: [{ path }] } }),
    note: (text) => ({ tool: 'notes__create_note', unlisted: true, arguments: { text } }),
  },
  notes: () => ({ '.cline/data/settings/cline_mcp_settings.json': json(servers({ disabled: false })) }),
};

/** Pi runs on Node; its extension asks the user where there is a terminal. */
const pi = {
  id: 'pi',
  title: 'Pi',
  command: 'pi',
  agent: 'pi',
  packages: ['@earendil-works/pi-coding-agent@1.6.0'],
  program: ['node', 'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js'],
  env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
  files: {
    '.pi/agent/models.json': json({
      providers: {
        'stand-in': {
          baseUrl: `${root}/v1`,
          apiKey: 'test',
          api: 'openai-completions',
          models: [{ id: 'stand-in', contextWindow: 100_000, maxTokens: 4_000 }],
        },
      },
    }),
    '.pi/agent/settings.json': json({
      defaultProvider: 'stand-in',
      defaultModel: 'stand-in',
      enableInstallTelemetry: false,
    }),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => [...flags, '-p', prompt],
  free: [],
  tools: {
    shell: (command) => ({ tool: 'bash', arguments: { command } }),
    write: (path, content) => ({ tool: 'write', arguments: { path, content } }),
    read: (path) => ({ tool: 'read', arguments: { path } }),
    note: (text) => ({ tool: 'mcp__notes__create_note', unlisted: true, arguments: { text } }),
  },
  notes: () => ({ '.pi/agent/mcp.json': json(servers({ exposure: 'direct' })) }),
};

const kimi = {
  id: 'kimi',
  title: 'Kimi Code',
  command: 'kimi',
  agent: 'kimi-code',
  killsHooks: true,
  packages: ['@moonshot-ai/kimi-code@2.1.0'],
  program: ['node', 'node_modules/@moonshot-ai/kimi-code/dist/main.mjs'],
  env: { KIMI_CODE_NO_AUTO_UPDATE: '1', KIMI_DISABLE_TELEMETRY: '1' },
  files: {
    '.kimi-code/config.toml': [
      'default_model = "stand-in"',
      'telemetry = false',
      '',
      '[providers.stand-in]',
      'type = "openai"',
      `base_url = "${root}/v1"`,
      'api_key = "test"',
      '',
      '[models.stand-in]',
      'provider = "stand-in"',
      'model = "stand-in"',
      'max_context_size = 100000',
      '',
    ].join('\n'),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => [...flags, '-p', prompt],
  free: [],
  tools: {
    shell: (command) => ({ tool: 'Bash', arguments: { command, description: 'x' } }),
    write: (path, content) => ({ tool: 'Write', arguments: { path, content } }),
    read: (path) => ({ tool: 'Read', arguments: { path } }),
    note: (text) => ({ tool: 'mcp__notes__create_note', unlisted: true, arguments: { text } }),
  },
  notes: () => ({ '.kimi-code/mcp.json': json(servers()) }),
};

/** Kilo Code descends from opencode 1. */
const kilo = {
  id: 'kilo',
  title: 'Kilo Code',
  command: 'kilo',
  agent: 'kilo-code',
  packages: [`@kilocode/cli-linux-${arch}@7.7.9`],
  program: [`node_modules/@kilocode/cli-linux-${arch}/bin/kilo`],
  env: {
    KILO_DISABLE_AUTOUPDATE: '1',
    KILO_DISABLE_MODELS_FETCH: '1',
    KILO_DISABLE_LSP_DOWNLOAD: '1',
    KILO_DISABLE_SESSION_INGEST: '1',
    KILO_TELEMETRY_LEVEL: 'off',
    KILO_NO_DAEMON: '1',
  },
  files: {
    '.config/kilo/kilo.json': json({
      autoupdate: false,
      share: 'disabled',
      model: 'stand-in/stand-in',
      small_model: 'stand-in/stand-in',
      provider: {
        'stand-in': {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${root}/v1`, apiKey: 'test' },
          models: { 'stand-in': { tool_call: true, limit: { context: 100_000, output: 4_000 } } },
        },
      },
    }),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => ['run', ...flags, prompt],
  isSlow: true,
  free: ['--auto'],
  tools: {
    shell: (command) => ({ tool: 'bash', arguments: { command, description: 'x' } }),
    write: (path, content) => ({ tool: 'write', arguments: { filePath: path, content } }),
    read: (path) => ({ tool: 'read', arguments: { filePath: path } }),
    note: (text) => ({ tool: 'notes_create_note', arguments: { text } }),
  },
  notes: ({ files }) => {
    const path = '.config/kilo/kilo.json';
    return { [path]: merged(files[path], { mcp: { notes: { type: 'local', command: SERVER } } }) };
  },
};

const GOOSE_SETTINGS = [
  'GOOSE_PROVIDER: openai',
  'GOOSE_MODEL: stand-in',
  `OPENAI_HOST: ${root}`,
  'OPENAI_BASE_PATH: v1/chat/completions',
  'extensions:',
  '  developer:',
  '    enabled: true',
  '    type: platform',
  '    name: developer',
  '    description: x',
  '',
].join('\n');
const goose = {
  id: 'goose',
  title: 'Goose',
  command: 'goose',
  agent: 'goose',
  packages: [`@aaif/goose-binary-linux-${arch}@1.52.0`],
  program: [`node_modules/@aaif/goose-binary-linux-${arch}/bin/goose`],
  env: { OPENAI_API_KEY: 'test', GOOSE_DISABLE_KEYRING: '1', GOOSE_TELEMETRY_OFF: '1', GOOSE_MODE: 'auto' },
  files: { '.config/goose/config.yaml': GOOSE_SETTINGS },
  terminal: (flags) => ['session', ...flags],
  // A recipe has a prompt.
  headless: (flags, prompt) => ['run', ...flags, ...(flags.includes('--recipe') ? [] : ['-t', prompt])],
  free: [],
  tools: {
    shell: (command) => ({ tool: 'shell', arguments: { command } }),
    write: (path, content) => ({ tool: 'write', arguments: { path, content } }),
    read: (path) => ({ tool: 'shell', arguments: { command: `cat ${path}` } }),
    note: (text) => ({ tool: 'notes__create_note', unlisted: true, arguments: { text } }),
  },
  notes: () => ({
    '.config/goose/config.yaml': [
      `${GOOSE_SETTINGS}  notes:`,
      '    enabled: true',
      '    type: stdio',
      '    name: notes',
      '    description: x',
      `    cmd: ${command}`,
      `    args: ${JSON.stringify(args)}`,
      '    envs: {}',
      '    timeout: 60',
      '',
    ].join('\n'),
  }),
};

/** The provider of the model of Letta Code, in its local storage. */
const lettaModel = {
  version: 1,
  providers: {
    'openai-compatible': {
      id: 'local-provider-openai-compatible',
      name: 'openai-compatible',
      provider_type: 'openai-compatible',
      provider_category: 'byok',
      auth: { type: 'api', key: 'test' },
      base_url: `${root}/v1`,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    },
  },
};
/** Flag of the lab, which Letta Code does not receive. */
export const LAST_AGENT = 'LAST_AGENT';
/**
 * Letta Code with its agents on this machine, which needs no account. Its program contains what it uses of the
 * packages in `overrides`; the registry of the lab may lack them.
 */
const letta = {
  id: 'letta',
  isSlow: true,
  title: 'Letta Code',
  command: 'letta',
  agent: 'letta-code',
  packages: ['@letta-ai/letta-code@0.32.18'],
  overrides: ['@janhapke/sharp-electron', '@letta-ai/letta-agent-sdk', '@letta-ai/trajectory'],
  program: ['node', 'node_modules/@letta-ai/letta-code/letta.js'],
  env: { DISABLE_AUTOUPDATER: '1', LETTA_CODE_TELEM: '0' },
  files: {
    '.letta/settings.json': json({ preferredBackendMode: 'local', autoConversationTitles: false }),
    '.letta/lc-local-backend/providers/auth.json': json(lettaModel),
  },
  terminal: (flags) => ['--new-agent', ...flags],
  // Without the flag, it continues with its last agent.
  headless: (flags, prompt) =>
    flags.includes(LAST_AGENT)
      ? [...flags.filter((flag) => flag !== LAST_AGENT), '-p', prompt]
      : ['--new-agent', ...flags, '-p', prompt],
  free: ['--permission-mode', 'unrestricted'],
  tools: {
    shell: (command) => ({ tool: 'Bash', arguments: { command, description: 'x' } }),
    write: (path, content) => ({ tool: 'Write', arguments: { file_path: path, content } }),
    read: (path) => ({ tool: 'Read', arguments: { file_path: path } }),
  },
};

/** Auggie with a session of its service, at whose address the stand-in is. */
const auggie = {
  id: 'auggie',
  isSlow: true,
  title: 'Auggie',
  command: 'auggie',
  agent: 'auggie',
  packages: ['@augmentcode/auggie@0.36.0'],
  program: ['node', 'node_modules/@augmentcode/auggie/augment.mjs'],
  env: {
    AUGMENT_SESSION_AUTH: JSON.stringify({ accessToken: 'test', tenantURL: `${root}/`, scopes: ['read', 'write'] }),
    AUGMENT_DISABLE_AUTO_UPDATE: '1',
  },
  files: { '.augment/settings.json': json({ mcpServers: {} }) },
  terminal: (flags) => ['--allow-indexing', ...flags],
  headless: (flags, prompt) => [...flags, '--print', prompt],
  free: [],
  tools: {
    shell: (command) => ({
      tool: 'launch-process',
      arguments: { command, wait: true, max_wait_seconds: 60, cwd: PROJECT },
    }),
    write: (path, text) => ({ tool: 'save-file', arguments: { path, file_content: text } }),
    read: (path) => ({ tool: 'view', arguments: { path, type: 'file' } }),
    note: (text) => ({ tool: 'create_note_notes', unlisted: true, arguments: { text } }),
  },
  notes: ({ files }) => ({ '.augment/settings.json': merged(files['.augment/settings.json'], servers()) }),
};

const vibe = {
  id: 'vibe',
  isSlow: true,
  title: 'Mistral Vibe',
  command: 'vibe',
  agent: 'mistral-vibe',
  packages: ['mistral-vibe@3.0.3'],
  python: { from: 12, to: 14, replaces: { 'certifi==2026.10.19': 'certifi==2026.10.19.post1' } },
  program: ['site/bin/vibe'],
  env: { PYTHONPATH: '/mnt/clients/vibe/site', PYTHON_KEYRING_BACKEND: 'keyring.backends.null.Keyring' },
  files: {
    '.vibe/config.toml': [
      'active_model = "stand-in"',
      'enable_telemetry = false',
      'enable_update_checks = false',
      'enable_connectors = false',
      '',
      '[[providers]]',
      'name = "stand-in"',
      `api_base = "${root}/v1"`,
      'api_key_env_var = ""',
      '',
      '[[models]]',
      'name = "stand-in"',
      'provider = "stand-in"',
      'alias = "stand-in"',
      'max_context_length = 1000000',
      '',
    ].join('\n'),
  },
  terminal: (flags) => flags,
  headless: (flags, prompt) => ['-p', prompt, ...flags],
  free: ['--auto-approve'],
  tools: {
    shell: (command) => ({ tool: 'bash', arguments: { command } }),
    write: (path, content) => ({ tool: 'write_file', arguments: { path, content } }),
    read: (path) => ({ tool: 'read_file', arguments: { path } }),
    // Tools of servers are functions of a script.
    note: (text) => called('mcp_notes.create_note', { text }),
  },
  notes: ({ files }) => ({
    '.vibe/config.toml': `${files['.vibe/config.toml']}[[mcp_servers]]\nname = "notes"\ntransport = "stdio"\ncommand = "${command}"\nargs = ${JSON.stringify(args)}\n`,
  }),
};

const openhands = {
  id: 'openhands',
  title: 'OpenHands',
  command: 'openhands',
  agent: 'openhands',
  packages: ['openhands@1.16.0'],
  python: { from: 12, to: 12, list: 'openhands.txt', builds: ['func-timeout'] },
  isHeavy: true,
  program: ['site/bin/openhands'],
  env: {
    PYTHONPATH: '/mnt/clients/openhands/site',
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    OPENHANDS_SUPPRESS_BANNER: '1',
    LLM_API_KEY: 'test',
    LLM_BASE_URL: `${root}/v1`,
    LLM_MODEL: 'openai/stand-in',
  },
  files: {},
  terminal: (flags) => ['--override-with-envs', ...flags],
  headless: (flags, prompt) => ['--override-with-envs', '--headless', ...flags, '-t', prompt],
  free: [],
  tools: {
    shell: (command) => ({ tool: 'terminal', arguments: { command, security_risk: 'LOW' } }),
    write: (path, text) => ({ tool: 'file_editor', arguments: { command: 'create', path, file_text: text, security_risk: 'LOW' } }),
    read: (path) => ({ tool: 'file_editor', arguments: { command: 'view', path, security_risk: 'LOW' } }),
    // The name of the server is not part of it.
    note: (text) => ({ tool: 'create_note', arguments: { text, security_risk: 'LOW' } }),
  },
  notes: () => ({ '.openhands/mcp.json': json(servers({ transport: 'stdio' })) }),
};

/** Returns the call of a function of Mistral Vibe's scripts. */
export function called(name, input) {
  const code = `return await tools.${name}(${JSON.stringify(input)});`;
  return { tool: 'run_typescript', arguments: { code } };
}

/** Returns a client in an earlier version, for the check of an update; `more` are fields that differ, too. */
const earlier = (client, version, more) => ({
  ...client,
  id: `${client.id}-${version}`,
  packages: [client.packages[0].replace(/@[^@]*$/, `@${version}`), ...client.packages.slice(1)],
  ...more,
});

export const clients = [claude, olderClaude, codex, gemini, copilot, opencode, qwen, droid, grok, cline, pi, kimi, kilo, goose, letta, auggie, vibe, openhands];
/** Earlier versions, which no check runs on their own. */
export const earlierClients = [
  earlier(codex, '0.169.0'),
  earlier(gemini, '0.60.0'),
  // The option against telemetry is newer.
  earlier(copilot, '1.0.92', { headless: (flags, prompt) => [...flags, '-p', prompt] }),
  earlier(opencode, '1.18.32'),
  earlier(qwen, '0.24.3'),
  earlier(droid, '0.215.0'),
  earlier(grok, '1.0.5'),
  earlier(cline, '3.0.64'),
  earlier(pi, '1.5.2'),
  earlier(kimi, '2.0.2'),
  earlier(kilo, '7.7.7'),
  earlier(goose, '1.50.0'),
  earlier(letta, '0.32.17'),
  earlier(auggie, '0.25.2'),
  earlier(vibe, '3.0.2'),
  // The other packages of the list are those of both versions.
  earlier(openhands, '1.15.1', { packages: ['openhands@1.15.1', 'openhands-sdk@1.19.1', 'openhands-tools@1.19.1'] }),
];
