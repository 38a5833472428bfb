#!/usr/bin/env node
// Writes the list of each client's own tools, which the table of the guard is tested against.
//
//     contrib/agents-lab/tools.mjs [CLIENT…] [--check]
//
// A list has two sources: the published package, and the tools that the client offers to its model. The
// package also has tools that the client offers only with some accounts, models, settings or modes. A
// client whose program is compressed or compiled to machine code has only the second source; its list
// has the tools of the scenarios of this file.
//
// `--check` compares the lists and writes nothing; its status is 1 if they differ.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clients } from './clients.mjs';
import { install } from './install.mjs';

const LAB = dirname(fileURLToPath(import.meta.url));
const LISTS = join(LAB, '../../hooks-guard/tests/protocol/client_tools.json');
const cache = process.env.HOOKS_AGENTS_LAB ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hooks-agents-lab');

/** Returns the texts of all groups of a pattern. */
const found = (text, pattern) => [...text.matchAll(pattern)].map((match) => match[1]);

/** Returns the text of a program from a word on, with `before` bytes in front of it. */
function textFrom(file, word, before) {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(word);
  if (at < 0) throw new Error(`${file} has no ${word}`);
  return bytes.subarray(Math.max(0, at - before)).toString('latin1');
}

/** Returns the text of all scripts of a folder. */
function scripts(folder) {
  const names = readdirSync(folder, { recursive: true });
  const files = names.map((name) => join(folder, name)).filter((file) => file.endsWith('.js') && statSync(file).isFile());
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

/** The tools in a package, by the id of the client. */
const IN_PACKAGE = {
  // Each tool is an object with an id of its own. Its name is a variable, which short functions reuse: the
  // value is the last one before the tool that has the form of a name. The name of `Monitor` is a module.
  claude(file) {
    const text = textFrom(file, 'registryToolId:"', 60_000_000);
    const isName = (value) => /^([A-Z][a-z][A-Za-z]+|[A-Z]{3,4}|[a-z]+_[a-z_]+)$/.test(value) && !/^(tengu|bot|data)_/.test(value);
    const tools = [...text.matchAll(/registryToolId:"[0-9a-f-]{36}",/g)].flatMap(({ index }) => {
      const variable = /[,{]name:([\w$]{2,})[,}]/.exec(text.slice(index, index + 1_000))?.[1];
      if (!variable) return [];
      const value = new RegExp(`[,; ({]${variable.replaceAll('$', '\\$')}="([A-Za-z_]{2,40})"`, 'g');
      const values = found(text.slice(0, index), value).filter(isName);
      const title = values.filter((name) => /^[A-Z]/.test(name));
      return (title.length > 0 ? title : values).slice(-1);
    });
    return [...tools, ...found(text, /\nvar [\w$]+="(Monitor)";\nexport\{/g)];
  },
  gemini: (_, folder) =>
    found(scripts(join(folder, '@google/gemini-cli/bundle')), /(?:\b[A-Z_]+_TOOL_NAME|static Name) ?= ?"([a-z_]+)"/g),
  qwen: (_, folder) => {
    const table = /var ToolNames = \{[^}]*\}/.exec(scripts(join(folder, '@qwen-code/qwen-code/chunks')))[0];
    return found(table, /: "([a-z_]+)"/g);
  },
  opencode(file) {
    const text = textFrom(file, '("webfetch",', 400_000).slice(0, 800_000);
    return found(text, /[=,]\w+\("([a-z_]{3,30})",\w+\.(?:gen|succeed)\(/g).filter((name) => name !== 'invalid');
  },
  // The names stand before the code of each tool, for two of the functions that make one.
  kilo: (file) => {
    const text = textFrom(file, 'file:"kilocode/tool/background-process.ts"', 3_000_000).slice(0, 12_000_000);
    const named = /(?<![\w$])[\w$]+(?:\.define)?\("([a-z]+(?:_[a-z]+)*)",[\w$]+\.(?:gen|succeed)\(/g;
    return found(text, named).filter((name) => name !== 'invalid');
  },
  droid(file) {
    const text = textFrom(file, '{["LS"]:"LS"', 20_000_000);
    const table = /\{\["LS"\]:"LS",[^}]*\}/.exec(text)[0];
    return [...found(table, /\["([A-Za-z]+)"\]:/g), ...found(text, /llmId:"([A-Za-z_]+)"/g)];
  },
  letta(file) {
    // Keys of the table, with the function of each tool.
    const text = readFileSync(file, 'utf8');
    const table = text.slice(text.indexOf('  toolDefinitions = {'), text.indexOf('  TOOL_DEFINITIONS = toolDefinitions;'));
    const memory = /ROOT_MEMORY_TOOL_ASSETS = \{[^]*?\n  \};/.exec(text)?.[0] ?? '';
    return [...found(table, /^    ([A-Za-z_]+): defineTool\(/gm), ...found(memory, /^    ([a-z_]+): \{/gm)];
  },
  cline(file) {
    const text = textFrom(file, '{READ_FILES:"', 5_000_000);
    const table = /\{READ_FILES:"[^}]*\}/.exec(text)[0];
    return [...found(table, /:"([a-z_]+)"/g), ...found(text, /name:"([a-z]+_[a-z_]+)",description:/g)];
  },
  // The names in the hook's input; the retired ones are not offered.
  vibe(_, __, site) {
    const harness = join(site, 'mistralai_vibe_local_harness/vibe');
    const table = readFileSync(join(harness, '_hook_matcher.py'), 'utf8');
    const own = pythons(join(site, 'vibe/app_server'));
    return [
      ...found(table, /^ {4}"([a-z_]+\.[a-z_]+)": \(/gm).filter((name) => !name.startsWith('subagent.')),
      ...found(own, /^(?!MANUAL)[A-Z_]+TOOL_NAME = "([a-z_]+)"/gm).map((name) => `vibe.${name}`),
      ...found(pythons(harness), /\("ui", "([a-z_]+)"\)/g).map((name) => `ui.${name}`),
    ];
  },
  pi(_, folder) {
    const dist = join(folder, '@earendil-works/pi-coding-agent/dist');
    const set = /allToolNames = new Set\(\[[^\]]*\]/.exec(readFileSync(join(dist, 'core/tools/index.js'), 'utf8'))[0];
    const more = scripts(join(dist, 'extensions')) + readFileSync(join(dist, 'core/mcp-servers.js'), 'utf8');
    return [...found(set, /"([a-z]+)"/g), ...found(more, /^export const [A-Z_]+_TOOL(?:_NAME)? = "([a-z_]+)"/gm)];
  },
  // Each tool is a class; the names of some are constants.
  kimi(file) {
    const text = readFileSync(file, 'utf8');
    const constants = new Map([...text.matchAll(/^\t([A-Z_]+_TOOL_NAME(?:\$\d)?) = "([A-Za-z_]+)";/gm)].map(([, name, value]) => [name, value]));
    const classes = text.split(/= class (?=\w+Tool \{)/).slice(1).map((text) => text.slice(0, text.indexOf('\n\t};')));
    const tools = classes.filter((text) => text.includes('resolveExecution('));
    return tools.map((text) => {
      const [, literal, constant] = /\n\t\tname = (?:"(\w+)"|([\w$]+));/.exec(text);
      return literal ?? constants.get(constant);
    });
  },
  // The classes of the tools, those that find and call tools of servers, those with which a sub-agent ends,
  // those that start a sub-agent, and the labels, which the tools of the service have, too.
  auggie(file) {
    const text = readFileSync(file, 'utf8');
    const at = text.indexOf('label:"Save File"');
    const agents = found(text, /\{name:"([a-z-]+)",description:"[^"]{10,900}",(?:model:"[^"]*",)?color:"/g);
    return [
      ...found(text, /super\("([a-z]+(?:[-_][a-z]+)*)",[012]\)/g),
      ...found(text, /[ ,][\w$]+="((?:find|execute)-tool|finish-subagent-[a-z-]+)"/g),
      ...found(text, /return"((?:async-)?sub-?agent(?:-webview)?)"\}/g),
      ...agents.map((name) => `sub-agent-${name}`),
      ...found(text.slice(at - 3_000, at + 6_000), /case"([a-z][a-z_-]+)":(?:return\{label|\{)/g),
    ];
  },
  openhands(_, __, site) {
    const text = ['tools', 'sdk/tool/builtins'].map((folder) => pythons(join(site, 'openhands', folder))).join('\n');
    const classes = found(text, /^class (\w+)Tool\(/gm);
    return classes.map((name) => name.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase());
  },
};

/** Returns the text of all programs in Python of a folder. */
function pythons(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith('.py'));
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
}

/** Runs a scenario of the lab; returns the tools that the client offers to its model, and its version. */
function offered(client, flags) {
  const args = [join(LAB, 'lab.mjs'), '--offered', client.id, ...(flags ?? [])];
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 600_000 });
  if (run.status !== 0) throw new Error(`${client.id}: ${run.stdout}${run.stderr}`);
  return JSON.parse(run.stdout);
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const lists = existsSync(LISTS) ? JSON.parse(readFileSync(LISTS, 'utf8')) : {};
const folder = join(cache, 'clients');
mkdirSync(folder, { recursive: true });
let differs = false;
for (const client of clients) {
  const isOlder = client.id !== client.command;
  if (isOlder || (wanted.length > 0 && !wanted.includes(client.id))) continue;
  const { why } = install(client, folder);
  if (why) {
    console.error(`SKIP ${client.id}: ${why}`);
    continue;
  }
  const modules = join(folder, client.id, 'node_modules');
  const program = join(folder, client.id, client.program.at(-1));
  const published = IN_PACKAGE[client.id]?.(program, modules, join(folder, client.id, 'site')) ?? [];
  const shown = offered(client, ['--slow', '3']).filter((name) => !/note/.test(name));
  const list = {
    version: client.packages[0].split('@').at(-1),
    source: published.length > 0 ? 'package and requests' : 'requests',
    tools: [...new Set([...published, ...shown])].sort(),
  };
  differs ||= JSON.stringify(lists[client.agent]) !== JSON.stringify(list);
  const missing = shown.filter((name) => published.length > 0 && !published.includes(name));
  console.log(`${client.agent} ${list.version}: ${list.tools.length} tools; ${missing.length} only in requests ${missing.join(' ')}`);
  lists[client.agent] = list;
}
if (process.argv.includes('--check')) process.exit(differs ? 1 : 0);
const sorted = Object.fromEntries(Object.entries(lists).sort(([one], [other]) => (one < other ? -1 : 1)));
writeFileSync(LISTS, `${JSON.stringify(sorted, null, 1)}\n`);
