// expects: interrupted fuel
export default function (context) {
  for (;;) { try { for (;;) {} } catch {} }
}
