// Calls hooks-guard before and after @TITLE@ uses a tool. `hooks-guard install @NAME@` writes this file, and
// `hooks-guard install @NAME@ --uninstall` removes it.
import { spawn } from "node:child_process";

const BINARY = "@BINARY@";
const ARGUMENTS = "@ARGUMENTS@";
const LIMIT = "@LIMIT@";

// Returns the reply of the binary. An invalid reply is a denial.
const ask = "@ASK@";

// opencode 1: a tool that must not run is stopped by throwing.
const guard = async ({ directory } = {}) => {
  const given = new Map();
  return {
    "tool.execute.before": async (input, output) => {
      given.set(input.callID, output.args);
      if (given.size > 1000) given.delete(given.keys().next().value);
      const { tool, sessionID, callID } = input;
      const question = { hook: "tool.execute.before", directory, input: { tool, sessionID, callID }, output: { args: output.args } };
      const answer = await ask(question);
      if (answer.returns !== null || "throws" in answer) {
        throw new Error(answer.throws ?? "hooks-guard: its answer cannot be read");
      }
    },
    "tool.execute.after": async (input, output) => {
      const { tool, sessionID, callID } = input;
      const args = input.args ?? given.get(callID);
      given.delete(callID);
      const exit = output?.metadata?.exit;
      await ask({ hook: "tool.execute.after", directory, input: { tool, sessionID, callID, args }, output: { metadata: { exit } } });
    },
  };
};

// opencode 2: the effect of a permission is decided.
const setup = async (ctx) => {
  const handle = await ctx.permission.hook("evaluate", async (event) => {
    const { sessionID, agent, action, resource, effect } = event;
    const answer = await ask({ hook: "permission.evaluate", directory: ctx.directory, sessionID, agent, action, resource, effect });
    if ("effect" in answer) {
      event.effect = ["allow", "ask"].includes(answer.effect) ? answer.effect : "deny";
      if (answer.message !== undefined) event.message = answer.message;
    } else if ("throws" in answer) {
      event.effect = "deny";
      event.message = answer.throws;
    }
  });
  return () => handle.dispose();
};

export default Object.assign(guard, { id: "hooks-guard", setup });
