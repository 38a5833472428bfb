// expects: interrupted fuel
export default function (context) {
  const text = 'a'.repeat(20000);
  for (;;) text.replaceAll('a', 'b');
}
