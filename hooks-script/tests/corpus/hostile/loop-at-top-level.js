// expects: rejected_at_registration load
for (;;) {}
export default () => {};
