// Keeps the results of the checks, and writes them as a table to the book.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { checks } from './checks.mjs';
import { clients } from './clients.mjs';

const RESULTS = fileURLToPath(new URL('results.json', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/agents.md', import.meta.url));
const BEGIN = '<!-- The table is written by `contrib/agents-lab/lab.mjs --table`. -->';
const BEGIN_PLACES = '<!-- The table of modes and places is written by `contrib/agents-lab/lab.mjs --table`. -->';
const END = '<!-- End of the table. -->';

/** Returns the version that a client's first package is pinned to. */
const version = (client) => client.packages[0].split('@').at(-1);

/**
 * Replaces the results of the checks that ran. Results of checks, clients and versions that no longer
 * exist are dropped.
 */
export function record(fresh) {
  const before = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
  const results = [];
  for (const client of clients) {
    for (const check of checks.filter(({ clients: ids }) => ids.includes(client.id))) {
      for (const { says } of check.expect.filter(({ except }) => !except?.includes(client.id))) {
        const same = (one) => one.client === client.id && one.check === check.name && one.says === says;
        const current = (one) => same(one) && one.version === version(client);
        const found = fresh.find(same) ?? before.find(current);
        if (!found) continue;
        const { result } = found;
        results.push({ agent: client.agent, client: client.id, version: version(client), check: check.name, says, result });
      }
    }
  }
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 1)}\n`);
}

// The columns of the table: a header, and the checks whose results a cell sums up.
const COLUMNS = [
  ['Deletion, not approved', ['commands'], 'a delete does not run'],
  ['Operator approves', ['approved']],
  ['Operator denies', ['denied'], 'the operator denies: it does not run'],
  ['No answer', ['no-answer']],
  ['Hook fails', ['exit-1', 'exit-101', 'killed', 'missing', 'cut-short', 'output-full']],
  ['Hook is late', ['late']],
  ['Invalid output', ['garbage']],
];

/** Returns the text of a cell: the weakest result counts. */
function cell(results, names, says) {
  const found = results.filter((one) => names.includes(one.check) && (!says || one.says === says));
  const words = found.map(({ result }) => result);
  if (words.length === 0) return 'not tested';
  if (words.includes('BAD')) return '**wrong**';
  if (words.includes('open')) return '**runs**';
  return names.includes('approved') ? 'runs' : 'denied';
}

// The rows of the table of modes and places: a title, the checks whose results a cell sums up, and the cell if all of
// them hold.
const PLACES = [
  ['Plan mode', ['plan', 'mode-plan']],
  ['Resumed session', ['resume']],
  ['Sub-agent', ['sub-agent']],
  ['Worktree that the user made', ['worktree']],
  ['Worktree that the client made', ['own-worktree']],
  ['Parallel calls', ['parallel', 'parallel-delete']],
  ['Command of 100 KB', ['long-command']],
  ['Long session', ['many-calls']],
  ['Inside of a script of the model', ['javascript', 'javascript-parallel', 'javascript-patch', 'script-of-tools']],
  ['`!command` that the user types', ['typed-by-the-user']],
  ['Command in a slash command', ['slash-command']],
  ['Command in a skill that the model uses', ['skill']],
  ['Recipe', ['recipe', 'recipe-slash', 'recipe-below']],
  ['Command that a recipe runs itself', ['recipe-command']],
  ['Plugin whose hook allows everything', ['plugin-hook']],
  ['Settings edited after `install`', ['settings-edited']],
  ['Client updated after `install`', ['update']],
];

/** Returns the text of a cell of the table of modes and places: the weakest result counts. */
function placeCell(results, names) {
  const found = results.filter((one) => names.includes(one.check));
  if (found.length === 0) return '–';
  const words = found.map(({ result }) => result);
  if (words.includes('BAD')) return '**wrong**';
  if (words.includes('open')) return '**runs**';
  return found.some(({ says }) => says.includes('the client itself refuses')) ? 'by the client' : 'denied';
}

const row = (cells) => `| ${cells.join(' | ')} |`;
const tableOf = (header, rows) => [row(header), `|${'---|'.repeat(header.length)}`, ...rows.map(row)].join('\n');

/** Replaces the table that follows a line of the page. */
function replaced(page, begin, table) {
  const [before, rest] = page.split(`${begin}\n`);
  const end = rest?.indexOf(END) ?? -1;
  if (end < 0) throw new Error(`${PAGE} has no place for the table after ${begin}`);
  return `${before}${begin}\n\n${table}\n\n${rest.slice(end)}`;
}

/** Writes the tables to the page of the book. */
export function writeTable() {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const ownOf = (client) => results.filter((one) => one.client === client.id);
  const rows = clients.map((client) =>
    [client.title, version(client), ...COLUMNS.map(([, names, says]) => cell(ownOf(client), names, says))]);
  const failures = tableOf(['Agent', 'Version', ...COLUMNS.map(([title]) => title)], rows);
  const newest = clients.filter(({ agent }, i) => clients.findIndex((one) => one.agent === agent) === i);
  const places = tableOf(
    ['Mode or place', ...newest.map(({ title }) => title)],
    PLACES.map(([title, names]) => [title, ...newest.map((client) => placeCell(ownOf(client), names))]),
  );
  const page = replaced(readFileSync(PAGE, 'utf8'), BEGIN, failures);
  writeFileSync(PAGE, replaced(page, BEGIN_PLACES, places));
}
