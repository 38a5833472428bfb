// expects: interrupted heap
export default function (context) {
  return { out: { length: new ArrayBuffer(2 ** 30).byteLength } };
}
