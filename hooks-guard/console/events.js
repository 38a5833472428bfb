// What happens, as it happens. A lost connection is made anew; what came meanwhile is told then,
// or everything is to be read again.

const KINDS = ["asked", "answered", "executed", "remembered", "forgotten", "cleaned"];
const AGAIN = [500, 1000, 2000, 5000];

/**
 * Listens until the page goes. `on.event(kind, data)` is called for what happens, `on.anew()` when
 * everything has to be read, `on.state(name)` with `live` or `away`.
 */
export function listen(on) {
  let last = null;
  let tries = 0;
  const open = () => {
    const source = new EventSource(last === null ? "/api/hooks/events" : `/api/hooks/events?after=${last}`);
    const seen = (event) => {
      if (event.lastEventId) last = event.lastEventId;
    };
    source.addEventListener("hello", (event) => {
      seen(event);
      tries = 0;
      on.state("live");
      if (!JSON.parse(event.data).resumed) on.anew();
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
