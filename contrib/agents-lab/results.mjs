// Keeps the results of the checks, and writes them as a table to the book.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { checks } from './checks.mjs';
import { clients } from './clients.mjs';

const RESULTS = fileURLToPath(new URL('results.json', import.meta.url));
const PAGE = fileURLToPath(new URL('../../docs/agents.md', import.meta.url));
const BEGIN = '<!-- The table is written by `contrib/agents-lab/lab.mjs --table`. -->';
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
      for (const { says } of check.expect) {
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

/** Writes the table to the page of the book. */
export function writeTable() {
  const results = JSON.parse(readFileSync(RESULTS, 'utf8'));
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const rows = clients.map((client) => {
    const own = results.filter((one) => one.client === client.id);
    return row([client.title, version(client), ...COLUMNS.map(([, names, says]) => cell(own, names, says))]);
  });
  const header = ['Agent', 'Version', ...COLUMNS.map(([title]) => title)];
  const table = [row(header), `|${'---|'.repeat(header.length)}`, ...rows].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(`${BEGIN}\n`);
  const after = rest?.split(END).at(1);
  if (after === undefined) throw new Error(`${PAGE} has no place for the table`);
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}
