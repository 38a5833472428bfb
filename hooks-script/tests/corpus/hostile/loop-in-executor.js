// expects: interrupted fuel
export default function (context) {
  return new Promise(() => { for (;;) {} });
}
