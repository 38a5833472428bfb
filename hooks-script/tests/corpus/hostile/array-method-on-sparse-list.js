// expects: interrupted fuel
export default function (context) {
  const list = [];
  list.length = 2 ** 32 - 1;
  list.forEach(() => {});
}
