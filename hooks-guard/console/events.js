// The event stream. After a lost connection it reconnects, and receives the missed events or a notice
// to read everything again.

import { onSession, operator } from "./api.js";

const KINDS = ["asked", "answered", "executed", "remembered", "forgotten", "cleaned", "answering", "withdrawn", "changes"];
const AGAIN = [500, 1000, 2000, 5000];

/**
 * Listens until the page is closed. Calls `on.event(kind, data)` for each event, `on.anew()` when
 * everything has to be read again, `on.resumed()` after a reconnect without missed events, and
 * `on.state(name)` with `live` or `away`.
 */
export function listen(on) {
  let last = null;
  let tries = 0;
  let source = null;
  let used = null;
  const open = () => {
    const query = new URLSearchParams();
    if (last !== null) query.set("after", last);
    // The service reserves a stream for the operator, and an EventSource cannot send headers.
    const csrf = operator();
    if (csrf) query.set("csrf", csrf);
    used = csrf;
    const stream = new EventSource(`/api/hooks/events${query.size > 0 ? `?${query}` : ""}`);
    source = stream;
    const seen = (event) => {
      if (event.lastEventId) last = event.lastEventId;
    };
    stream.addEventListener("hello", (event) => {
      seen(event);
      tries = 0;
      on.state("live");
      if (JSON.parse(event.data).resumed) on.resumed();
      else on.anew();
    });
    stream.addEventListener("missed", () => on.anew());
    for (const kind of KINDS) {
      stream.addEventListener(kind, (event) => {
        seen(event);
        on.event(kind, JSON.parse(event.data));
      });
    }
    stream.addEventListener("error", () => {
      stream.close();
      on.state("away");
      setTimeout(open, AGAIN[Math.min(tries, AGAIN.length - 1)]);
      tries += 1;
    });
  };
  open();
  // Only the operator's stream has the events of delayed answers.
  onSession(() => {
    if (source.readyState === EventSource.CLOSED || operator() === used) return;
    source.close();
    open();
  });
}
