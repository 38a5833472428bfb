// expects: interrupted fuel
export default function (context) {
  const digits = '9'.repeat(50000);
  for (;;) Number(digits);
}
