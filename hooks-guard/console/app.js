// The frame of all pages: session, connection, and the list of pending questions.

import { get, isSignedIn, onSession, resume, signIn, signOut } from "./api.js";
import { tellChanges } from "./diff.js";
import { el, say } from "./dom.js";
import { listen } from "./events.js";
import { hooks } from "./hooks.js";
import { inbox } from "./inbox.js";
import { statistics } from "./statistics.js";
import { keepCurrent } from "./time.js";
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
const [title, open] = PAGES.get(location.pathname) ?? PAGES.get("/");

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

/** Shows the number of pending questions; a question mark if it is unknown. */
function count() {
  const text = known.unknown ? "?" : String(known.total);
  waiting.textContent = text;
  waiting.hidden = text === "0";
  document.title = text === "0" ? `${title} · hooks-guard` : `(${text}) ${title} · hooks-guard`;
}

function isWaiting(record) {
  return record.deadline && !record.user_response && Date.parse(record.deadline) > Date.now();
}

const page = open(main, questions, known);

/** Updates the list for an event. If there are more questions than displayed, reads the page again. */
function keep(record) {
  const whole = known.total === questions.size;
  if (questions.delete(record.id)) known.total -= 1;
  if (isWaiting(record)) {
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

listen({
  state(name) {
    live.dataset.state = name;
    live.textContent = name === "live" ? "live" : "no connection";
    if (name !== "live") {
      known.unknown ??= "No connection to the service; start it with `hooks-guard serve`. This page reconnects by itself.";
      show();
    }
    // After a restart, the service has no sessions.
    if (name === "live") resume();
  },
  resumed: readPending,
  async anew() {
    await readPending();
    page.anew?.();
  },
  event(kind, data) {
    if (kind === "asked" || kind === "answered" || kind === "executed") {
      keep(data);
      meanwhile?.push(data);
      if (kind === "asked" && isWaiting(data)) say(`New question: ${data.classification} from ${data.agent ?? "an agent"}`);
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
    el("p", { class: "hint" }, "`hooks-guard serve` prints the token on its terminal. Without the token, the console is read-only."),
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
  if (!signedIn && page.answers) main.querySelector("h1").after(signInForm());
  page.session?.(signedIn);
}

document.getElementById("sign-out").addEventListener("click", signOut);
onSession(showSession);
keepCurrent();
count();
if (given) await enter(given, {});
else await resume();
showSession(isSignedIn());
