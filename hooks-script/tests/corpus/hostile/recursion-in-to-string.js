// expects: interrupted stack
export default function (context) {
  const object = { toString() { return `${this}`; } };
  return `${object}`;
}
