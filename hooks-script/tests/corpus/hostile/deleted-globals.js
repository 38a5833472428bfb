// expects: out
export default function (context) {
  for (const name of Object.getOwnPropertyNames(globalThis)) delete globalThis[name];
  return { out: context.in };
}
