// expects: interrupted fuel
export default function (context) {
  for (;;) 'abc'.repeat(1e6);
}
