// expects: error thrown TypeError
Object.defineProperty(globalThis, 'context', { value: { in: 'forged' } });
export default () => ({ out: context.in });
