// in: {"text":"hello world"}
// out: {"n":1}
let n = 0;
export default () => ({ out: { n: ++n } });
