// expects: interrupted fuel
export default function (context) {
  Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1);
}
