// expects: interrupted fuel
export default function (context) {
  try { return { out: context.in }; } finally { for (;;) {} }
}
