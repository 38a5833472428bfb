// expects: interrupted fuel
export default function (context) {
  throw { get constructor() { for (;;) {} } };
}
