// expects: interrupted fuel
export default function (context) {
  return { then() { for (;;) {} } };
}
