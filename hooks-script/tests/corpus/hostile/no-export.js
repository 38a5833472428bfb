// expects: rejected_at_registration exports
const hook = () => {};
