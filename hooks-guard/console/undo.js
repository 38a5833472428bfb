// Answers with a delay: until one takes effect, a bar at the bottom of the page undoes it.

import { act, messageOf } from "./api.js";
import { dispatch, el, prose, say } from "./dom.js";
import { isShortcut } from "./keys.js";

/** Delay of every answer, in milliseconds. */
export const DELAY_MS = 3000;
/** How long the result of an undo stays visible, in milliseconds. */
const RESULT_MS = 4000;
/** How long a line waits for the event that its answers have taken effect, in milliseconds. */
const GRACE_MS = 1500;

/** Ids of questions to which this window is sending answers; their events may arrive before the responses. */
export const sending = new Set();
/** Delayed answers by the id of their question. */
const delayed = new Map();
/** Lines of the bar, oldest first: answers of one action, or those of other windows. */
const lines = [];
const bar = el("section", { class: "undo-bar", "aria-label": "Undo", hidden: true });
document.body.append(bar);

/** Returns the delayed answer to a question; undefined without one. */
export function delayedAnswer(id) {
  return delayed.get(id);
}

/** Adds answers of this window, given together: `answers` are the `answering` of the responses. */
export function offerUndo(answers, what) {
  if (answers.length === 0) return;
  const ids = answers.map((answer) => answer.id);
  for (const answer of answers) add(answer);
  const verb = answers[0].response === "APPROVED" ? "Approved" : "Denied";
  const line = openLine(ids, prose("span", `${verb} ${what}.`));
  say(`${line.text.textContent} Press u to undo.`);
}

/** Handles an event of a delayed answer, from any window. */
export function onDelayedEvent(kind, data) {
  if (kind === "withdrawn") {
    end(data.id, data.by ? null : data.reason);
    return;
  }
  const known = delayed.has(data.id);
  add(data);
  if (known || sending.has(data.id)) return;
  const own = lines.find((line) => line.isForeign && !line.isOver);
  if (!own) {
    openLine([data.id], el("span"), true);
    return;
  }
  own.ids.push(data.id);
  draw();
}

/** Removes a delayed answer that took effect or was withdrawn. */
export function end(id, reason = null) {
  if (!delayed.delete(id) && !reason) return;
  dispatch(id, "delayed", { id, reason });
  draw();
}

function add(answer) {
  const left = Date.parse(answer.effective_at) - Date.now();
  // The clocks of the browser and the service may differ.
  const until = performance.now() + Math.min(Math.max(left, 0), 10_000);
  delayed.set(answer.id, { ...answer, until: Math.min(until, delayed.get(answer.id)?.until ?? Infinity) });
  dispatch(answer.id, "delayed", { id: answer.id });
}

function openLine(ids, text, isForeign = false) {
  const button = el("button", { type: "button", class: "small", "aria-keyshortcuts": "u", click: () => undo(line) }, "Undo");
  const left = el("span", { class: "undo-left", "aria-hidden": "true" });
  button.append(left, el("kbd", { "aria-hidden": "true" }, "u"));
  const line = { ids, text, button, left, isForeign, isOver: false, element: el("p", {}, text, button) };
  lines.push(line);
  bar.append(line.element);
  draw();
  return line;
}

function close(line) {
  line.isOver = true;
  const at = lines.indexOf(line);
  if (at >= 0) lines.splice(at, 1);
  const focused = line.element.contains(document.activeElement);
  line.element.remove();
  bar.hidden = lines.length === 0;
  if (focused) (bar.querySelector("button") ?? document.getElementById("main")).focus();
}

function draw() {
  const now = performance.now();
  for (const [id, answer] of delayed) {
    // The event that it took effect was lost.
    if (now > answer.until + GRACE_MS) {
      delayed.delete(id);
      dispatch(id, "delayed", { id });
    }
  }
  for (const line of [...lines]) {
    if (line.isOver) continue;
    line.ids = line.ids.filter((id) => delayed.has(id));
    if (line.ids.length === 0) {
      close(line);
      continue;
    }
    if (line.isForeign) line.text.textContent = `${line.ids.length === 1 ? `Question ${line.ids[0]}` : `${line.ids.length} questions`} answered in another window.`;
    const until = Math.max(...line.ids.map((id) => delayed.get(id).until));
    line.left.textContent = ` (${Math.max(0, Math.ceil((until - now) / 1000))} s)`;
  }
  bar.hidden = lines.length === 0;
  // Elements outside of an open dialog cannot be clicked.
  const home = document.querySelector("dialog:modal") ?? document.body;
  if (!bar.hidden && bar.parentElement !== home) home.append(bar);
}

/** Withdraws the answers of a line, and shows what became of them. */
async function undo(line) {
  if (line.isOver) return;
  line.isOver = true;
  line.button.disabled = true;
  const ids = [...line.ids];
  let undone = 0;
  const failed = [];
  for (const id of ids) {
    try {
      await act("DELETE", `/api/hooks/permission-response/${id}`);
      undone += 1;
      end(id);
    } catch (error) {
      failed.push(error.code === "ALREADY_ANSWERED" ? `Question ${id} is already answered.` : `Question ${id}: ${messageOf(error)}`);
    }
  }
  const text = [undone > 0 && `Undone; ${undone === 1 ? "the question is" : `${undone} questions are`} open again.`, ...failed].filter(Boolean).join(" ");
  line.text.replaceChildren(prose("span", text));
  line.button.hidden = true;
  say(text);
  setTimeout(() => close(line), RESULT_MS);
}

/** Undoes the newest answers of the bar; returns false if there are none. */
function undoLast() {
  const line = lines.findLast((line) => !line.isOver);
  if (line) undo(line);
  return Boolean(line);
}

setInterval(draw, 250);

addEventListener("keydown", (event) => {
  if (event.key === "u" && isShortcut(event) && undoLast()) event.preventDefault();
});
