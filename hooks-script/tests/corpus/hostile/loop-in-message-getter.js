// expects: interrupted fuel
export default function (context) {
  const error = new Error();
  Object.defineProperty(error, 'message', { get() { for (;;) {} } });
  throw error;
}
