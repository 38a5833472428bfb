// in: {"text":"hello world"}
// out: {"a":null,"b":null,"c":0}
export default () => ({ out: { a: NaN, b: Infinity, c: -0 } });
