// What the service is asked, and who asks: the operator is known by a cookie that this page cannot
// read, and by a value that no other page has.

const KEY = "hooks-guard csrf";
const others = new BroadcastChannel("hooks-guard");
const listeners = new Set();
let signedIn = false;

/** An answer that is an error. */
export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `The service answers ${status}`);
    this.status = status;
    this.code = body.code ?? "";
    this.details = body.details;
  }
}

async function send(method, path, { body, headers = {} } = {}) {
  const init = { method, headers: { ...headers }, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(path, init);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

/** Reads something. */
export function get(path, query) {
  const text = query ? new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString() : "";
  // The service has places of its own for the operator among those who read.
  const csrf = operator();
  return send("GET", text ? `${path}?${text}` : path, { headers: csrf ? { "X-Guard-CSRF": csrf } : {} });
}

/** The value that tells the service that the operator reads; null where nobody is signed in. */
export function operator() {
  return sessionStorage.getItem(KEY);
}

/** Does something as the operator. */
export async function act(method, path, body) {
  const headers = { "X-Guard-CSRF": sessionStorage.getItem(KEY) ?? "" };
  try {
    return await send(method, path, { body, headers });
  } catch (error) {
    // Signed out elsewhere, or the service was started anew.
    if (error.status === 401 || error.code === "CSRF_REQUIRED") set(null);
    throw error;
  }
}

function set(csrf) {
  if (csrf) sessionStorage.setItem(KEY, csrf);
  else sessionStorage.removeItem(KEY);
  if (signedIn === Boolean(csrf)) return;
  signedIn = Boolean(csrf);
  for (const listener of listeners) listener(signedIn);
}

/** Whether the operator is signed in here. */
export function isSignedIn() {
  return signedIn;
}

/** Calls `listener` with whether somebody is signed in, whenever that changes. */
export function onSession(listener) {
  listeners.add(listener);
}

/** Signs in with the token, which is kept nowhere. */
export async function signIn(token) {
  const { csrf } = await send("POST", "/api/console/session", { headers: { Authorization: `Bearer ${token}` } });
  set(csrf);
  others.postMessage({ csrf });
}

/** Signs out, in all windows. */
export async function signOut() {
  await act("DELETE", "/api/console/session").catch(() => {});
  set(null);
  others.postMessage({ csrf: null });
}

/** Whether the value of before, or of another window, is still good. */
export async function resume() {
  const csrf = sessionStorage.getItem(KEY);
  if (!csrf) {
    others.postMessage({ asks: true });
    return;
  }
  try {
    const { signed_in } = await send("GET", "/api/console/session", { headers: { "X-Guard-CSRF": csrf } });
    // Meanwhile somebody may have signed in anew.
    if (csrf !== sessionStorage.getItem(KEY)) return;
    set(signed_in ? csrf : null);
    if (!signed_in) others.postMessage({ asks: true });
  } catch {
    // Not there just now: tried again when it is.
  }
}

others.addEventListener("message", async ({ data }) => {
  if (data.asks) {
    if (signedIn) others.postMessage({ csrf: sessionStorage.getItem(KEY) });
  } else if (data.csrf === null) {
    set(null);
  } else if (data.csrf && data.csrf !== sessionStorage.getItem(KEY)) {
    sessionStorage.setItem(KEY, data.csrf);
    await resume();
  }
});
