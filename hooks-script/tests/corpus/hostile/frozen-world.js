// expects: out
export default function (context) {
  Object.freeze(globalThis);
  Object.freeze(Object.prototype);
  return { out: context.in };
}
