// in: {"text":"hello world"}
// out: {"map":{},"set":{},"list":{"0":1}}
export default () => ({ out: { map: new Map([[1, 2]]), set: new Set([1]), list: new Uint8Array([1]) } });
