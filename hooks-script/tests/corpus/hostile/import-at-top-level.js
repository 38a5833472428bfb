// expects: rejected_at_registration import
const os = await import('os');
export default () => ({ out: { os } });
