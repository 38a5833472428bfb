// in: {"text":"hello world"}
// out: {}
export default () => ({ out: {}, stop: true, context: 'x' });
