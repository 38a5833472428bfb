// expects: interrupted heap
export default function (context) {
  const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 30 });
  buffer.resize(2 ** 30);
  return { out: {} };
}
