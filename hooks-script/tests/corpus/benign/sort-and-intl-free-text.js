// in: {"text":"hello world"}
// out: {"sorted":["a","b","ä"]}
export default () => ({ out: { sorted: ['ä', 'b', 'a'].sort() } });
