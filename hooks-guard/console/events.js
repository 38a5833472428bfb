// The event stream. After a lost connection it reconnects, and receives the missed events or a notice
// to read everything again.

import { onSession, operator } from "./api.js";

const KINDS = ["asked", "answered", "executed", "remembered", "forgotten", "cleaned", "answering", "withdrawn", "changes"];
const AGAIN = [500, 1000, 2000, 5000];
/** Maximum time without an event, in milliseconds. The service sends one every 15 seconds. */
const SILENCE = 40_000;
/** Maximum time until the first event of a stream, in milliseconds. */
const OPENING = 15_000;

/**
 * Listens until the page is closed. Calls `on.event(kind, data)` for each event, `on.anew()` when
 * everything has to be read again, `on.resumed()` after a reconnect without missed events, and
 * `on.state(name, reason)` with
 *
 * - `live`;
 * - `away`: the service cannot be reached;
 * - `refused`: the service sends no events to this page, for `reason`.
 *
 * Returns a function that reconnects at once if there is no connection.
 */
export function listen(on) {
  let last = null;
  let tries = 0;
  let live = false;
  let heard = 0;
  let source = null;
  let waiting = null;
  /** Secret of the session that the current stream uses. */
  let used = null;

  function open() {
    waiting = null;
    const query = new URLSearchParams();
    if (last !== null) query.set("after", last);
    // The service reserves a stream for the operator, and an EventSource cannot send headers.
    const csrf = operator();
    used = csrf;
    if (csrf) query.set("csrf", csrf);
    const path = `/api/hooks/events${query.size > 0 ? `?${query}` : ""}`;
    const stream = new EventSource(path);
    source = stream;
    live = false;
    heard = Date.now();
    const seen = (event) => {
      heard = Date.now();
      if (event.lastEventId) last = event.lastEventId;
    };
    stream.addEventListener("hello", (event) => {
      seen(event);
      tries = 0;
      live = true;
      on.state("live");
      if (JSON.parse(event.data).resumed) on.resumed();
      else on.anew();
    });
    stream.addEventListener("alive", seen);
    stream.addEventListener("missed", (event) => {
      seen(event);
      on.anew();
    });
    for (const kind of KINDS) {
      stream.addEventListener(kind, (event) => {
        seen(event);
        on.event(kind, JSON.parse(event.data));
      });
    }
    stream.addEventListener("error", async () => {
      stream.close();
      // An EventSource does not report the status of the response.
      const reason = live ? null : await refusal(path);
      if (source === stream) lost(reason);
    });
  }

  function lost(reason) {
    source.close();
    source = null;
    live = false;
    on.state(reason ? "refused" : "away", reason);
    waiting = setTimeout(open, AGAIN[Math.min(tries, AGAIN.length - 1)]);
    tries += 1;
  }

  // A suspended service or machine closes no connection.
  function check() {
    if (source && Date.now() - heard > (live ? SILENCE : OPENING)) lost(null);
  }

  open();
  setInterval(check, 5000);
  // Only the operator's stream has the events of delayed answers.
  onSession(() => {
    if (source === null || operator() === used) return;
    source.close();
    open();
  });
  return () => {
    if (waiting === null) return;
    clearTimeout(waiting);
    open();
  };
}

/** Returns the reason for which the service refuses an event stream; null if it does not respond. */
async function refusal(path) {
  const stop = new AbortController();
  const late = setTimeout(() => stop.abort(), 5000);
  try {
    const answer = await fetch(path, { cache: "no-store", credentials: "same-origin", signal: stop.signal });
    if (answer.ok) return null;
    const { error } = await answer.json();
    return error ?? `HTTP status ${answer.status}`;
  } catch {
    return null;
  } finally {
    clearTimeout(late);
    // Closes the stream if there was a free one.
    stop.abort();
  }
}
