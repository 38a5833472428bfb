// Answers to open questions: buttons, second steps and requests, wherever a question is shown.

import { act, isSignedIn, messageOf } from "./api.js";
import { el, prose, say } from "./dom.js";
import { escape } from "./escape.js";
import { DELAY_MS, delayedAnswer, offerUndo, sending } from "./undo.js";

/** The answers, by key, with the bodies of their requests; a second step builds the body with a note. */
export const ANSWERS = [
  { key: "y", name: "Approve", body: { response: "APPROVED" }, approves: true },
  { key: "s", name: "This session", body: { response: "APPROVED", remember: "session" } },
  { key: "a", name: "Always", body: { response: "APPROVED", remember: "always" } },
  { key: "N", name: "Deny with note", note: true },
  { key: "n", name: "Deny", body: { response: "DENIED" }, denies: true },
];
/** Maximum length of a note in characters; the service has this limit. */
const MAX_NOTE = 1000;
/** Number of characters of a shortened command. */
const SHORT = 60;

/** Ids of the questions that this window has answered, to tell its answers from others. */
const answeredHere = new Set();

/** Returns true if this window has answered a question. */
export function isAnsweredHere(id) {
  return answeredHere.has(id);
}

/** Returns true if a decision is a question that can be answered now. */
export function isOpen(record) {
  return Boolean(record.deadline) && !record.user_response && Date.parse(record.deadline) > Date.now();
}

/** Returns the text for a failed answer. */
export function answerError(error) {
  if (error.status === 401 || error.code === "CSRF_REQUIRED") return "You are no longer signed in.";
  if (error.code === "ALREADY_ANSWERED") return "Already answered elsewhere.";
  return messageOf(error);
}

/**
 * Answers questions one after another, with a delay in which the answers can be undone. Equal questions share a lasting approval: it is given with the
 * first one of each session, or with the first one if it is for all sessions; the others are approved
 * once. Stops if no further answer can succeed. Returns one result per request, with its error.
 */
export async function answerAll(records, body) {
  const results = [];
  const delayed = [];
  const given = new Set();
  for (const record of records) {
    const { remember, confirm_deletion, ...once } = body;
    const scope = remember === "session" ? record.session_id : remember;
    const sent = given.has(scope) ? once : body;
    // The event may arrive before the response.
    answeredHere.add(record.id);
    sending.add(record.id);
    try {
      const answered = await act("POST", "/api/hooks/permission-response", { id: record.id, ...sent, delay_ms: DELAY_MS });
      if (remember) given.add(scope);
      // Without time for a delay, the answer has already taken effect.
      if (answered.answering) delayed.push(answered.answering);
      results.push({ record });
    } catch (error) {
      answeredHere.delete(record.id);
      results.push({ record, error });
      const concernsOne = error.status === 404 || error.status === 409;
      if (error.code !== "ALREADY_ANSWERED" && (remember || !concernsOne)) break;
    }
  }
  offerUndo(delayed, delayed.length === 1 ? shortCommand(records.find((record) => record.id === delayed[0].id)) : `${delayed.length} questions`);
  for (const record of records) sending.delete(record.id);
  return results;
}

/** Returns the beginning of a command, with backticks that mark it as code. */
export function shortCommand(record) {
  const all = Array.from(record.command);
  const text = all.length > SHORT ? `${all.slice(0, SHORT).join("")}…` : record.command;
  return `\`${escape(text).replaceAll("`", "'")}\``;
}

/** Creates a step that replaces the buttons until it is closed; Escape closes it. */
function inlineStep(label, content, close) {
  return el(
    "div",
    {
      class: "step",
      role: "group",
      "aria-label": label,
      keydown(event) {
        if (event.key !== "Escape") return;
        // Closes neither a dialog nor the selection.
        event.preventDefault();
        event.stopPropagation();
        close();
      },
    },
    ...content,
  );
}

/** Creates a step that confirms an action. The focus is on Cancel, so that a second press of a key confirms nothing. */
export function confirmStep(text, name, run, close) {
  const cancel = el("button", { type: "button", click: close }, "Cancel");
  const confirm = el("button", { type: "button", class: "deny", "data-confirm": true, click: run }, name);
  const element = inlineStep(text.replaceAll("`", ""), [prose("p", text), el("div", { class: "step-buttons" }, cancel, confirm)], close);
  return { element, focus: () => cancel.focus() };
}

