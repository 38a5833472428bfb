// expects: out
Object.defineProperty(globalThis, 'context', { get: () => 1, set() { throw 1; }, configurable: true });
export default (given) => { if (given !== context) throw 1; return { out: given.in }; };
