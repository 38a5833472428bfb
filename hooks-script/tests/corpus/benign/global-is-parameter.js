// in: {"text":"hello world"}
// out: {"same":true}
export default (given) => ({ out: { same: given === context && given === globalThis.context } });
