// Calls the plugin as opencode 1 and opencode 2 do, and prints what it does.
import plugin from "./plugin.mjs";

const hooks = await plugin({ directory: "/srv/p" });
const input = { tool: "bash", sessionID: "s", callID: "c" };
try {
  await hooks["tool.execute.before"](input, { args: { command: "make" } });
  console.log("returned");
} catch (error) {
  console.log(error.message);
}
await hooks["tool.execute.after"](input, { metadata: { exit: 0 } });

let evaluate;
const ctx = { permission: { hook: async (_, callback) => ((evaluate = callback), { dispose() {} }) } };
await plugin.setup(ctx);
const event = { sessionID: "s", agent: "build", action: "shell", resource: "make", effect: "ask" };
await evaluate(event);
console.log(`${event.effect} ${event.message}`);
