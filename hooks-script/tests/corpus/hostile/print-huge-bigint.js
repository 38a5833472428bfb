// expects: interrupted fuel
export default function (context) {
  return { out: { text: (2n ** 1000000n).toString() } };
}
