// expects: interrupted fuel
export default function (context) {
  return { get out() { for (;;) {} } };
}
