// expects: interrupted fuel
export default function (context) {
  throw { toString() { for (;;) {} } };
}
