// expects: interrupted heap
export default function (context) {
  const all = [];
  for (;;) { const big = new Uint32Array(500); all.push(() => big); }
}
