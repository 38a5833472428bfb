// The inbox: pending questions and recent decisions.

import { act, get, isSignedIn, messageOf } from "./api.js";
import { badge, command } from "./command.js";
import { el, prose, say, told } from "./dom.js";
import { escape } from "./escape.js";
import { confidence, outcome, UNUSED } from "./record.js";
import { cardSearch } from "./search.js";
import { clock, when, whenExactly } from "./time.js";

const ANSWERS = [
  { key: "y", name: "Approve", body: { response: "APPROVED" }, primary: true },
  { key: "s", name: "This session", body: { response: "APPROVED", remember: "session" } },
  { key: "a", name: "Always", body: { response: "APPROVED", remember: "always" } },
  { key: "n", name: "Deny", body: { response: "DENIED" }, deny: true },
];
/** Keys of the page, with what they do. */
const KEYS = [
  [["j", "↓"], "selects the next question"],
  [["k", "↑"], "selects the previous question"],
  [["y"], "approves the selected question, once"],
  [["s"], "approves it for this session"],
  [["a"], "approves it always"],
  [["n"], "denies it"],
  [["/"], "searches the questions, as you type"],
  [["Esc"], "clears the search"],
];
/** Minimum time that a question must have the focus before a key answers it, in milliseconds. */
const LOOKED_AT = 500;
/** Number of recent decisions. */
const LAST = 12;
/** How long an answered question stays visible, in milliseconds. */
const STAYS = 2500;

/**
 * Shows the page. `questions` are the pending questions by id, and `known` is the state of the whole
 * list; the caller updates both.
 */
export function inbox(main, questions, known) {
  const cards = new Map();
  const list = el("div", { class: "cards" });
  const emptyTitle = el("p", { class: "large" });
  const emptyText = el("p");
  const empty = el("div", { class: "empty" }, emptyTitle, emptyText);
  const notice = el("p", { class: "problem", role: "status", hidden: true });
  const last = el("tbody");
  const search = cardSearch(list);
  /** Recent decisions, newest first; null until they are known. */
  let decisions = null;
  /** Events that arrive while the decisions are read, in order. */
  let meanwhile = null;
  let stale = false;
  main.append(
    el("div", { class: "heading" }, el("h1", {}, "Inbox"), search.field),
    el("section", { "aria-label": "Questions", keydown: (event) => keys(event, cards) }, notice, search.line, empty, list),
    el("p", { class: "hint keys" }, ...keyHelp()),
    el(
      "section",
      { class: "feed", "aria-labelledby": "feed" },
      el("h2", { id: "feed" }, "Recent decisions"),
      el(
        "table",
        {},
        el("colgroup", {}, ...["time", "class", "wide", "agent", "outcome-cell"].map((kind) => el("col", { class: kind }))),
        el("thead", { class: "unseen" }, el("tr", {}, ...["Time", "Class", "Command", "Agent", "Outcome"].map((name) => el("th", { scope: "col" }, name)))),
        last,
      ),
    ),
  );

  /** Adds cards for new questions, and closes those of answered ones. */
  function draw() {
    for (const [id, record] of [...questions].sort(([one], [other]) => one - other)) {
      if (!cards.has(id)) {
        const made = card(record);
        cards.set(id, made);
        list.append(made.element);
      }
    }
    for (const [id, made] of cards) {
      if (!questions.has(id) && !made.over) close(id, made);
    }
    tell();
  }

  /** Updates the notices. Says that there are no pending questions only while the list is current. */
  function tell() {
    empty.hidden = cards.size > 0;
    emptyTitle.textContent = known.unknown ? "Pending questions unknown" : "No pending questions";
    const at = known.at && known.total > 0 ? ` At ${known.at.toLocaleTimeString()}: ${known.total} pending questions.` : "";
    const text = known.unknown ? `${known.unknown}${at}` : decisions?.length === 0 ? UNUSED : "A question appears here as soon as an agent asks it.";
    write(emptyText, text);
    const hidden = known.total - questions.size;
    const many = known.sessions.map((one) => `${one.count} from ${escape(one.agent ?? "an unknown agent")}, session ${escape(one.session_id ?? "–")}`);
    const message = known.unknown
      ? `Pending questions unknown: ${known.unknown}${at}`
      : `${known.total} pending questions; showing the oldest of each session. Most: ${many.slice(0, 3).join("; ")}. To deny all, run hooks-guard approve --deny-all.`;
    notice.hidden = known.unknown ? cards.size === 0 : hidden <= 0;
    write(notice, message);
  }

  function close(id, made, record) {
    made.finish(record);
    setTimeout(() => {
      const focused = made.element.contains(document.activeElement);
      const next = made.element.nextElementSibling ?? made.element.previousElementSibling;
      made.element.remove();
      cards.delete(id);
      if (focused) (next ?? main).focus();
      tell();
    }, STAYS);
  }

  function drawLast() {
    stale = false;
    if (decisions === null) return;
    last.replaceChildren(...decisions.map(line));
    if (decisions.length === 0) last.append(el("tr", {}, el("td", { colspan: "5", class: "quiet-text" }, "No decisions yet")));
  }

  /** Redraws with a delay, because events come in bursts. */
  function soon() {
    if (stale) return;
    stale = true;
    setTimeout(drawLast, 250);
  }

  /** Updates the recent decisions for an event. */
  function keep({ kind, data }) {
    if (kind === "asked") decisions = [data, ...(decisions ?? []).filter((record) => record.id !== data.id)].slice(0, LAST);
    else if (decisions) decisions = decisions.map((record) => (record.id === data.id ? data : record));
  }

  async function readLast() {
    const told = (meanwhile = []);
    try {
      const found = (await get("/api/hooks/decisions", { limit: LAST })).decisions;
      // A later call reads newer data.
      if (told !== meanwhile) return;
      decisions = found;
      // The response may be older than the events since.
      told.forEach(keep);
      drawLast();
      tell();
    } catch {
      // Read again after a reconnect.
    } finally {
      if (told === meanwhile) meanwhile = null;
    }
  }

  const ticking = setInterval(() => {
    for (const made of cards.values()) made.tick();
    draw();
  }, 1000);
  addEventListener("pagehide", () => clearInterval(ticking));
  tell();
  // Keys also work while no element has the focus.
  addEventListener("keydown", (event) => {
    if (event.target === document.body || event.target === main) keys(event, cards);
  });

  return {
    answers: true,
    keys: KEYS,
    search: search.input,
    pending: draw,
    anew: readLast,
    session(signedIn) {
      for (const made of cards.values()) made.enable(signedIn);
    },
    event(kind, data) {
      if (kind !== "asked" && kind !== "answered" && kind !== "executed") return;
      keep({ kind, data });
      meanwhile?.push({ kind, data });
      // A request that ran without an answer may still be pending.
      const made = kind === "asked" ? undefined : cards.get(data.id);
      if (made && !made.over && !questions.has(data.id)) close(data.id, made, data);
      draw();
      soon();
    },
  };
}

