// in: {"text":"hello world"}
// out: {"n":1}
export default () => ({ out: { get n() { return 1; } } });
