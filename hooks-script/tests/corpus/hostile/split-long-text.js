// expects: interrupted fuel
export default function (context) {
  const text = 'ab'.repeat(20000);
  for (;;) text.split('a');
}
