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

/** The questions that wait, by their number. */
const questions = new Map();

function count() {
  waiting.textContent = String(questions.size);
  waiting.hidden = questions.size === 0;
  document.title = questions.size === 0 ? `${title} · hooks-guard` : `(${questions.size}) ${title} · hooks-guard`;
}

function isWaiting(record) {
  return record.deadline && !record.user_response && Date.parse(record.deadline) > Date.now();
}

const page = open(main, questions);

function keep(record) {
  if (isWaiting(record)) questions.set(record.id, record);
  else questions.delete(record.id);
}

/** The records that are told while the questions are read, in their order. */
let meanwhile = null;

async function readPending() {
  const told = (meanwhile = []);
  try {
    const { pending } = await get("/api/hooks/pending");
    // Who began later reads what is newer.
    if (told !== meanwhile) return;
    questions.clear();
    for (const record of pending) questions.set(record.id, record);
    // What was read may be older than what was told since.
    told.forEach(keep);
    count();
    page.pending?.();
  } catch {
    // The stream says when the service is there again.
  } finally {
    if (told === meanwhile) meanwhile = null;
  }
}

listen({
  state(name) {
    live.dataset.state = name;
    live.textContent = name === "live" ? "live" : "no connection";
    // The service may be another one, which knows nobody.
    if (name === "live") resume();
  },
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
