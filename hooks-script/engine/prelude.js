// What runs after `hook-stop.js`, before any hook: takes away what would tell time or share
// memory, and answers with the function by which the engine knows a stop.
(() => {
  for (const name of [
    "eval",
    "Atomics",
    "SharedArrayBuffer",
    "WeakRef",
    "FinalizationRegistry",
    "performance",
    "gc",
  ]) {
    delete globalThis[name];
  }
  // What they write is no text that `JSON.stringify` writes by itself.
  delete JSON.rawJSON;
  delete JSON.isRawJSON;
  Object.defineProperty(globalThis, "HookStopException", {
    value: HookStopException,
    writable: true,
    configurable: true,
  });
  return Object.freeze(HookStopException).isHookStop;
})();
