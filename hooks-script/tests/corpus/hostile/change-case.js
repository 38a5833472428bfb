// expects: interrupted fuel
export default function (context) {
  const text = '\u0130'.repeat(50000);
  for (;;) text.toLowerCase();
}
