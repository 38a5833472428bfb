// expects: interrupted fuel
export default function (context) {
  const it = { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }), return() { for (;;) {} } }) };
  for (const x of it) break;
}
