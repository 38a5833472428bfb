// expects: out
JSON.stringify = JSON.parse = Object = Promise = null;
Array.prototype.toString = Error.prototype.toString = () => { throw 1; };
export default async (context) => ({ out: context.in });
