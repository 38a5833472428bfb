// expects: out
export default function (context) {
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    try { globalThis[name] = undefined; } catch {}
  }
  return { out: context.in };
}
