// expects: interrupted fuel
export default function (context) {
  const text = '\u1e9b\u0323'.repeat(5000);
  for (;;) text.normalize('NFKD');
}
