// expects: rejected_at_registration load
await new Promise(() => {});
export default () => {};
