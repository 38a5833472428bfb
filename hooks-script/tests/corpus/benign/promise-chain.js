// in: {"text":"hello world"}
// out: {"n":6}
export default () => Promise.all([1, 2, 3]).then((all) => ({ out: { n: all.reduce((a, b) => a + b) } }));
