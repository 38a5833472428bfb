// Measures the time of a tool call with the hook, over HTTP where the client can, with an empty hook and without one,
// for `--time`.

import { http, scenario } from './checks.mjs';

const CALLS = 10;
/** Sessions with each hook. */
const SESSIONS = 5;

/** Ten reads, one after another. */
const CHECK = {
  name: 'time',
  script: (tools) => Array.from({ length: CALLS }, (_, i) => tools.shell(`head -n ${i + 1} a.txt`)),
  seconds: 180,
};

const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;
const ratio = (one, other) => Math.round((one / other) * 100) / 100;

/** The guard, the guard over HTTP, a hook that only reads its input, and no hook: the client takes time for every hook. */
const HOOKS = ['plain', 'http', 'empty', 'none'];

/**
 * Runs sessions with ten calls: with the hook as `install` registers it, with an empty program as the hook, and without
 * one, in turns. Compares the fastest of each.
 *
 * `run` runs a scenario and returns its outcome. Returns `{ why }` if a session did not make all calls, else the ratio
 * `beside` of the time from the first request to the last result with the hook to that with the empty one, and a `text`
 * with the times.
 */
export async function compareTimes(client, run) {
  const hooks = HOOKS.filter((hook) => hook !== 'http' || http.clients.includes(client.id));
  const fastest = Object.fromEntries(hooks.map((hook) => [hook, { calls: Infinity, session: Infinity }]));
  for (let i = 0; i < SESSIONS; i += 1) {
    for (const at of hooks.keys()) {
      const hook = hooks[(i + at) % hooks.length];
      const scene =
        hook === 'http'
          ? scenario({ ...http, ...CHECK, service: 'nothing' }, client, 'plain')
          : scenario(CHECK, client, hook);
      const outcome = await run(`${client.id}-time-${hook}-${i}`, scene);
      const { times, told } = outcome?.model ?? { times: [], told: [] };
      const wrong = told.findIndex((text) => !/first/.test(text));
      if (told.length !== CALLS || wrong >= 0) return { why: `call ${told.length} of ${CALLS}: ${told[wrong]}` };
      fastest[hook].calls = Math.min(fastest[hook].calls, times[CALLS] - times[0]);
      fastest[hook].session = Math.min(fastest[hook].session, outcome.elapsed);
    }
  }
  const { plain, empty, none, http: service } = fastest;
  const beside = ratio(plain.calls, empty.calls);
  const text = [
    `ten calls take ${beside} times as long with the hook as with an empty one (${seconds(plain.calls)},`,
    `${seconds(empty.calls)}), and ${ratio(plain.calls, none.calls)} times as long as without (${seconds(none.calls)});`,
    ...(service
      ? [`over HTTP ${ratio(service.calls, none.calls)} times as long as without (${seconds(service.calls)});`]
      : []),
    `the session ${ratio(plain.session, none.session)} times (${seconds(plain.session)}, ${seconds(none.session)})`,
  ].join(' ');
  return { beside, text };
}
