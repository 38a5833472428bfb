// expects: out
export default function (context) {
  Object.prototype.toJSON = undefined;
  Array.prototype.push = null;
  Object.prototype.out = { forged: true };
  Promise.prototype.then = () => { throw 1; };
  JSON.stringify = () => '{"out":{"forged":true}}';
  return { out: context.in };
}
