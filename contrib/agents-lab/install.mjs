// Installs the pinned clients from the npm registry, each into a separate folder.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
