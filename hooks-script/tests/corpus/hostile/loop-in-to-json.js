// expects: interrupted fuel
export default function (context) {
  return { out: { toJSON() { for (;;) {} } } };
}
