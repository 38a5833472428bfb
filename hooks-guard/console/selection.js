// Several questions at once: selected cards, and the bar that answers them.

import { answerAll, answerError, confirmStep, noteStep, shortCommand, stepHolder } from "./answers.js";
import { isSignedIn } from "./api.js";
import { el, prose, say } from "./dom.js";
import { delayedAnswer } from "./undo.js";

/** Creates the bar for the selected ones of `cards`, which returns the shown cards in order. */
export function selection(cards) {
  const chosen = new Set();
  /** Card from which a range begins. */
  let anchor = null;
  let busy = false;
  const summary = el("p", { class: "selection-summary", role: "status" });
  const warning = el("p", { class: "caution" });
  const results = el("div", { class: "selection-results", role: "status" });
  const approve = el("button", { type: "button", "data-batch": "approve", click: approveAll }, "Approve once");
  const deny = el("button", { type: "button", class: "deny", "data-batch": "deny", click: () => send({ response: "DENIED" }) }, "Deny");
  const note = el("button", { type: "button", class: "deny", "data-batch": "note", click: denyWithNote }, "Deny with note");
  const session = el("button", { type: "button", class: "quiet", "data-batch": "session", click: () => selectAlike("session_id") }, "All of this session");
  const agent = el("button", { type: "button", class: "quiet", "data-batch": "agent", click: () => selectAlike("agent") }, "All of this agent");
  const clear = el("button", { type: "button", class: "quiet", "data-batch": "clear", click: reset }, "Clear");
  const buttons = el("div", { class: "selection-buttons" }, approve, deny, note, session, agent, clear);
  const element = el("section", { class: "selection", "aria-label": "Selected questions", hidden: true, keydown: escapeKey }, summary, warning, buttons, results);

  const step = stepHolder(results, update, () => clear);

  /** Returns the selected cards that are shown and open. */
  function selected() {
    return cards().filter((card) => chosen.has(card) && !card.over);
  }

  function update() {
    for (const card of chosen) if (card.over || !card.element.isConnected || card.element.hidden) drop(card);
    const all = selected();
    const records = all.flatMap((card) => card.records());
    for (const card of cards()) card.element.classList.toggle("selected", chosen.has(card));
    element.hidden = all.length === 0 && results.childElementCount === 0;
    summary.hidden = buttons.hidden = all.length === 0 || step.isOpen();
    const text = `${count(records)} selected`;
    // Screen readers would repeat an equal text.
    if (summary.textContent !== text) summary.textContent = text;
    const careful = records.filter((record) => record.caution);
    const reasons = [...Map.groupBy(careful, reasonOf)].map(([reason, some]) => `${some.length} × ${reason}`);
    warning.hidden = careful.length === 0;
    if (!warning.hidden) warning.replaceChildren(...prose("span", `Contains ${reasons.join(", ")}.`).childNodes);
    approve.className = careful.length > 0 ? "" : "primary";
    deny.className = careful.length > 0 ? "deny stands-out" : "deny";
    const first = (anchor && chosen.has(anchor) ? anchor : all[0])?.records()[0];
    session.hidden = !first?.session_id;
    agent.hidden = !first?.agent;
    for (const button of element.querySelectorAll("button")) button.disabled = !isSignedIn() || busy;
    clear.disabled = busy;
  }

  function reasonOf(record) {
    return record.classification === "DELETE" ? "DELETE" : `“${record.caution}”`;
  }

  function drop(card) {
    chosen.delete(card);
    card.box.checked = false;
    if (anchor === card) anchor = null;
  }

  /** Selects a card or the range from the last one, or unselects a card. */
  function toggle(card, isRange) {
    results.replaceChildren();
    const all = cards().filter((one) => !one.over);
    const [from, to] = [all.indexOf(anchor), all.indexOf(card)];
    if (isRange && from >= 0 && to >= 0) {
      for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) put(one, true);
    } else {
      put(card, !chosen.has(card));
      anchor = card;
    }
    update();
  }

  function put(card, isSelected) {
    if (isSelected) chosen.add(card);
    else chosen.delete(card);
    card.box.checked = isSelected;
  }

  function selectAlike(field) {
    const example = (anchor && chosen.has(anchor) ? anchor : selected()[0])?.records()[0];
    if (!example) return;
    const agentIsEqual = (record) => record.agent === example.agent;
    // Sessions of different agents may have equal names.
    const isAlike = (record) => agentIsEqual(record) && (field === "agent" || record.session_id === example.session_id);
    // A card with a question of another session is not selected, because it is answered as a whole.
    for (const card of cards()) if (!card.over && card.records().every(isAlike)) put(card, true);
    update();
    say(summary.textContent);
  }

  function reset() {
    step.close();
    const back = cards().find((card) => chosen.has(card)) ?? cards()[0];
    for (const card of [...chosen]) drop(card);
    results.replaceChildren();
    const focused = element.contains(document.activeElement);
    update();
    if (focused) back?.element.focus();
  }

  function escapeKey(event) {
    if (event.key === "Escape") reset();
  }

  function approveAll() {
    const records = selected().flatMap((card) => card.records());
    const deletes = records.filter((record) => record.classification === "DELETE").length;
    const careful = records.filter((record) => record.caution).length;
    if (careful === 0) {
      send({ response: "APPROVED" });
      return;
    }
    const what = deletes > 0 ? `${deletes} of them ${deletes === 1 ? "deletes" : "delete"}` : `${careful} of them to be checked first`;
    step.open(confirmStep(`Approve ${count(records)}, ${what}?`, `Approve ${count(records)}`, () => send({ response: "APPROVED" }), step.close));
  }

  function denyWithNote() {
    step.open(noteStep(send, step.close));
  }

  async function send(body) {
    if (busy || !isSignedIn()) return;
    busy = true;
    step.close();
    results.replaceChildren();
    const records = selected().flatMap((card) => card.answerable()).filter((record) => !delayedAnswer(record.id));
    update();
    const found = await answerAll(records, body);
    const failed = found.filter((one) => one.error);
    const skipped = records.length - found.length;
    const verb = body.response === "APPROVED" ? "approved" : "denied";
    const lines = [`${count(found.filter((one) => !one.error).map((one) => one.record))} ${verb}`];
    if (failed.length > 0) lines.push(`${failed.length} not answered`);
    if (skipped > 0) lines.push(`${skipped} not sent`);
    const conflict = ({ record, error }) =>
      el("li", {}, `Question ${record.id} (`, prose("span", shortCommand(record)), "): ", prose("span", answerError(error)));
    results.replaceChildren(
      el("p", {}, `${lines.join(", ")}.`),
      el("ul", { hidden: failed.length === 0 }, ...failed.map(conflict)),
      el("button", { type: "button", class: "small", click: reset }, "Close"),
    );
    busy = false;
    for (const { record } of found) for (const card of [...chosen]) if (card.has(record.id)) drop(card);
    update();
  }

  return {
    element,
    toggle,
    update,
    reset,
    isEmpty: () => selected().length === 0,
    focus() {
      if (!element.hidden) [approve, clear].find((button) => !button.disabled)?.focus();
    },
  };
}

function count(records) {
  return records.length === 1 ? "1 question" : `${records.length} questions`;
}
