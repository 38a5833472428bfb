// in: {"text":"hello world"}
// out: {"text":"hello world"}
// console: ["log: a 1 {\"b\":[2]}","warn: TypeError: odd"]
export default (context) => {
  console.log('a', 1, { b: [2] });
  console.warn(new TypeError('odd'));
  return { out: context.in };
};
