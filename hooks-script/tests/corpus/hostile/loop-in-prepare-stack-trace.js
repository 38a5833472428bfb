// expects: interrupted fuel
export default function (context) {
  Error.prepareStackTrace = () => { for (;;) {} };
  new Error().stack;
}
