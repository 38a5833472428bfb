// expects: interrupted output
export default function (context) {
  return { out: { text: 'x'.repeat(1 << 19) } };
}
