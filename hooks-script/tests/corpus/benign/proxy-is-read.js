// in: {"text":"hello world"}
// out: {"a":1}
export default () => ({ out: new Proxy({ a: 1 }, {}) });
