// expects: rejected_at_registration exports
export default function* () {}
