// in: {"__proto__":{"x":1}}
// out: {"own":true,"x":"undefined"}
export default ({ in: message }) => ({ out: { own: Object.hasOwn(message, '__proto__'), x: typeof message.x } });
