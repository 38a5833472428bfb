// The frame of all pages: session, connection, and the list of pending questions.

import { isOpen } from "./answers.js";
import { acceptEnd, get, hasEnded, isSignedIn, onSession, resume, signIn, signOut } from "./api.js";
import { clear, notice } from "./banner.js";
import { tellChanges } from "./diff.js";
import { dispatch, el, prose, say } from "./dom.js";
import { listen } from "./events.js";
import { hooks } from "./hooks.js";
import { inbox } from "./inbox.js";
import { keys } from "./keys.js";
import { missing } from "./missing.js";
import { notifier } from "./notify.js";
import { settings } from "./settings.js";
import { statistics } from "./statistics.js";
import { keepCurrent, whenExactly } from "./time.js";
import { trail } from "./trail.js";
import { end, onDelayedEvent } from "./undo.js";

const PAGES = new Map([
  ["/", ["Inbox", inbox]],
  ["/trail", ["Trail", trail]],
  ["/statistics", ["Statistics", statistics]],
  ["/hooks", ["Hooks", hooks]],
]);
const main = document.getElementById("main");
const live = document.getElementById("live");
const waiting = document.getElementById("waiting");
const [title, open] = PAGES.get(location.pathname) ?? ["Page not found", missing];

// Remove the token from the address first, so that neither the window nor the history shows it.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) history.replaceState(null, "", location.pathname + location.search);

for (const link of document.querySelectorAll("nav a")) {
  if (link.getAttribute("href") === location.pathname) link.setAttribute("aria-current", "page");
}

/** Maximum number of displayed questions. */
const PAGE = 100;
/** Delay before pending questions are read again, in milliseconds, because events come in bursts. */
const MOMENT = 300;

/** Pending questions by id; if there are several pages, the oldest of each session first. */
const questions = new Map();
/** State of the whole list: number of pending questions, and the reason if it is not current. */
const known = { total: 0, sessions: [], at: null, unknown: "Loading." };
let reading = null;
/** Highest id of a question; null until the questions are known. */
let newest = null;

/** Shows the number of pending questions; a question mark if it is unknown. */
function count() {
  const text = known.unknown ? "?" : String(known.total);
  waiting.textContent = text;
  waiting.hidden = text === "0";
  document.title = text === "0" ? `${title} · hooks-guard` : `(${text}) ${title} · hooks-guard`;
}

const page = open(main, questions, known);
// If there are several pages, a question may be pending although it is not displayed.
const notifications = notifier((id) => questions.has(id) || known.total > questions.size, showQuestion);

/** Shows a question, after a click on its notification. */
function showQuestion(id) {
  if (location.pathname !== "/") location.assign("/");
  else main.querySelector(`[data-id="${id}"]`)?.focus();
}

/** Notifies of the questions that are new since the last call. */
function announce(records) {
  if (newest !== null) for (const record of records) if (record.id > newest) notifications.asked(record);
  newest = Math.max(newest ?? 0, ...records.map(({ id }) => id));
}

/** Updates the list for an event. If there are more questions than displayed, reads the page again. */
function keep(record) {
  const whole = known.total === questions.size;
  if (questions.delete(record.id)) known.total -= 1;
  if (isOpen(record)) {
    known.total += 1;
    if (whole && questions.size < PAGE) questions.set(record.id, record);
    else readSoon();
  } else if (!whole && record.deadline) {
    readSoon();
  }
}

function readSoon() {
  reading ??= setTimeout(() => {
    reading = null;
    readPending();
  }, MOMENT);
}

/** Records of events that arrive while the questions are read, in order. */
let meanwhile = null;

async function readPending() {
  const told = (meanwhile = []);
  try {
    const { pending, total, sessions } = await get("/api/hooks/pending", { order: "fair", limit: PAGE });
    // A later call reads newer data.
    if (told !== meanwhile) return;
    if (!Array.isArray(pending) || !Number.isInteger(total)) throw new Error("The server at this address is not hooks-guard; check its `--listen` address.");
    questions.clear();
    for (const record of pending) questions.set(record.id, record);
    Object.assign(known, { total: Math.max(total, questions.size), sessions: sessions ?? [], at: new Date(), unknown: null });
    pending.filter((record) => record.changes).forEach(tellChanges);
    announce(pending);
    // The response may be older than the events since.
    told.forEach(keep);
    show();
  } catch (error) {
    if (told !== meanwhile) return;
    known.unknown = error.message;
    show();
    // The event stream reports a reconnect; if the service is only busy, try again.
    if (live.dataset.state === "live") setTimeout(readSoon, 1000);
  } finally {
    if (told === meanwhile) meanwhile = null;
  }
}

function show() {
  count();
  page.pending?.();
}

/** Time since which there are no events, and whether there have been any. */
const connection = { lost: null, before: false };

