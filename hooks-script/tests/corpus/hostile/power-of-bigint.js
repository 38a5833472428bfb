// expects: interrupted fuel
export default function (context) {
  for (;;) 3n ** 20000n;
}
