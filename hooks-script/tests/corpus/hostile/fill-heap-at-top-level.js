// expects: rejected_at_registration load
const all = [];
for (;;) all.push(new Uint8Array(1 << 16));
export default () => {};
