// expects: out
export default function (context) {
  const a = {};
  a.a = a;
  console.log(a, 1n, Symbol.iterator, undefined);
  return { out: context.in };
}
