// expects: interrupted stack
export default function (context) {
  let out = {};
  for (let i = 0; i < 20000; i++) out = new Proxy(out, {});
  return { out };
}
