// expects: rejected_at_registration exports
export const helper = 1;
export default () => {};
