// expects: interrupted fuel
export default function (context) {
  const forever = function* () { for (;;) yield; };
  for (const _ of forever()) {}
}
