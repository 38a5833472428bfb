// The event stream. After a lost connection it reconnects, and receives the missed events or a notice
// to read everything again.

import { operator } from "./api.js";

const KINDS = ["asked", "answered", "executed", "remembered", "forgotten", "cleaned", "changes"];
const AGAIN = [500, 1000, 2000, 5000];

/**
 * Listens until the page is closed. Calls `on.event(kind, data)` for each event, `on.anew()` when
 * everything has to be read again, `on.resumed()` after a reconnect without missed events, and
 * `on.state(name)` with `live` or `away`.
 */
export function listen(on) {
  let last = null;
  let tries = 0;
  const open = () => {
    const query = new URLSearchParams();
    if (last !== null) query.set("after", last);
    // The service reserves a stream for the operator, and an EventSource cannot send headers.
    const csrf = operator();
    if (csrf) query.set("csrf", csrf);
    const source = new EventSource(`/api/hooks/events${query.size > 0 ? `?${query}` : ""}`);
    const seen = (event) => {
      if (event.lastEventId) last = event.lastEventId;
    };
    source.addEventListener("hello", (event) => {
      seen(event);
      tries = 0;
      on.state("live");
      if (JSON.parse(event.data).resumed) on.resumed();
      else on.anew();
    });
    source.addEventListener("missed", () => on.anew());
    for (const kind of KINDS) {
      source.addEventListener(kind, (event) => {
        seen(event);
        on.event(kind, JSON.parse(event.data));
      });
    }
    source.addEventListener("error", () => {
      source.close();
      on.state("away");
      setTimeout(open, AGAIN[Math.min(tries, AGAIN.length - 1)]);
      tries += 1;
    });
  };
  open();
}
