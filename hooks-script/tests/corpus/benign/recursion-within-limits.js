// in: {"text":"hello world"}
// out: {"n":5050}
const sum = (n) => (n ? n + sum(n - 1) : 0);
export default () => ({ out: { n: sum(100) } });
