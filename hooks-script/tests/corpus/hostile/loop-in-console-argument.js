// expects: interrupted fuel
export default function (context) {
  console.log({ toJSON() { for (;;) {} } });
}
