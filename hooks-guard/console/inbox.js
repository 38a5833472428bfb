// The inbox: pending questions and recent decisions.

import { ANSWERS } from "./answers.js";
import { get, isSignedIn } from "./api.js";
import { card, groupKey, LOOKED_AT } from "./card.js";
import { badge, command } from "./command.js";
import { el, prose, told } from "./dom.js";
import { escape } from "./escape.js";
import { isShortcut } from "./keys.js";
import { outcome, UNUSED } from "./record.js";
import { rememberedApprovals } from "./remembered.js";
import { cardSearch } from "./search.js";
import { selection } from "./selection.js";
import { when } from "./time.js";

/** Keys of the page, with their action, and with its short name in the line below the questions. */
const KEYS = [
  [["j", "↓"], "selects the next question", "move"],
  [["k", "↑"], "selects the previous question", "move"],
  [["y"], "approves the selected question, once", "approve"],
  [["s"], "approves it for this session", "for this session"],
  [["a"], "approves it always", "always"],
  [["n"], "denies it", "deny"],
  [["N"], "denies it with a note", "deny with a note"],
  [["x"], "selects the question for a common answer", "select"],
  [["X"], "selects all questions up to this one", "select up to here"],
  [["g"], "goes to the answers of the selected questions", "go to the selection"],
  [["u"], "undoes the last answer, for some seconds", "undo"],
  [["/"], "searches the questions, as you type"],
  [["Esc"], "clears the selection or the search"],
];
/** Number of recent decisions. */
const LAST = 12;
/** How long an answered question stays visible, in milliseconds. */
const STAYS = 2500;

/**
 * Shows the page. `questions` are the pending questions by id, and `known` is the state of the whole
 * list; the caller updates both.
 */
export function inbox(main, questions, known) {
  /** Shown cards, in the order of the page; answered ones stay for `STAYS`. */
  const cards = [];
  const chosen = selection(() => cards.filter((made) => !made.element.hidden));
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
  const approvals = rememberedApprovals();
  main.append(
    el("div", { class: "heading" }, el("h1", {}, "Inbox"), search.field),
    el("section", { "aria-label": "Questions", keydown: (event) => keys(event, cards, chosen) }, notice, search.line, empty, list),
    chosen.element,
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
    approvals.element,
  );

  /** Adds cards for new questions, or to the card of an equal one, and closes those of answered ones. */
  function draw() {
    for (const made of [...cards]) for (const { id } of made.records()) if (!questions.has(id)) leave(id);
    for (const [, record] of [...questions].sort(([one], [other]) => one - other)) {
      const own = cards.find((made) => !made.over && made.has(record.id));
      const equal = own ?? cards.find((made) => !made.over && groupKey(made.record) === groupKey(record));
      if (equal) {
        equal.add(record);
      } else {
        const made = card(record, { onSelect: chosen.toggle });
        cards.push(made);
        list.append(made.element);
      }
    }
    chosen.update();
    tell();
  }

  /** Removes a question from its card. The card closes with its last question, and shows `record`. */
  function leave(id, record) {
    const made = cards.find((made) => !made.over && made.has(id));
    if (made && !made.remove(id)) close(made, record);
  }

  /** Updates the notices. Says that there are no pending questions only while the list is current. */
  function tell() {
    empty.hidden = cards.length > 0;
    emptyTitle.textContent = known.unknown ? "Pending questions unknown" : "No pending questions";
    const at = known.at && known.total > 0 ? ` At ${known.at.toLocaleTimeString()}: ${known.total} pending questions.` : "";
    const text = known.unknown ? `${known.unknown}${at}` : decisions?.length === 0 ? UNUSED : "A question appears here as soon as an agent asks it.";
    write(emptyText, text);
    const hidden = known.total - questions.size;
    const many = known.sessions.map((one) => `${one.count} from ${escape(one.agent ?? "an unknown agent")}, session ${escape(one.session_id ?? "–")}`);
    const message = known.unknown
      ? `Pending questions unknown: ${known.unknown}${at}`
      : `${known.total} pending questions; showing the oldest of each session. Most: ${many.slice(0, 3).join("; ")}. To deny all, run hooks-guard approve --deny-all.`;
    notice.hidden = known.unknown ? cards.length === 0 : hidden <= 0;
    write(notice, message);
  }

  function close(made, record) {
    made.finish(record);
    setTimeout(() => {
      const focused = made.element.contains(document.activeElement);
      const next = made.element.nextElementSibling ?? made.element.previousElementSibling;
      made.element.remove();
      cards.splice(cards.indexOf(made), 1);
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
      // A busy service responds later.
      if (told === meanwhile) setTimeout(readLast, 2000);
    } finally {
      if (told === meanwhile) meanwhile = null;
    }
  }

  const ticking = setInterval(() => {
    for (const made of cards) made.tick();
    draw();
  }, 1000);
  addEventListener("pagehide", () => clearInterval(ticking));
  tell();
  // Keys also work while no element has the focus.
  addEventListener("keydown", (event) => {
    if (event.target === document.body || event.target === main) keys(event, cards, chosen);
  });

  return {
    answers: true,
    keys: KEYS,
    search: search.input,
    pending: draw,
    anew() {
      readLast();
      approvals.read();
    },
    session() {
      for (const made of cards) made.enable();
      chosen.update();
      approvals.enable();
    },
    event(kind, data) {
      if (kind === "remembered" || kind === "forgotten" || kind === "cleaned") approvals.readSoon();
      if (kind !== "asked" && kind !== "answered" && kind !== "executed") return;
      keep({ kind, data });
      meanwhile?.push({ kind, data });
      // A request that ran without an answer may still be pending.
      if (kind !== "asked" && !questions.has(data.id)) leave(data.id, data);
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

/**
 * Handles keys: they select the focused question, or answer it once it has had the focus for
 * `LOOKED_AT`.
 */
function keys(event, cards, chosen) {
  if (!isShortcut(event) || event.target.closest?.("dialog")) return;
  const open = cards.filter((made) => !made.element.hidden);
  const at = open.findIndex((made) => made.element.contains(document.activeElement));
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step !== undefined && open.length > 0) {
    event.preventDefault();
    const next = at < 0 ? (step > 0 ? 0 : open.length - 1) : Math.min(open.length - 1, Math.max(0, at + step));
    open[next].element.focus();
    return;
  }
  if (event.key === "Escape" && !chosen.isEmpty()) {
    chosen.reset();
    return;
  }
  if (event.key === "g" && !chosen.isEmpty()) {
    event.preventDefault();
    chosen.focus();
    return;
  }
  if (at < 0) return;
  const made = open[at];
  if (event.key === "x" || event.key === "X") {
    event.preventDefault();
    if (isSignedIn() && !made.over) chosen.toggle(made, event.key === "X");
    return;
  }
  const answer = ANSWERS.find(({ key }) => key === event.key);
  if (!answer) return;
  event.preventDefault();
  if (!isSignedIn() || made.since === null || performance.now() - made.since < LOOKED_AT) return;
  made.choose(answer);
}

/** Returns the line of the short names, each after the first key of its actions. */
function keyHelp() {
  const named = Map.groupBy(KEYS.filter(([, , name]) => name), ([, , name]) => name);
  return [...named].flatMap(([name, actions]) => [
    el("span", {}, ...actions.flatMap(([[key]]) => [el("kbd", {}, key), " "]), name),
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
