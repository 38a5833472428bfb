// expects: error thrown Error
export default function (context) {
  throw new Error('x'.repeat(1 << 20));
}
