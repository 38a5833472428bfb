// expects: error thrown TypeError
Object.freeze(globalThis);
export default (context) => ({ out: context.in });
