// expects: interrupted heap
export default function (context) {
  const all = [];
  for (;;) all.push(new Promise(() => {}), new Uint8Array(200));
}
