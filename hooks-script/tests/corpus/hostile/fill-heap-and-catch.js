// expects: interrupted heap
export default function (context) {
  const all = [];
  try { for (;;) all.push(new Uint8Array(1 << 16)); } catch { all.length = 0; }
  return { out: { survived: true } };
}
