// in: {"text":"hello world"}
// out: {"a":"none","b":2,"c":"1267650600228229401496703205376","d":[1,2]}
export default ({ in: message }) => ({
  out: { a: message.missing?.deep ?? 'none', b: Object.fromEntries([['b', 2]]).b, c: (2n ** 100n).toString(), d: [1, [2]].flat() },
});
