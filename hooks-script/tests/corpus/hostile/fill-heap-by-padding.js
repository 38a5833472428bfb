// expects: interrupted heap
export default function (context) {
  return { out: { text: 'x'.padEnd(2 ** 29) } };
}
