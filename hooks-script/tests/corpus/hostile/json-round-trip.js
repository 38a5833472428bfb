// expects: interrupted fuel
export default function (context) {
  const list = Array(2000).fill({ a: [1, 'b'] });
  for (;;) JSON.parse(JSON.stringify(list));
}
