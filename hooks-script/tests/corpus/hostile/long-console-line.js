// expects: out
export default function (context) {
  console.error('x'.repeat(1 << 20));
  return { out: context.in };
}
