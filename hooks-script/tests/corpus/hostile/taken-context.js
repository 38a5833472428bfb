// expects: rejected_at_registration load
Object.defineProperty(globalThis, 'context', { value: { in: 'forged' } });
export default () => ({ out: context.in });
