// The changes of a file tool, as a unified diff with line numbers.

import { get, isSignedIn, messageOf } from "./api.js";
import { dispatch, el, escapeMark, markedText, told } from "./dom.js";
import { shown } from "./escape.js";
import { number } from "./time.js";

const VERBS = { create: "creates", overwrite: "overwrites", edit: "edits", delete: "deletes" };
const NAMES = { "+": "added", "-": "removed" };
/** Keys that scroll the diff instead of moving to another question. */
const SCROLLS = ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "PageDown", "PageUp", "Home", "End", " "];
/** Maximum number of questions whose changes were announced before their records arrived. */
const MAX_KNOWN = 500;
/** Sizes of changes by question, oldest first. */
const known = new Map();

/** Updates the displayed changes of a question, after an event or a reload. */
export function tellChanges({ id, changes }) {
  known.set(id, changes);
  if (known.size > MAX_KNOWN) known.delete(known.keys().next().value);
  dispatch(id, "changes", changes);
}

/**
 * Changes of a pending question; empty while there are none. Only the operator can read the lines, so
 * they appear once the operator is signed in.
 */
export function changesOf(record) {
  if (record.user_response || !record.deadline) return el("div", { class: "changes" });
  const listeners = { changes: (event) => draw(event.detail), session: () => draw() };
  const section = el("div", { class: "changes", "data-questions": String(record.id), ...listeners });
  let isRead = false;
  let totals = record.changes ?? known.get(record.id);

  async function draw(now) {
    totals = now ?? totals;
    if (!totals || isRead) return;
    if (!isSignedIn()) {
      section.replaceChildren(summary(totals), el("p", { class: "hint" }, "Sign in to see the changed lines."));
      return;
    }
    isRead = true;
    try {
      const changes = await get(`/api/hooks/decisions/${record.id}/changes`);
      section.replaceChildren(...content(changes, totals));
    } catch (error) {
      isRead = false;
      // An answered question has no changes any more.
      if (error.status === 404) section.replaceChildren(summary(totals));
      else section.replaceChildren(summary(totals), el("p", { class: "problem" }, messageOf(error)));
    }
  }

  draw();
  return section;
}

function counts(added, removed) {
  return [
    el("span", { class: "added" }, `+${number(added)}`),
    " ",
    el("span", { class: "removed" }, `−${number(removed)}`),
  ];
}

function summary(totals) {
  const files = totals.files === 1 ? "1 file" : `${number(totals.files)} files`;
  return el("p", { class: "change-counts" }, `${files} `, ...counts(totals.added, totals.removed));
}

function content(changes, totals) {
  if (changes.dropped) {
    const why = "The changed lines are no longer held, because too many changes wait; look at them in the agent.";
    return [summary(totals), el("p", { class: "change-note" }, why)];
  }
  const files = changes.files.map(file);
  if (changes.omitted_files) files.push(el("p", { class: "change-note" }, `… ${number(changes.omitted_files)} more files`));
  return totals.files > 1 ? [summary(totals), ...files] : files;
}

function file(change) {
  const note = (text) => told("p", text, { class: "change-note" });
  const verb = VERBS[change.kind] ?? "changes";
  const lines = change.diff ?? "";
  return el(
    "div",
    { class: "change" },
    el("p", { class: "change-counts" }, `${verb} `, told("code", change.path), " ", ...counts(change.added, change.removed)),
    ...(change.notes ?? []).map(note),
    change.masked && note("Secrets are hidden: a part of this change is not shown."),
    lines && diff(lines, change.path),
    change.omitted_lines && note(`… ${number(change.omitted_lines)} more lines`),
  );
}

/** A diff in a box that scrolls. */
function diff(text, path) {
  const body = el("tbody");
  let [old, now] = [null, null];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const header = /^@@(?: -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@)?(.*)$/su.exec(line);
    if (header) {
      [old, now] = header[1] === undefined ? [null, null] : [Number(header[1]), Number(header[2])];
      body.append(row("hunk", "", "", "", line));
      continue;
    }
    const mark = line[0];
    const rest = line.slice(1);
    if (mark === "\\") {
      body.append(row("annotation", "", "", "", rest.trim()));
      continue;
    }
    const left = mark === "+" || old === null ? "" : old++;
    const right = mark === "-" || now === null ? "" : now++;
    body.append(row(NAMES[mark] ?? "same", left, right, mark === "-" ? "−" : mark, rest));
  }
  const heads = ["Old line", "New line", "Change", "Text"];
  return el(
    "div",
    {
      class: "diff",
      role: "group",
      tabindex: "0",
      "aria-label": `Change of ${Array.from(path, shown).join("")}`,
      keydown: (event) => {
        if (SCROLLS.includes(event.key)) event.stopPropagation();
      },
    },
    el("table", {}, el("thead", { class: "unseen" }, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))), body),
  );
}

function row(kind, old, now, mark, text) {
  return el(
    "tr",
    { class: kind },
    el("td", { class: "line-number" }, String(old)),
    el("td", { class: "line-number" }, String(now)),
    el("td", { class: "mark" }, mark),
    el("td", { class: "text" }, ...markedText(text, tabMark)),
  );
}

/** Marks an escaped character. A tab stays a tab, with a mark, because code is full of them. */
function tabMark(character) {
  return character === "\t" ? el("span", { class: "tab" }, "\t") : escapeMark(character);
}
