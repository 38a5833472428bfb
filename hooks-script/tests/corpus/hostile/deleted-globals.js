// expects: out
export default function (context) {
  const remove = Reflect.deleteProperty;
  const world = globalThis;
  for (const name of Object.getOwnPropertyNames(world)) remove(world, name);
  return { out: context.in };
}
