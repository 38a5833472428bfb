// in: {"text":"hello world"}
// out: {"ready":true}
const ready = await Promise.resolve(true);
export default () => ({ out: { ready } });
