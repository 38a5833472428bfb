// expects: interrupted fuel
export default function (context) {
  return { get then() { for (;;) {} } };
}