/** Shows across the page that it is not current. */
function showLoss(reason) {
  const since = whenExactly(connection.lost.toISOString());
  const state = connection.before ? "This page shows the last known state, of that time" : "This page is not kept current";
  const [what, remedy] = reason
    ? ["No live updates", `: ${reason}. ${isSignedIn() ? "" : "Places are reserved for windows that are signed in. "}${state}. It tries again by itself.`]
    : ["No connection to the service", `. ${state}. It reconnects by itself; if the service is not running, start it with \`hooks-guard serve\`.`];
  notice("connection", "problem", el("p", {}, el("strong", {}, what), " since ", since, prose("span", remedy)), el("button", { type: "button", click: () => reconnect() }, "Try again now"));
}

const reconnect = listen({
  state(name, reason) {
    const isLive = name === "live";
    live.dataset.state = isLive ? "live" : "away";
    live.replaceChildren(el("span", {}, { live: "live", away: "no connection", refused: "no live updates" }[name]));
    if (!isLive) {
      connection.lost ??= new Date();
      // The notice tells the rest.
      const message = reason ? "No live updates." : "No connection to the service.";
      if (!known.unknown || !known.at) known.unknown = message;
      showLoss(reason);
      show();
      return;
    }
    connection.lost = null;
    clear("connection");
    // After a restart, the service has no sessions.
    resume();
  },
  resumed: readPending,
  async anew() {
    const first = !connection.before;
    connection.before = true;
    await readPending();
    page.anew?.(first);
  },
  event(kind, data) {
    if (kind === "asked" || kind === "answered" || kind === "executed") {
      keep(data);
      meanwhile?.push(data);
      if (kind === "asked" && isOpen(data)) announce([data]);
      if (kind === "answered") notifications.closed(data.id);
      if (kind === "asked" && isOpen(data)) say(`New question: ${data.classification} from ${data.agent ?? "an agent"}`);
    } else if (kind === "answering" || kind === "withdrawn") {
      onDelayedEvent(kind, data);
    } else if (kind === "changes") {
      tellChanges(data);
    } else if (kind === "cleaned") {
      readPending();
    }
    count();
    page.event?.(kind, data);
    if (kind === "answered") end(data.id);
  },
});

function signInForm() {
  const problem = el("p", { class: "problem", role: "alert" });
  const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const form = el(
    "form",
    {
      class: "sign-in",
      async submit(event) {
        event.preventDefault();
        problem.textContent = "";
        const token = input.value;
        input.value = "";
        await enter(token, problem);
      },
    },
    el("label", { for: "token" }, "Operator's token"),
    el("div", { class: "together" }, input, el("button", { type: "submit", class: "primary" }, "Sign in")),
    prose("p", "`hooks-guard serve` prints the token on its terminal. Without the token, the console is read-only.", { class: "hint" }),
    problem,
  );
  return el("section", { id: "sign-in", "aria-label": "Sign in" }, form);
}

async function enter(token, problem) {
  try {
    await signIn(token);
  } catch (error) {
    problem.textContent = error.status === 401 ? "Wrong operator's token; copy it from the terminal of `hooks-guard serve`." : error.message;
  }
}

function showSession(signedIn) {
  document.getElementById("sign-out").hidden = !signedIn;
  document.getElementById("sign-in")?.remove();
  if (!signedIn && page.answers) (main.querySelector(".heading") ?? main.querySelector("h1")).after(signInForm());
  if (hasEnded()) showEnd();
  else clear("session");
  page.session?.(signedIn);
}

/** Shows across the page that the session has ended. */
function showEnd() {
  const again = page.answers
    ? el("button", { type: "button", click: () => document.getElementById("token").focus() }, "Sign in")
    : el("a", { class: "button", href: "/#token" }, "Sign in");
  notice(
    "session",
    "warning",
    el("p", {}, el("strong", {}, "Your session has ended"), ": the service restarted, or it was signed in for twelve hours. Sign in again to answer questions."),
    again,
    el("button", { type: "button", class: "quiet", click: acceptEnd }, "Read only"),
  );
  say("Your session has ended; sign in again to answer questions.");
}

/** Time between two checks of the session, in milliseconds. */
const SESSION_CHECK = 5 * 60_000;

function checkSession() {
  if (isSignedIn() && document.visibilityState === "visible") resume();
}
setInterval(checkSession, SESSION_CHECK);
document.addEventListener("visibilitychange", checkSession);

document.getElementById("sign-out").addEventListener("click", signOut);
onSession(() => dispatch(null, "session"));
onSession(showSession);
keys(page, document.getElementById("open-keys"));
settings(document.getElementById("open-settings"));
keepCurrent();
count();
if (given) await enter(given, {});
else await resume();
showSession(isSignedIn());
// The link of the notice that the session has ended.
if (location.hash === "#token") document.getElementById("token")?.focus();