/** Sets the text of an element if it has changed, so that screen readers do not repeat it. */
function write(element, text) {
  const made = prose("span", text);
  if (element.textContent !== made.textContent) element.replaceChildren(made);
}

/** A question with its answers. */
function card(record) {
  const asked = Date.parse(record.timestamp);
  const deadline = Date.parse(record.deadline);
  const left = el("span", { class: "left" });
  const bar = el("div", { class: "bar-inside" });
  const problem = el("p", { class: "problem", role: "alert" });
  const heading = `question-${record.id}`;
  const buttons = ANSWERS.map((answer) =>
    el(
      "button",
      {
        type: "button",
        class: answer.primary ? "primary" : answer.deny ? "deny" : "",
        "data-key": answer.key,
        "aria-keyshortcuts": answer.key,
        click: () => send(answer),
      },
      answer.name,
      el("kbd", { "aria-hidden": "true" }, answer.key),
    ),
  );
  const actions = el("div", { class: "actions" }, ...buttons);
  const element = el(
    "article",
    {
      class: "card",
      tabindex: "-1",
      "data-id": String(record.id),
      "data-effect": record.classification,
      "aria-labelledby": heading,
      focusin: () => {
        made.since ??= performance.now();
      },
      focusout: (event) => {
        if (!element.contains(event.relatedTarget)) made.since = null;
      },
    },
    el("div", { class: "time-left", "aria-hidden": "true" }, bar),
    el(
      "header",
      {},
      el("h2", { id: heading }, badge(record.classification), el("span", { class: "unseen" }, ` question ${record.id}`)),
      told("span", record.agent, { class: "agent" }, "unknown agent"),
      record.cwd && told("span", record.cwd, { class: "directory" }),
      left,
    ),
    el("div", { class: "box" }, command(record)),
    el("p", { class: "reasoning" }, prose("span", record.reasoning), el("span", { class: "quiet-text" }, ` · ${confidence(record)}`)),
    record.always && prose("p", record.always, { class: "always quiet-text" }),
    el(
      "details",
      {},
      el("summary", {}, "Details"),
      record.explanation && prose("p", record.explanation),
      el(
        "dl",
        {},
        el("dt", {}, "Asked"),
        el("dd", {}, whenExactly(record.timestamp)),
        el("dt", {}, "Session"),
        told("dd", record.session_id),
        el("dt", {}, "Rule"),
        told("dd", record.rule),
        el("dt", {}, "Id"),
        el("dd", {}, String(record.id)),
      ),
    ),
    actions,
    problem,
  );

  async function send(answer) {
    if (made.busy || made.over) return;
    made.busy = true;
    made.enable(isSignedIn());
    problem.textContent = "";
    try {
      await act("POST", "/api/hooks/permission-response", { id: record.id, ...answer.body });
      // The event stream reports the answer, in this and in every other window.
    } catch (error) {
      problem.textContent = said(error);
    }
    made.busy = false;
    made.enable(isSignedIn());
  }

  const made = {
    element,
    send,
    /** Time at which it received the focus. */
    since: null,
    busy: false,
    over: false,
    enable(signedIn) {
      for (const button of buttons) button.disabled = !signedIn || made.busy || made.over;
    },
    tick() {
      if (made.over) return;
      const seconds = (deadline - Date.now()) / 1000;
      left.textContent = seconds > 0 ? `${clock(seconds)} left` : "expired";
      bar.style.inlineSize = `${Math.max(0, Math.min(1, (seconds * 1000) / (deadline - asked))) * 100}%`;
      element.classList.toggle("urgent", seconds < 30);
    },
    finish(now) {
      made.over = true;
      made.enable(false);
      element.classList.add("over");
      const text = now ? outcome(now) : el("span", { class: "outcome", "data-outcome": "timeout" }, "no longer pending");
      const by = now?.answered_by ? ` by ${escape(now.answered_by)}` : "";
      actions.replaceChildren(text, el("span", { class: "quiet-text" }, by));
      left.textContent = "";
      say(`Question ${record.id}: ${text.textContent}${by}`);
    },
  };
  made.tick();
  made.enable(isSignedIn());
  return made;
}

