// The card of one question, or of several equal ones, which are answered together.

import { answerPanel, cautionLine, isAnsweredHere } from "./answers.js";
import { isSignedIn } from "./api.js";
import { badge, command } from "./command.js";
import { changesOf } from "./diff.js";
import { el, prose, say, told } from "./dom.js";
import { escape } from "./escape.js";
import { confidence, outcome } from "./record.js";
import { ruleButton } from "./rule.js";
import { clock, whenExactly } from "./time.js";

/** Minimum time that a question must be visible before a key answers it, in milliseconds. */
export const LOOKED_AT = 500;

/** Returns the key that equal questions share; without a key of the service, every question is alone. */
export function groupKey(record) {
  return record.question_key ?? `question ${record.id}`;
}

/** Creates the card of a question; `onSelect` is called when it is selected or unselected. */
export function card(record, { onSelect }) {
  /** Open questions of the card by id, oldest first, with the time at which each was added. */
  const members = new Map([[record.id, { record, since: -Infinity }]]);
  const heading = `question-${record.id}`;
  const left = el("span", { class: "left" });
  const bar = el("div", { class: "bar-inside" });
  const times = el("span", { class: "times", hidden: true });
  const sessions = el("dd");
  const ids = el("dd");
  const elsewhere = el("p", { class: "quiet-text elsewhere", role: "status" });
  let gone = 0;
  const box = el("input", { type: "checkbox", class: "select", "aria-label": `Select question ${record.id}`, "aria-keyshortcuts": "x" });
  const rule = ruleButton(() => [...members.keys()][0]);
  const panel = answerPanel(answerable, () => element);
  const element = el(
    "article",
    {
      class: "card",
      tabindex: "-1",
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
      box,
      el("h2", { id: heading }, badge(record.classification), el("span", { class: "unseen" }, ` question ${record.id}`)),
      times,
      told("span", record.agent, { class: "agent" }, "unknown agent"),
      record.cwd && told("span", record.cwd, { class: "directory" }),
      left,
    ),
    el("div", { class: "box" }, command(record)),
    changesOf(record),
    el("p", { class: "reasoning" }, prose("span", record.reasoning), el("span", { class: "quiet-text" }, ` · ${confidence(record)}`)),
    cautionLine(record),
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
        sessions,
        el("dt", {}, "Rule"),
        told("dd", record.rule),
        el("dt", {}, "Id"),
        ids,
      ),
      el("p", {}, rule),
    ),
    elsewhere,
    panel.element,
  );

  // The event has the modifier keys of the click.
  box.addEventListener("click", (event) => onSelect(made, event.shiftKey));

  /** Questions that an answer applies to: not one that was added at this moment. */
  function answerable() {
    const now = performance.now();
    const all = [...members.values()].filter(({ since }) => now - since >= LOOKED_AT);
    return all.map((member) => member.record);
  }

  function update() {
    const all = [...members.values()].map((member) => member.record);
    element.dataset.id = String(all[0].id);
    times.hidden = all.length < 2;
    const names = [...Map.groupBy(all, (one) => one.session_id ?? null)];
    const text = (name, count) => `${name === null ? "no session" : escape(name)}${count > 1 ? ` (${count} ×)` : ""}`;
    const list = names.map(([name, questions]) => text(name, questions.length));
    times.textContent = `${all.length} × · ${names.length === 1 ? "session" : `${names.length} sessions:`} ${list.slice(0, 4).join(", ")}${list.length > 4 ? " …" : ""}`;
    sessions.textContent = names.length === 1 && names[0][0] === null ? "–" : list.join(", ");
    ids.textContent = all.map((one) => one.id).join(", ");
    elsewhere.textContent = gone === 0 ? "" : `${gone} of the equal questions ${gone === 1 ? "was" : "were"} answered elsewhere.`;
    panel.relabel(all);
    made.tick();
  }

  const made = {
    element,
    record,
    box,
    /** Time at which it received the focus. */
    since: null,
    over: false,
    has: (id) => members.has(id),
    records: () => [...members.values()].map((member) => member.record),
    answerable,
    choose: panel.choose,
    enable() {
      box.disabled = !isSignedIn() || made.over;
      rule.disabled = !isSignedIn();
    },
    /** Adds an equal question, or updates the record of one. */
    add(record) {
      const since = members.get(record.id)?.since ?? performance.now();
      const isNew = !members.has(record.id);
      members.set(record.id, { record, since });
      if (isNew) update();
    },
    /** Removes an answered question. The last one is kept, because the card then shows its answer. */
    remove(id) {
      if (members.size < 2) return false;
      members.delete(id);
      if (!isAnsweredHere(id)) gone += 1;
      update();
      return true;
    },
    tick() {
      if (made.over) return;
      const oldest = [...members.values()].map((member) => member.record);
      const deadline = Math.min(...oldest.map((one) => Date.parse(one.deadline)));
      const asked = Math.min(...oldest.map((one) => Date.parse(one.timestamp)));
      const seconds = (deadline - Date.now()) / 1000;
      left.textContent = seconds > 0 ? `${clock(seconds)} left` : "expired";
      bar.style.inlineSize = `${Math.max(0, Math.min(1, (seconds * 1000) / (deadline - asked))) * 100}%`;
      element.classList.toggle("urgent", seconds < 30);
    },
    finish(now) {
      made.over = true;
      box.checked = false;
      const text = now ? outcome(now) : el("span", { class: "outcome", "data-outcome": "timeout" }, "no longer pending");
      const by = now?.answered_by ? ` by ${escape(now.answered_by)}` : "";
      panel.finish(text, el("span", { class: "quiet-text" }, by));
      made.enable();
      element.classList.add("over");
      left.textContent = "";
      say(`Question ${record.id}: ${text.textContent}${by}`);
    },
  };
  update();
  made.enable();
  return made;
}
