// Installs the pinned clients from the npm registry or from PyPI, each into a separate folder.

import { spawnSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** Statuses of npm for a registry that refuses, or cannot be reached. */
const REFUSED = /\b(E40[134]|E429|E5\d\d|ETARGET|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)\b/;

/** Package that takes the place of those in `overrides`. */
const PLACEHOLDER = 'isexe@2.0.0';

/**
 * Installs a client unless its pinned packages are there. Runs no lifecycle script.
 *
 * Returns `{}` for an installed client, else `{ why, refused }`; `refused` is true if the registry is
 * the reason.
 */
export function install(client, folder) {
  const place = join(folder, client.id);
  const pinned = join(place, 'pinned');
  const pins = client.packages.join('\n');
  if (existsSync(pinned) && readFileSync(pinned, 'utf8') === pins) return {};
  const fresh = `${place}.new`;
  for (const old of [place, fresh]) rmSync(old, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const failed = client.python ? installPython(client, fresh) : installNpm(client, fresh);
  if (failed) return failed;
  const program = join(fresh, client.program.at(-1));
  if (client.unpacks) {
    const packed = join(fresh, client.unpacks);
    writeFileSync(program, brotliDecompressSync(readFileSync(packed)), { mode: 0o755 });
    rmSync(packed);
  }
  if (!existsSync(program)) return { why: `${client.packages} has no ${client.program.at(-1)}`, refused: false };
  writeFileSync(join(fresh, 'pinned'), pins);
  renameSync(fresh, place);
  return {};
}

/** Installs packages of npm; returns why it failed, if it did. */
function installNpm(client, fresh) {
  // An override with a package that is installed anyway installs nothing more.
  const overrides = Object.fromEntries((client.overrides ?? []).map((name) => [name, `npm:${PLACEHOLDER}`]));
  writeFileSync(join(fresh, 'package.json'), JSON.stringify({ private: true, overrides }));
  // `--force`: some packages require a newer Node than the one that runs npm.
  const options = ['--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--force', '--loglevel=error'];
  const npm = spawnSync('npm', ['install', ...options, ...client.packages], {
    cwd: fresh,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (npm.error || npm.status !== 0) {
    const said = `${npm.error ?? ''}${npm.stderr ?? ''}`.trim();
    return { why: said.split('\n').slice(0, 3).join('; ') || `npm: ${npm.signal}`, refused: REFUSED.test(said) };
  }
  return undefined;
}

/** Messages of pip for a registry that refuses, or cannot be reached. */
const UNREACHED = /\b(HTTP error (40[134]|429|5\d\d)|Connection|Max retries|Name or service|No matching distribution)/i;

/**
 * Returns the oldest Python that can run a client: its program, its version and its folder. The versions of
 * pyenv are searched, too.
 */
export function findPython({ from, to }) {
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions');
  const versions = existsSync(pyenv) ? readdirSync(pyenv).map((name) => join(pyenv, name, 'bin')) : [];
  for (let minor = from; minor <= to; minor += 1) {
    for (const folder of [...process.env.PATH.split(':'), ...versions]) {
      const program = join(folder, `python3.${minor}`);
      if (!existsSync(program)) continue;
      const shown = spawnSync(program, ['-c', 'import sys; print(sys.version_info[1], sys.base_prefix)'], { encoding: 'utf8' });
      const [found, prefix] = shown.stdout?.trim().split(' ') ?? [];
      if (shown.status === 0 && Number(found) === minor) return { program: realpathSync(program), minor, prefix };
    }
  }
  return undefined;
}

/** Returns a list of requirements in which pinned versions replace those of the same packages. */
function withPins(list, pins) {
  const nameOf = (pin) => pin.split('==')[0];
  return list.split('\n').map((line) => pins.find((pin) => nameOf(pin) === nameOf(line)) ?? line).join('\n');
}

/** Installs packages of PyPI, and a copy of Python if the sandbox hides it; returns why it failed, if it did. */
function installPython(client, fresh) {
  const { from, to, list, replaces, builds = [] } = client.python;
  const python = findPython(client.python);
  if (!python) return { why: `Python 3.${from} to 3.${to} is missing`, refused: false };
  const site = join(fresh, 'site');
  const pins = client.packages.map((name) => name.replace('@', '=='));
  const options = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore'];
  options.push('--only-binary', ':all:', ...builds.flatMap((name) => ['--no-binary', name]), '--target', site);
  const pip = (...args) => spawnSync(python.program, [...options, ...args], { encoding: 'utf8', timeout: 1_800_000 });
  if (list) writeFileSync(join(fresh, 'list.txt'), withPins(readFileSync(join(import.meta.dirname, list), 'utf8'), pins));
  let run = pip('--no-deps', ...(list ? ['--requirement', join(fresh, 'list.txt')] : pins));
  if (run.status === 0 && replaces) {
    const [name] = client.packages[0].split('@');
    const listed = 'import importlib.metadata as m, sys; print("\\n".join(next(m.distributions(path=[sys.argv[1]], name=sys.argv[2])).requires))';
    const required = spawnSync(python.program, ['-c', listed, site, name], { encoding: 'utf8' }).stdout.trim().split('\n');
    const kept = required.filter((line) => !line.includes('extra ==')).map((line) => replaces[line] ?? line);
    writeFileSync(join(fresh, 'requirements.txt'), kept.join('\n'));
    run = pip('--no-deps', '--requirement', join(fresh, 'requirements.txt'));
  }
  if (run.error || run.status !== 0) {
    const said = `${run.error ?? ''}${run.stderr ?? ''}`.trim();
    return { why: said.split('\n').slice(-3).join('; ') || `pip: ${run.signal}`, refused: UNREACHED.test(said) };
  }
  let program = python.program;
  if (!program.startsWith('/usr/')) {
    const there = `/mnt/clients/${client.id}/python`;
    copyPython(python, join(fresh, 'python'), there);
    program = `${there}/bin/${basename(program)}`;
  }
  const bin = join(site, 'bin');
  for (const name of readdirSync(bin)) {
    const script = join(bin, name);
    if (!statSync(script).isFile()) continue;
    const text = readFileSync(script, 'latin1');
    if (text.startsWith('#!')) writeFileSync(script, text.replace(/^.*/, `#!${program}`), 'latin1');
  }
  return undefined;
}

/** Copies a Python without its tests and packages; `there` is the folder in the sandbox. */
function copyPython({ program, minor, prefix }, folder, there) {
  const left = /\/(test|tests|idlelib|site-packages|config-3[^/]*|__pycache__)$/;
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const lib = `lib/python3.${minor}`;
  cpSync(join(prefix, lib), join(folder, lib), { recursive: true, filter: (path) => !left.test(path) });
  const shared = readdirSync(join(prefix, 'lib')).filter((name) => /^libpython3.*\.so\.\d/.test(name));
  for (const name of shared) cpSync(join(prefix, 'lib', name), join(folder, 'lib', name), { dereference: true });
  const copy = join(folder, 'bin', basename(program));
  cpSync(program, shared.length > 0 ? `${copy}.bin` : copy);
  // The program names the folder of its library.
  const script = `#!/bin/sh\nexport LD_LIBRARY_PATH=${there}/lib\nexec ${there}/bin/${basename(program)}.bin "$@"\n`;
  if (shared.length > 0) writeFileSync(copy, script, { mode: 0o755 });
}