function said(error) {
  if (error.status === 401 || error.code === "CSRF_REQUIRED") return "You are no longer signed in.";
  if (error.code === "ALREADY_ANSWERED") return "Already answered elsewhere.";
  return messageOf(error);
}

/** Handles keys: they answer the focused question, once it has had the focus for `LOOKED_AT`. */
function keys(event, cards) {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest?.("input, select, textarea, dialog")) return;
  const open = [...cards.values()].filter((made) => !made.element.hidden);
  const at = open.findIndex((made) => made.element.contains(document.activeElement));
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step !== undefined && open.length > 0) {
    event.preventDefault();
    const next = at < 0 ? (step > 0 ? 0 : open.length - 1) : Math.min(open.length - 1, Math.max(0, at + step));
    open[next].element.focus();
    return;
  }
  const answer = ANSWERS.find(({ key }) => key === event.key);
  if (!answer || at < 0) return;
  event.preventDefault();
  const made = open[at];
  if (!isSignedIn() || made.since === null || performance.now() - made.since < LOOKED_AT) return;
  made.send(answer);
}

function keyHelp() {
  const keys = [["j", "k", "move"], ["y", "approve"], ["s", "for this session"], ["a", "always"], ["n", "deny"]];
  return keys.flatMap((parts) => [
    el("span", {}, ...parts.slice(0, -1).flatMap((key) => [el("kbd", {}, key), " "]), parts.at(-1)),
    " ",
  ]);
}

function line(record) {
  return el(
    "tr",
    {},
    el("td", { class: "time" }, when(record.timestamp)),
    el("td", {}, badge(record.classification)),
    el("td", { class: "wide" }, el("a", { class: "one-line", href: `/trail?id=${record.id}` }, command(record, { oneLine: true }))),
    told("td", record.agent, { class: "agent" }),
    el("td", {}, outcome(record)),
  );
}