/** Creates a step with a field for the note of a denial; `run` receives the answer. */
export function noteStep(run, close) {
  const field = el("textarea", { rows: "2", maxlength: String(MAX_NOTE), "aria-label": "Note for the agent", placeholder: "Note for the agent, for example what to do instead" });
  const send = () => {
    const note = field.value.trim();
    run(note ? { response: "DENIED", note } : { response: "DENIED" });
  };
  field.addEventListener("keydown", (event) => {
    // Shift+Enter begins a new line.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  const buttons = el(
    "div",
    { class: "step-buttons" },
    el("button", { type: "button", class: "deny stands-out", "data-confirm": true, click: send }, "Deny"),
    el("button", { type: "button", click: close }, "Cancel"),
    el("span", { class: "hint" }, "The agent receives the note as the reason."),
  );
  return { element: inlineStep("Deny with a note", [field, buttons], close), focus: () => field.focus() };
}

/**
 * Holds the open second step, in the page before `place`. `update` is called after a step was opened or
 * closed; `home` returns the element that gets the focus of a closed step.
 */
export function stepHolder(place, update, home) {
  let step = null;

  function close() {
    if (!step) return;
    const focused = step.element.contains(document.activeElement);
    step.element.remove();
    step = null;
    update();
    if (focused) home().focus();
  }

  function open(made) {
    close();
    step = made;
    place.before(step.element);
    update();
    step.focus();
  }

  return { isOpen: () => step !== null, open, close };
}

/** Class of a button: with a reason for caution, Deny stands out instead of Approve. */
function emphasis(answer, caution) {
  if (answer.approves) return caution ? "" : "primary";
  if (answer.denies) return caution ? "deny stands-out" : "deny";
  return answer.note ? "deny first-deny" : "";
}

/** Says why a question should be read before it is approved; null without a reason. */
export function cautionLine(record) {
  return record.caution ? prose("p", `Check before approving: ${record.caution}.`, { class: "caution" }) : null;
}

/**
 * Creates the answers to equal questions. `open` returns the records that an answer applies to, oldest
 * first, and is not empty when this function is called. `home` returns the element that gets the focus
 * back from a second step.
 */
export function answerPanel(open, home = () => null) {
  const [first] = open();
  const status = el("p", { class: "delayed quiet-text", hidden: true });
  const problem = el("p", { class: "problem", role: "alert" });
  const step = stepHolder(problem, showActions, () => home() ?? buttons.at(-1));
  let busy = false;
  let over = false;
  const buttons = ANSWERS.map((answer) =>
    el(
      "button",
      {
        type: "button",
        class: emphasis(answer, first.caution),
        "data-key": answer.key,
        "aria-keyshortcuts": answer.note ? "Shift+N" : answer.key,
        click: () => choose(answer),
      },
      answer.name,
      el("kbd", { "aria-hidden": "true" }, answer.key),
    ),
  );
  const actions = el("div", { class: "actions" }, ...buttons);
  const listeners = { session: enable, answered: (event) => finish(answerText(event.detail)), delayed: (event) => showDelay(event.detail) };
  const element = el("div", { class: "answers", "data-questions": "", ...listeners }, actions, status, problem);

  /** Returns the questions without a delayed answer. */
  function unanswered() {
    return open().filter((record) => !delayedAnswer(record.id));
  }

  /** Shows the delayed answer instead of the buttons, or the buttons after it was withdrawn. */
  function showDelay({ id, reason } = {}) {
    if (over) return;
    // Withdrawn: the next answer may come from elsewhere.
    if (!delayedAnswer(id)) answeredHere.delete(id);
    const answer = unanswered().length === 0 ? delayedAnswer(open()[0]?.id) : undefined;
    if (answer) {
      step.close();
      if (actions.contains(document.activeElement)) home()?.focus();
      status.textContent = `${answer.response === "APPROVED" ? "Approved" : "Denied"} by ${escape(answer.by)}; takes effect in a moment.`;
    }
    status.hidden = !answer;
    showActions();
    if (reason) problem.textContent = `Not answered: ${escape(reason)}.`;
    enable();
  }

  function enable() {
    for (const button of element.querySelectorAll("button")) button.disabled = !isSignedIn() || busy || over;
  }

  function showActions() {
    actions.hidden = step.isOpen() || !status.hidden;
  }

  /** Begins an answer: sends it, or opens its second step. */
  function choose(answer) {
    if (busy || over || step.isOpen() || !isSignedIn() || unanswered().length === 0) return;
    if (answer.note) {
      step.open(noteStep(send, step.close));
    } else if (answer.body.remember === "always" && first.classification === "DELETE") {
      const run = () => send({ ...answer.body, confirm_deletion: true });
      step.open(confirmStep("Always allow this deletion, in every session, without another question?", "Always allow", run, step.close));
    } else {
      send(answer.body);
    }
  }

  async function send(body) {
    if (busy || over) return;
    step.close();
    busy = true;
    enable();
    problem.textContent = "";
    const results = await answerAll(unanswered(), body);
    // The event stream reports the answers, in this and in every other window.
    const failed = results.filter((result) => result.error);
    const texts = [...new Set(failed.map((result) => answerError(result.error)))];
    problem.textContent = failed.length > 0 && results.length > 1 ? `${failed.length} of ${results.length} not answered: ${texts.join(" ")}` : texts.join(" ");
    busy = false;
    enable();
  }

  /** Shows `content` instead of the buttons, for good. */
  function finish(...content) {
    over = true;
    step.close();
    if (actions.contains(document.activeElement)) home()?.focus();
    status.hidden = true;
    actions.hidden = false;
    actions.replaceChildren(...content);
    problem.textContent = "";
  }

  /** Sets the questions whose events concern these answers. */
  function relabel(records) {
    element.dataset.questions = records.map((record) => record.id).join(" ");
  }

  relabel([first]);
  showDelay();
  return { element, choose, relabel, finish };
}

function answerText(record) {
  const response = record.user_response === "APPROVED" ? "Approved" : record.user_response === "DENIED" ? "Denied" : "Timed out";
  return prose("span", `${response}${record.answered_by ? ` by ${record.answered_by}` : ""}`, { class: "quiet-text" });
}

/** Creates the answers to a question shown on the page of a record; null if it cannot be answered. */
export function recordAnswers(record) {
  if (!isOpen(record)) return null;
  const element = el("div", { class: "answers", "data-questions": String(record.id), session: fill });
  function fill() {
    const hint = () => el("p", { class: "hint" }, "To answer, ", el("a", { href: "/" }, "sign in on the inbox"), ".");
    element.replaceChildren(isSignedIn() ? answerPanel(() => [record]).element : hint());
  }
  fill();
  return element;
}

/**
 * Creates the short answers to a question in a list; null if it cannot be answered. Approves only what
 * the list shows in full, and without a reason for caution; otherwise calls `review`.
 */
export function rowAnswers(record, review) {
  if (!isOpen(record) || !isSignedIn()) return null;
  const hide = () => {
    element.hidden = Boolean(delayedAnswer(record.id));
  };
  const element = el("span", { class: "row-answers", "data-questions": String(record.id), delayed: hide });
  const send = async (body) => {
    for (const button of element.children) button.disabled = true;
    const [{ error }] = await answerAll([record], body);
    for (const button of element.children) button.disabled = false;
    if (!error) return;
    say(answerError(error));
    review();
  };
  const approve = () => {
    const line = element.closest("tr").querySelector(".command");
    const box = line.parentElement;
    if (record.caution || box.scrollWidth > box.clientWidth || line.textContent.length < Array.from(record.command).length) review();
    else send({ response: "APPROVED" });
  };
  element.append(
    el("button", { type: "button", class: "small", click: approve }, record.caution ? "Review" : "Approve", el("span", { class: "unseen" }, ` question ${record.id}`)),
    el("button", { type: "button", class: "small deny", click: () => send({ response: "DENIED" }) }, "Deny", el("span", { class: "unseen" }, ` question ${record.id}`)),
  );
  hide();
  return element;
}
