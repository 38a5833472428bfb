// expects: error thrown RangeError
export default function (context) {
  return { out: { n: Math.max(...new Array(70000).fill(1)) } };
}
