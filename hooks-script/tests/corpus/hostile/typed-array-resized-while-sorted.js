// expects: out
export default function (context) {
  const list = new Uint8Array(new ArrayBuffer(64, { maxByteLength: 64 }));
  try { list.sort((a, b) => { list.buffer.resize(0); return a - b; }); } catch {}
  return { out: context.in };
}
