// expects: error bad_return
export default function (context) {
  const out = {};
  let end = out;
  for (let i = 0; i < 200; i++) end = end.next = {};
  return { out };
}
