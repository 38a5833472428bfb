// Calls the extension as Pi does, and prints what it does: with a dialog that answers yes, with one that answers no,
// and without one. At last, an extension that runs later changes the input.
import extension from "./extension-of-guard.mjs";

const handlers = {};
extension({ on: (name, handler) => (handlers[name] = handler) });
const shown = [];
const context = (hasUI, answer) => ({
  cwd: "/srv/p",
  hasUI,
  mode: hasUI ? "tui" : "print",
  sessionManager: { getSessionId: () => "s" },
  ui: { confirm: async (title, message) => (shown.push(`${title} ${message}`), answer) },
});
const call = () => ({ type: "tool_call", toolName: "bash", toolCallId: "c", input: { command: "make", env: { A: "1" } } });
const done = async (ctx) => {
  const result = await handlers.tool_call(call(), ctx);
  console.log(result === undefined ? "runs" : `${result.block} ${result.reason}`);
};
await done(context(true, true));
await done(context(true, false));
await done(context(false, true));
console.log(shown.join("|"));

const event = call();
await handlers.tool_call(event, context(true, true));
for (const change of [() => (event.input.command = "rm"), () => (event.input.env.A = "2"), () => (event.input.cwd = "/")]) {
  try {
    change();
    console.log("changed");
  } catch {
    console.log("frozen");
  }
}
const ran = { ...call(), type: "tool_result", content: [{ type: "text", text: "secret" }], isError: false };
console.log((await handlers.tool_result({ ...ran, structuredContent: { exit_code: 0, output: "secret" } }, context(false))) ?? "unchanged");
