// The frame around the pages: who is signed in, whether the service is there, what waits.

import { get, isSignedIn, onSession, resume, signIn, signOut } from "./api.js";
import { el, say } from "./dom.js";
import { listen } from "./events.js";
import { hooks } from "./hooks.js";
import { inbox } from "./inbox.js";
import { statistics } from "./statistics.js";
import { trail } from "./trail.js";

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

// Out of the address before anything else: whoever sees the window, or the history, has no use of it.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) history.replaceState(null, "", location.pathname + location.search);

for (const link of document.querySelectorAll("nav a")) {
  if (link.getAttribute("href") === location.pathname) link.setAttribute("aria-current", "page");
}

/** How many questions are shown at most. */
const PAGE = 100;
/** How long to wait before what waits is read anew, in milliseconds: much may happen at once. */
const MOMENT = 300;

/** The questions that wait, by their number; of more than a page, the oldest of each session first. */
const questions = new Map();
/** What is known of all questions: how many wait, and why that is not up to date, if it is not. */
const known = { total: 0, sessions: [], at: null, unknown: "It was not read yet." };
let reading = null;

/** How many wait, for people; a question mark where that is unknown. */
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

/** Of more questions than are shown, an event says too little: they are read anew. */
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

/** The records that are told while the questions are read, in their order. */
let meanwhile = null;

async function readPending() {
  const told = (meanwhile = []);
  try {
    const { pending, total, sessions } = await get("/api/hooks/pending", { order: "fair", limit: PAGE });
    // Who began later reads what is newer.
    if (told !== meanwhile) return;
    if (!Array.isArray(pending) || !Number.isInteger(total)) throw new Error("The answer is none of this service.");
    questions.clear();
    for (const record of pending) questions.set(record.id, record);
    Object.assign(known, { total: Math.max(total, questions.size), sessions: sessions ?? [], at: new Date(), unknown: null });
    // What was read may be older than what was told since.
    told.forEach(keep);
    show();
  } catch (error) {
    if (told !== meanwhile) return;
    known.unknown = error.message;
    show();
    // The stream says when the service is there again; one that is only busy is asked again.
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
      known.unknown ??= "There is no connection to the service.";
      show();
    }
    // The service may be another one, which knows nobody.
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
      if (kind === "asked" && isWaiting(data)) say(`A new question: ${data.classification} by ${data.agent ?? "an agent"}`);
    } else if (kind === "cleaned") {
      readPending();
    }
    count();
    page.event?.(kind, data);
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
    el("p", { class: "hint" }, "The daemon shows it on its terminal. Without it, everything can be read and nothing answered."),
    problem,
  );
  return el("section", { id: "sign-in", "aria-label": "Sign in" }, form);
}

async function enter(token, problem) {
  try {
    await signIn(token);
  } catch (error) {
    problem.textContent = error.status === 401 ? "This is not the operator's token." : error.message;
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
count();
if (given) await enter(given, {});
else await resume();
showSession(isSignedIn());
