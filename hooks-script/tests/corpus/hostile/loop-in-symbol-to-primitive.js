// expects: interrupted fuel
export default function (context) {
  return { out: `${{ [Symbol.toPrimitive]() { for (;;) {} } }}` };
}
