// expects: interrupted fuel
export default function (context) {
  const text = 'ä'.repeat(50000);
  for (;;) encodeURIComponent(text);
}
