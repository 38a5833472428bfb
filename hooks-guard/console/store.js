// Settings of this browser: flags in its local storage, which hold no secrets.

const changes = new EventTarget();
const key = (name) => `hooks-guard ${name}`;

/** Returns a flag; false if the browser stores nothing. */
export function flag(name) {
  try {
    return localStorage.getItem(key(name)) === "1";
  } catch {
    return false;
  }
}

/** Sets a flag, in all windows. */
export function setFlag(name, on) {
  try {
    if (on) localStorage.setItem(key(name), "1");
    else localStorage.removeItem(key(name));
  } catch {
    // Without storage, the default remains.
  }
  changes.dispatchEvent(new Event("change"));
}

/** Calls `listener` when a flag has changed, here or in another window. */
export function onFlags(listener) {
  changes.addEventListener("change", listener);
  addEventListener("storage", listener);
}
