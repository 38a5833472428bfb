// Runs after `hook-stop.js` and before any hook. Removes globals that could measure time or share
// memory, and returns the function with which the engine recognizes a stop.
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
  // They would add text that `JSON.stringify` does not write normally.
  delete JSON.rawJSON;
  delete JSON.isRawJSON;
  Object.defineProperty(globalThis, "HookStopException", {
    value: HookStopException,
    writable: true,
    configurable: true,
  });
  return Object.freeze(HookStopException).isHookStop;
})();
