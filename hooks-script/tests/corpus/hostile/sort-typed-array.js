// expects: interrupted fuel
export default function (context) {
  const list = new Float64Array(1e5);
  for (;;) list.fill(0).map((_, i) => -i).sort();
}
