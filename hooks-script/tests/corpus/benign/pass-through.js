// in: {"text":"hello world"}
// out: {"text":"hello world"}
export default (context) => ({ out: context.in });
