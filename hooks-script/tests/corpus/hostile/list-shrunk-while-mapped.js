// expects: out
export default function (context) {
  const list = Array.from({ length: 1000 }, (_, i) => i);
  list.sort((a, b) => { list.length = 0; return a - b; });
  return { out: context.in };
}
