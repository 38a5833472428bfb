// expects: error bad_return
export default function (context) {
  const buffer = new ArrayBuffer(8);
  const view = new Uint8Array(buffer);
  buffer.transfer();
  return { view: view.length };
}
