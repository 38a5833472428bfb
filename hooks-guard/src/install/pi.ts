// Calls hooks-guard before and after Pi uses a tool. `hooks-guard install pi` writes this file, and
// `hooks-guard install pi --uninstall` removes it.
import { spawn } from "node:child_process";

const BINARY = "@BINARY@";
const ARGUMENTS = "@ARGUMENTS@";
const LIMIT = "@LIMIT@";

// Returns the reply of the binary. Without a valid reply, the tool is blocked.
const ask = "@ASK@";

// Prevents that an extension which runs later changes what was judged: its change throws, and Pi blocks the tool.
const freeze = (value) => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
};

// Calls of a script run at the same time; the user answers one dialog after another.
let dialogs = Promise.resolve();
const confirm = (ctx, why, toolName) => {
  const answered = dialogs.then(() => ctx.ui.confirm(`hooks-guard: allow ${toolName}?`, why));
  dialogs = answered.catch(() => {});
  return answered;
};

export default function (pi) {
  const session = (ctx) => ({
    cwd: ctx.cwd,
    hasUI: ctx.hasUI === true,
    mode: ctx.mode,
    sessionId: ctx.sessionManager?.getSessionId?.(),
  });

  pi.on("tool_call", async (event, ctx) => {
    const { type, toolName, toolCallId, parentToolCallId, input } = event;
    freeze(input);
    const question = { event: { type, toolName, toolCallId, parentToolCallId, input }, ctx: session(ctx) };
    const answer = await ask(question);
    if (answer.block === false) return undefined;
    if (answer.block === undefined && typeof answer.confirm === "string" && ctx.hasUI === true) {
      if ((await confirm(ctx, answer.confirm, toolName)) === true) return undefined;
      const reason = "the user refused";
      await ask({ ...question, event: { ...question.event, type: "tool_refused" }, reason });
      return { block: true, reason: `${answer.confirm}; ${reason}` };
    }
    const reason = typeof answer.reason === "string" ? answer.reason : "hooks-guard: its answer cannot be read";
    return { block: true, reason };
  });

  pi.on("tool_result", async (event, ctx) => {
    const { type, toolName, toolCallId, parentToolCallId, input, isError } = event;
    const status = event.structuredContent?.exit_code;
    const structuredContent = typeof status === "number" ? { exit_code: status } : undefined;
    const ran = { type, toolName, toolCallId, parentToolCallId, input, structuredContent, isError };
    await ask({ event: ran, ctx: session(ctx) });
  });
}
