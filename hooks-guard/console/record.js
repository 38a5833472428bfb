// One decision: its outcome and all of its fields.

import { cautionLine, recordAnswers } from "./answers.js";
import { approvalState } from "./approval.js";
import { badge, command } from "./command.js";
import { changesOf } from "./diff.js";
import { el, prose, told, words } from "./dom.js";
import { ruleButton } from "./rule.js";
import { percent, took, whenExactly } from "./time.js";

/** What to do while the trail is empty; backticks mark code. */
export const UNUSED = "No agent has asked yet. To connect one, run `hooks-guard install claude-code` (or another agent), and then `hooks-guard doctor`.";

/** Outcome in a word. */
export function outcome(record) {
  const [name, text] = known(record);
  return el("span", { class: "outcome", "data-outcome": name }, text);
}

function known(record) {
  if (record.ran_command) return ["denied", "another command ran"];
  if (record.denied) return ["denied", "denied by a rule"];
  if (record.user_response === "APPROVED") return ["approved", "approved"];
  if (record.user_response === "DENIED") return ["denied", "denied"];
  if (record.user_response === "TIMEOUT") return ["timeout", "timed out"];
  if (!record.decision_requires_confirmation) return ["allowed", "allowed"];
  if (!record.deadline) return ["waiting", "left to the agent's prompt"];
  return Date.parse(record.deadline) > Date.now() ? ["waiting", "pending"] : ["timeout", "timed out"];
}

/** Confidence and method of the classification. */
export function confidence(record) {
  return `${percent(record.confidence)} confidence (${words(record.classification_method)})`;
}

/** All fields of a decision. */
export function details(record) {
  const row = (name, value) => [el("dt", {}, name), value instanceof Node ? el("dd", {}, value) : told("dd", value)];
  const time = (iso) => (iso ? whenExactly(iso) : undefined);
  return el(
    "div",
    { class: "record" },
    el("p", { class: "line" }, badge(record.classification), " ", outcome(record), " ", el("span", { class: "quiet-text" }, confidence(record))),
    el("div", { class: "box" }, command(record)),
    changesOf(record),
    prose("p", record.reasoning, { class: "reasoning" }),
    record.explanation && prose("p", record.explanation, { class: "explanation" }),
    record.ran_command &&
      el(
        "div",
        { class: "other-command", role: "alert" },
        prose("p", "Another command ran than the decided one; nothing decided about it. Another hook, a plugin or the agent changed it; `hooks-guard doctor` lists other hooks."),
        told("pre", record.ran_command),
      ),
    cautionLine(record),
    record.always && prose("p", record.always, { class: "always quiet-text" }),
    recordAnswers(record),
    el(
      "dl",
      {},
      row("Asked", whenExactly(record.timestamp)),
      row("Agent", record.agent),
      row("Session", record.session_id),
      row("Directory", record.cwd),
      row("Context", record.context),
      row("Rule", record.rule),
      row("Answered", time(record.answered_at)),
      row("By", record.answered_by),
      row("Note", record.answer_note),
      row("Approval", approvalState(record)),
      row("Deadline", time(record.deadline)),
      row("Ran", time(record.executed_at)),
      row("Exit status", record.exit_status === null ? undefined : String(record.exit_status)),
      row("Duration", took(record.response_time_us)),
      row("Call", record.call_id),
      row("Error", record.error),
    ),
    record.decision_requires_confirmation && el("p", {}, ruleButton(() => record.id)),
  );
}
