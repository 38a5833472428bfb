// expects: interrupted fuel
export default function (context) {
  let n = 3n;
  for (;;) n = (n * n) % (1n << 40000n);
}
