// in: {"text":"hello world"}
// out: {"list":[null]}
export default () => ({ out: { [Symbol('k')]: 1, s: Symbol('v'), list: [Symbol('v')] } });
