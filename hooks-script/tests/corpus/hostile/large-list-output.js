// expects: interrupted output
export default function (context) {
  return { out: { list: new Array(400000).fill(1) } };
}
