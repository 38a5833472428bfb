// expects: interrupted stack
export default function (context) {
  const proxy = new Proxy({}, { get(target, key, self) { return self[key]; } });
  return proxy.x;
}
