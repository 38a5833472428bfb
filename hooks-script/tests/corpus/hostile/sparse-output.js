// expects: interrupted output
export default function (context) {
  const list = [];
  list[300000] = 1;
  return { out: { list } };
}
