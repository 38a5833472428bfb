// Measures the time of a tool call with and without the hook, for `--time`.

import { scenario } from './checks.mjs';

const CALLS = 10;
/** Sessions with the hook, and as many without it. */
const SESSIONS = 5;

/** Ten reads, one after another. */
const CHECK = {
  name: 'time',
  script: (tools) => Array.from({ length: CALLS }, (_, i) => tools.shell(`head -n ${i + 1} a.txt`)),
  seconds: 180,
};

const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;
const ratio = (one, other) => Math.round((one / other) * 100) / 100;

/**
 * Runs sessions with ten calls, alternately with the hook as `install` registers it and without it, and compares the
 * fastest of each.
 *
 * `run` runs a scenario and returns its outcome. Returns `{ why }` if a session did not make all calls, else the ratio
 * `calls` of the time from the first request to the last result, the ratio `session` of the whole run of the client,
 * and a `text` with the times.
 */
export async function compareTimes(client, run) {
  const fastest = { plain: { calls: Infinity, session: Infinity }, none: { calls: Infinity, session: Infinity } };
  for (let i = 0; i < SESSIONS; i += 1) {
    for (const guard of i % 2 === 0 ? ['plain', 'none'] : ['none', 'plain']) {
      const outcome = await run(`${client.id}-time-${guard}-${i}`, scenario(CHECK, client, guard));
      const { times, told } = outcome?.model ?? { times: [], told: [] };
      const wrong = told.findIndex((text) => !/first/.test(text));
      if (told.length !== CALLS || wrong >= 0) return { why: `call ${told.length} of ${CALLS}: ${told[wrong]}` };
      fastest[guard].calls = Math.min(fastest[guard].calls, times[CALLS] - times[0]);
      fastest[guard].session = Math.min(fastest[guard].session, outcome.elapsed);
    }
  }
  const { plain, none } = fastest;
  const calls = ratio(plain.calls, none.calls);
  const session = ratio(plain.session, none.session);
  const text = [
    `ten calls take ${calls} times as long with the hook (${seconds(plain.calls)}, without ${seconds(none.calls)}),`,
    `the session ${session} times (${seconds(plain.session)}, without ${seconds(none.session)})`,
  ].join(' ');
  return { calls, session, text };
}
