// expects: interrupted fuel
export default function (context) {
  const n = 1n << 200000n;
  for (;;) n.toString();
}
