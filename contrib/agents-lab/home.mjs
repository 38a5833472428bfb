// The home of a scenario inside the sandbox: what inside.mjs and editor.mjs have in common.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { HOME, node, PROJECT } from './clients.mjs';

export const GUARD = join(HOME, 'guard/hooks-guard');
export const scenario = JSON.parse(readFileSync(join(HOME, 'scenario.json'), 'utf8'));

export function put(path, text, mode = 0o644) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/** Writes files in the home, by path. */
export function putFiles(files) {
  for (const [path, text] of Object.entries(files)) put(join(HOME, path), text, text.startsWith('#!') ? 0o755 : 0o644);
}

export function run(program, args, options) {
  const { stdout, stderr, status } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000, maxBuffer: 100_000_000, ...options });
  return { text: `${stdout ?? ''}${stderr ?? ''}`, status };
}

/** Returns the environment of a client, with a folder for its temporary files. */
export function environment(client) {
  const env = { ...process.env, TMPDIR: join(HOME, 'tmp'), ...client.env, ...scenario.env };
  mkdirSync(env.TMPDIR, { recursive: true });
  return env;
}

/** Makes a repository with a changed file, and a folder to delete. */
export function makeProject(env) {
  put(join(PROJECT, 'a.txt'), 'first\n');
  put(join(PROJECT, 'build/out.o'), 'built\n');
  put(join(HOME, '.gitconfig'), '[user]\nname = dev\nemail = dev@example.org\n');
  for (const args of [['init', '-q'], ['add', 'a.txt'], ['commit', '-qm', 'first']]) {
    run('git', args, { cwd: PROJECT, env });
  }
  put(join(PROJECT, 'a.txt'), 'first\nchanged\n');
}

/** Returns the command line of a client's program. */
export function programOf(client) {
  const program = (owner) => join('/mnt/clients', owner.id, owner.program.at(-1));
  return client.program.length > 1 ? [program(node), program(client)] : [program(client)];
}

/** Prints the outcome with the state of the project, keeps it in the home, and ends the program. */
export function finish(outcome) {
  outcome.buildStays = existsSync(join(PROJECT, 'build/out.o'));
  outcome.written = existsSync(join(PROJECT, 'new.txt'));
  outcome.noted = existsSync(join(HOME, 'notes.txt'));
  outcome.exists = (scenario.look ?? []).filter((path) => existsSync(join(HOME, path)));
  const text = JSON.stringify(outcome, null, 1);
  writeFileSync(join(HOME, 'outcome.json'), text);
  process.stdout.write(text, () => process.exit());
}
