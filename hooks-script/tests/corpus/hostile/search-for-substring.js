// expects: interrupted fuel
export default function (context) {
  const text = 'a'.repeat(1 << 20);
  for (;;) (text + 'b').indexOf('a'.repeat(5e5) + 'c');
}
