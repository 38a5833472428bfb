// in: {"text":"hello world"}
// out: {"kept":null,"list":[null,null]}
export default () => ({ out: { gone: undefined, f() {}, kept: null, list: [undefined, () => {}] } });
