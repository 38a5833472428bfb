// expects: rejected_at_registration load
Object.freeze(globalThis);
export default (context) => ({ out: context.in });
