// expects: interrupted output
export default function (context) {
  const list = [];
  list[100000] = 1;
  return { out: { list } };
}
