// expects: interrupted fuel
export default function (context) {
  let list = [1, 2, 3];
  for (;;) list = [...list, ...list];
}
