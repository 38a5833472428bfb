// expects: out
export default function (context) {
  const names = ['eval', 'require', 'process', 'Deno', 'Bun', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Worker', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'performance', 'setTimeout', 'std', 'os', 'WebAssembly'];
  const found = names.filter((name) => name in globalThis);
  if (found.length) throw new Error('found ' + found);
  return { out: context.in };
}
