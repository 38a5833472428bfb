// expects: interrupted fuel
export default function (context) {
  [3, 2, 1].sort(() => { for (;;) {} });
}
