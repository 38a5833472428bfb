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
  Object.defineProperty(globalThis, "HookStopException", {
    value: HookStopException,
    writable: true,
    configurable: true,
  });
  return Object.freeze(HookStopException).isHookStop;
})();
