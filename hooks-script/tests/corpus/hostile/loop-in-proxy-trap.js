// expects: interrupted fuel
export default function (context) {
  return new Proxy({}, { ownKeys() { for (;;) {} } });
}
