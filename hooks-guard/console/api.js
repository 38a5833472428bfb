// Requests to the service. The operator is identified by a cookie that this page cannot read, and by
// a CSRF value that no other page has.

const KEY = "hooks-guard csrf";
/** Set while the page has to report that the session has ended. */
const ENDED = "hooks-guard session ended";
const others = new BroadcastChannel("hooks-guard");
const listeners = new Set();
let signedIn = false;

/** Returns the message of a failed request: the service's own, or that it does not respond. */
export function messageOf(error) {
  return error.status ? error.message : "The service does not respond; check that hooks-guard serve is running.";
}

/** Error response of the service. */
export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `HTTP status ${status}`);
    this.status = status;
    this.code = body.code ?? "";
    this.details = body.details;
  }
}

async function send(method, path, { body, headers = {}, signal } = {}) {
  const init = { method, headers: { ...headers }, cache: "no-store", credentials: "same-origin", signal };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(path, init);
  const value = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

/** Sends a `GET` request, which `signal` can cancel. */
export function get(path, query, signal) {
  const text = query ? new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString() : "";
  // The service reserves capacity for reads of the operator.
  const csrf = operator();
  return send("GET", text ? `${path}?${text}` : path, { headers: csrf ? { "X-Guard-CSRF": csrf } : {}, signal });
}

/** CSRF value that identifies reads of the operator; null if not signed in. */
export function operator() {
  return sessionStorage.getItem(KEY);
}

/** Sends a request as the operator. */
export async function act(method, path, body) {
  const headers = { "X-Guard-CSRF": sessionStorage.getItem(KEY) ?? "" };
  try {
    return await send(method, path, { body, headers });
  } catch (error) {
    // Signed out elsewhere, or the service restarted.
    if (error.status === 401 || error.code === "CSRF_REQUIRED") expire();
    throw error;
  }
}

function set(csrf, ended = false) {
  if (csrf) sessionStorage.setItem(KEY, csrf);
  else sessionStorage.removeItem(KEY);
  const changed = signedIn !== Boolean(csrf) || hasEnded() !== ended;
  if (ended) sessionStorage.setItem(ENDED, "1");
  else sessionStorage.removeItem(ENDED);
  signedIn = Boolean(csrf);
  if (changed) for (const listener of listeners) listener(signedIn);
}

/** Removes a session that the service does not accept. */
function expire() {
  set(null, hasEnded() || operator() !== null);
}

/** Returns true if the operator is signed in here. */
export function isSignedIn() {
  return signedIn;
}

/** Returns true if a session of this window has ended without a sign-out. */
export function hasEnded() {
  return sessionStorage.getItem(ENDED) !== null;
}

/** Stops reporting that the session has ended. */
export function acceptEnd() {
  set(null);
}

/** Calls `listener` with the new state whenever the operator signs in or out. */
export function onSession(listener) {
  listeners.add(listener);
}

/** Signs in with the token, which is not stored. */
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

/** Checks whether the stored CSRF value, or that of another window, is still valid. */
export async function resume() {
  const csrf = sessionStorage.getItem(KEY);
  if (!csrf) {
    others.postMessage({ asks: true });
    return;
  }
  try {
    const { signed_in } = await send("GET", "/api/console/session", { headers: { "X-Guard-CSRF": csrf } });
    // The operator may have signed in again in the meantime.
    if (csrf !== sessionStorage.getItem(KEY)) return;
    if (signed_in) {
      set(csrf);
    } else {
      expire();
      others.postMessage({ asks: true });
    }
  } catch {
    // Not reachable: tried again after a reconnect.
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
